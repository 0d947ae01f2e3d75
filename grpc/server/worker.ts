/**
 * Program of the workers of `grpc.serve`, which starts it: for `deno compile --include` and caches.
 *
 * @module
 */
import { obey } from "../../http/engine.ts";
import { listen } from "./server.ts";

obey(listen);
