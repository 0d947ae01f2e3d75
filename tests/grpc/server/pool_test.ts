/** gRPC on every core. */
import { assert, assertEquals } from "@std/assert";
import { grpc, protoc } from "@sluice/sluice";
import { type Need, peerTest } from "../../../support/peers.ts";
import { PROTO } from "./modules/greeter.ts";

const LINUX: Need = [
  "Linux",
  Deno.build.os === "linux" ? "linux" : undefined,
  "other systems do not spread connections over listeners",
];

peerTest("calls reach every worker, also while they are replaced", { needs: [LINUX] }, async () => {
  await using pool = await grpc.serve(import.meta.resolve("./modules/greeter.ts"), {
    addr: "127.0.0.1:0",
    workers: 2,
    // The test runner checks their types first.
    startTimeout: 300_000,
  });
  const proto = new protoc.Loader().load(PROTO, "workers.proto");
  const said = new Set<string>();
  for (let i = 0; said.size < 2; i++) {
    assert(i < 500, `got ${[...said]}`);
    await using conn = grpc.newClient({ targets: [pool.addr] });
    const { message } = await grpc.newService(conn, proto, "Greeter").SayHello({ name: "a" });
    said.add(message);
  }
  assertEquals([...said].sort(), ["Hello a from 0", "Hello a from 1"]);

  await using conn = grpc.newClient({ targets: [pool.addr] });
  const greeter = grpc.newService(conn, proto, "Greeter");
  let over = false;
  let calls = 0;
  const load = Array.from({ length: 5 }, async () => {
    for (; !over; calls++) await greeter.SayHello({ name: "b" }, { waitForReady: true });
  });
  await pool.reload();
  over = true;
  await Promise.all(load);
  assert(calls > 0);
});
