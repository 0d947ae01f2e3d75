/** Pieces of bodies whose buffers are given away before they left: by `postMessage`, by growing memory. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Handler } from "../../../http/mod.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";
import { printed } from "../../../support/console.ts";

const SIZE = 1 << 20;

function piece(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(SIZE).fill(65);
}

function giveAway(bytes: Uint8Array<ArrayBuffer>): void {
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  assertEquals(bytes.length, 0);
}

const GIVING: readonly [name: string, handler: Handler][] = [
  ["a whole body", (stream) => {
    const bytes = piece();
    stream.respond(200);
    stream.closeWrite(bytes);
    giveAway(bytes);
  }],
  ["a body of announced length", (stream) => {
    const bytes = piece();
    stream.respond(200, { "content-length": SIZE });
    stream.closeWrite(bytes);
    giveAway(bytes);
  }],
  ["a piece nobody waits for", (stream) => {
    const bytes = piece();
    stream.respond(200);
    stream.write(bytes);
    giveAway(bytes);
    stream.closeWrite("rest");
  }],
  ["a piece in resizable memory", (stream) => {
    const memory = new ArrayBuffer(SIZE, { maxByteLength: SIZE });
    const bytes = new Uint8Array(memory);
    stream.respond(200);
    stream.closeWrite(bytes);
    memory.resize(100);
  }],
];

for (const transport of TRANSPORTS) {
  for (const [name, handler] of GIVING) {
    Deno.test(`${name} that is given away breaks off its response only (${transport.name})`, async () => {
      await using p = await pair(
        transport,
        (stream) => stream.path === "/fine" ? new Response("fine") : handler(stream),
      );
      const lines = await printed(async () => {
        await assertRejects(() => p.client.get(`${p.url}/`, {}, { retry: 0 }));
      });
      assert(lines[0]?.includes("give a copy"), lines.join("\n"));
      assertEquals((await p.client.get(`${p.url}/fine`)).body, "fine");
    });
  }

  Deno.test(`an upload that is given away breaks off its request only (${transport.name})`, async () => {
    await using p = await pair(transport, async (stream) => {
      const { length } = await stream.readBytes();
      return new Response(`${length}`);
    });
    const bytes = piece();
    const request = p.client.post(`${p.url}/`, {}, bytes, { retry: 0 });
    giveAway(bytes);
    await assertRejects(() => request);
    assertEquals((await p.client.post(`${p.url}/`, {}, piece())).body, `${SIZE}`);
  });
}
