import { assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../grpc/client/conn.ts";
import { listenAt } from "../../grpc/server/server.ts";
import { FakeClock, OVER_SOCKETS } from "../../support/fake_clock.ts";
import { GREETER } from "../../support/greeter.ts";

const LONG_MS = 30_000;

Deno.test("deadlines of calls go by the clocks that client and server are given", async () => {
  const [ours, theirs] = [new FakeClock(OVER_SOCKETS), new FakeClock(OVER_SOCKETS)];
  const arrived = Promise.withResolvers<void>();
  const told = Promise.withResolvers<unknown>();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (_request, context) => {
      context.signal.addEventListener("abort", () => told.resolve(context.signal.reason));
      arrived.resolve();
      return new Promise(() => {});
    },
  });
  const server = listenAt(theirs.time, { addr: "127.0.0.1:0", registrar });
  const conn = newClientAt(ours.time, { targets: [server.addr] });
  const call = grpc.newService(conn, GREETER).SayHello({}, LONG_MS);
  await arrived.promise;
  const took = await theirs.until(told.promise);
  assertEquals([took >= LONG_MS, took <= LONG_MS + 8], [true, true]);
  const error = await assertRejects(() => call, ConnectError);
  assertEquals(error.code, Code.DeadlineExceeded);
  await conn.close();
  await server.close();
});

Deno.test("a client gives its calls up by its own clock", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const conn = newClientAt(clock.time, { targets: ["127.0.0.1:1"] });
  const call = grpc.newService(conn, GREETER).SayHello({}, {
    timeout: LONG_MS,
    waitForReady: true,
  });
  const took = await clock.until(call.catch(() => {}));
  const error = await assertRejects(() => call, ConnectError);
  assertEquals([error.code, took >= LONG_MS, took <= LONG_MS + 8], [
    Code.DeadlineExceeded,
    true,
    true,
  ]);
  await conn.close();
});
