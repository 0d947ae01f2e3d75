import { assert, assertEquals } from "@std/assert";
import { EventEmitter } from "node:events";
import type { Socket as NodeSocket } from "node:net";
import { nodeSocket } from "../../../http/net/node_socket.ts";

/** As much of a platform's socket as is used while it only brings data. */
class Source extends EventEmitter {
  readonly destroyed = false;
  setNoDelay(): void {}
  pause(): void {}
  resume(): void {}
}

Deno.test("records of one byte that nobody read are read together, and in order", async () => {
  const source = new Source();
  const socket = nodeSocket(source as unknown as NodeSocket);
  const count = 60_000;
  for (let i = 0; i < count; i++) source.emit("data", Uint8Array.of(i % 251));
  let at = 0;
  let reads = 0;
  for (const size of [1, 7, 100, 1000]) {
    // Reads end inside what was kept, wherever that is.
    const into = new Uint8Array(size);
    const n = await socket.read(into) ?? 0;
    for (const octet of into.subarray(0, n)) assertEquals(octet, at++ % 251);
  }
  const into = new Uint8Array(64 << 10);
  while (at < count) {
    const n = await socket.read(into) ?? 0;
    reads++;
    for (const octet of into.subarray(0, n)) if (octet !== at++ % 251) throw new Error(`at ${at}`);
  }
  assert(reads < 50, `${reads} reads`);
  // A read that waits gets what comes next, and a rest of it stays.
  const waiting = socket.read(new Uint8Array(2));
  source.emit("data", Uint8Array.of(1, 2, 3));
  source.emit("data", Uint8Array.of(4));
  assertEquals(await waiting, 2);
  assertEquals([await socket.read(into), into[0]], [1, 3]);
  assertEquals([await socket.read(into), into[0]], [1, 4]);
});
