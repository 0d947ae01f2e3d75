import { assert, assertEquals, assertRejects } from "@std/assert";
import { Input } from "../../../http/h1/input.ts";
import { ConnectionLostError } from "../../../http/message/error.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { Random } from "../../../support/random.ts";
import { bytes, text } from "./support.ts";

/** Takes all that is unread. */
function take(input: Input): string {
  const taken = text(input.buf.subarray(input.start, input.end));
  input.start = input.end;
  return taken;
}

Deno.test("Input begins with what was read before it", async () => {
  const [socket, peer] = memorySocketPair();
  const head = "x".repeat(10_000);
  const input = new Input(socket, new FakeClock(), bytes(head));
  assertEquals([input.empty, input.total], [false, 10_000]);
  await peer.write(bytes("more"));
  assert(await input.fill());
  assertEquals(take(input), head + "more");
  assertEquals([input.empty, input.total], [true, 10_004]);
});

Deno.test("Input.fill() called twice is one read", async () => {
  const [socket, peer] = memorySocketPair();
  const input = new Input(socket, new FakeClock());
  const first = input.fill();
  assert(input.reading);
  assertEquals(input.fill(), first);
  await peer.write(bytes("abc"));
  assertEquals(await first, true);
  assertEquals([input.reading, take(input)], [false, "abc"]);
});

Deno.test("Input.fill() resolves to false at the end, and what came before stays", async () => {
  const [socket, peer] = memorySocketPair();
  const input = new Input(socket, new FakeClock());
  await peer.write(bytes("last"));
  await peer.closeWrite();
  assertEquals([await input.fill(), await input.fill(), input.ended], [true, false, true]);
  assertEquals(take(input), "last");
});

Deno.test("Input says why nothing can be read, the same for all who wait", async () => {
  const [socket] = memorySocketPair();
  const input = new Input(socket, new FakeClock());
  socket.close();
  const error = await assertRejects(() => input.fill(), ConnectionLostError, "while reading");
  assertEquals([input.error, input.ended], [error, true]);
  assertEquals(await assertRejects(() => input.readInto(new Uint8Array(1))), error);
});

Deno.test("Input tells when bytes came last, by the clock", async () => {
  const clock = new FakeClock();
  const [socket, peer] = memorySocketPair();
  const input = new Input(socket, clock);
  const begun = input.now;
  const filling = input.fill();
  await clock.advance(500);
  assertEquals(input.now, begun);
  await peer.write(bytes("a"));
  await filling;
  assertEquals(input.now, begun + 500);
});

Deno.test("Input grows while reads fill it, and shrinks when it is empty", async () => {
  const [socket, peer] = memorySocketPair();
  const input = new Input(socket, new FakeClock());
  const small = input.buf.length;
  await peer.write(new Uint8Array(4 << 20));
  while (input.total < 2 << 20) {
    await input.fill();
    input.start = input.end;
  }
  assertEquals(input.buf.length, 128 << 10);
  await input.fill();
  input.shrink();
  assertEquals(input.buf.length, 128 << 10, "unread bytes stay where they are");
  input.start = input.end;
  input.shrink();
  assertEquals(input.buf.length, small);
});

Deno.test("Input gives the bytes as they came, however they are written, filled and taken", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const [socket, peer] = memorySocketPair();
    const input = new Input(socket, new FakeClock());
    let sent = "";
    let got = "";
    while (sent.length < 50_000) {
      const part = String.fromCharCode(65 + random.below(26)).repeat(
        random.pick([1, 7, 4096, 4097, 9000]),
      );
      sent += part;
      await peer.write(bytes(part));
      if (random.below(3) === 0) await input.fill();
      if (random.below(3) === 0 && input.empty && got.length < sent.length) {
        const into = new Uint8Array(1 + random.below(5000));
        got += text(into.subarray(0, await input.readInto(into)));
      }
      const n = random.below(input.end - input.start + 1);
      got += text(input.buf.subarray(input.start, input.start + n));
      input.start += n;
      if (random.below(5) === 0) input.shrink();
    }
    await peer.closeWrite();
    while (await input.fill()) got += take(input);
    got += take(input);
    assert(got === sent, `seed ${seed}`);
    assertEquals(input.total, sent.length);
  }
});
