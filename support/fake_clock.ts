/**
 * The clock of tests, which is that of `grpc.inProcess`.
 *
 * @module
 */
export { FakeClock, OVER_SOCKETS, settle, type Settling } from "../http/time/fake_clock.ts";
