import { assert, assertEquals, assertRejects } from "@std/assert";
import { type BodyEvents, IncomingBody } from "../../../http/h1/incoming_body.ts";
import { Input } from "../../../http/h1/input.ts";
import { BodyTooLargeError, TimeoutError } from "../../../http/message/error.ts";
import { MessageError } from "../../../http/message/message_error.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import { Deadline } from "../../../http/time/deadline.ts";
import { FakeClock, settle } from "../../../support/fake_clock.ts";
import { Random } from "../../../support/random.ts";
import { bytes, text } from "./support.ts";

type Limits = ConstructorParameters<typeof IncomingBody>[3];

/** What an exchange was told. */
class Told implements BodyEvents {
  waits = 0;
  ends = 0;
  faults: unknown[] = [];
  onBodyWait(): void {
    this.waits++;
  }
  onBodyEnd(): void {
    this.ends++;
  }
  onBodyFault(error: unknown): Error {
    this.faults.push(error);
    return error as Error;
  }
}

/** A body, of which `here` has come with the head, and the peer that sends the rest. */
function open(
  framing: number | "chunked" | "eof",
  here = "",
  limits: Limits = { bodyTimeout: 0 },
): { body: IncomingBody; input: Input; peer: Socket; told: Told; clock: FakeClock } {
  const clock = new FakeClock();
  const [socket, peer] = memorySocketPair();
  const input = new Input(socket, clock, bytes(here));
  const deadline = new Deadline(
    clock.time,
    (phase, ms) => body.fail(new TimeoutError(phase, ms)),
  );
  const body: IncomingBody = new IncomingBody(input, framing, deadline, limits);
  return { body, input, peer, told: new Told(), clock };
}

/** Random text, framed. */
function randomBody(random: Random, framing: "length" | "chunked" | "eof"): [string, string] {
  let plain = "";
  let wire = "";
  for (let i = random.below(12); i > 0; i--) {
    const part = String.fromCharCode(65 + random.below(26)).repeat(
      random.pick([1, 1, 2, 300, 9000, 70_000]),
    );
    plain += part;
    wire += framing === "chunked" ? `${part.length.toString(16)}\r\n${part}\r\n` : part;
  }
  return [plain, framing === "chunked" ? `${wire}0\r\nx-sum: 7\r\n\r\n` : wire];
}

Deno.test("IncomingBody gives what was sent, whatever its framing, its cuts and its reader", async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = new Random(seed);
    const framing = random.pick(["length", "chunked", "eof"] as const);
    const [plain, wire] = randomBody(random, framing);
    const here = random.below(wire.length + 1);
    const { body, input, peer, told } = open(
      framing === "length" ? plain.length : framing,
      wire.slice(0, here),
    );
    const sending = (async () => {
      for (let at = here; at < wire.length;) {
        const n = random.pick([1, 17, 4096, 40_000, 200_000]);
        await peer.write(bytes(wire.slice(at, at + n)));
        at += n;
        if (random.below(2) === 0) await settle({ rounds: 1, turns: 1, restMs: 0 });
      }
      if (framing === "eof") await peer.closeWrite();
      else await peer.write(bytes("NEXT"));
    })();
    let got = "";
    if (framing === "length" && plain.length > 0 && random.below(2) === 0) {
      if (random.below(2) === 0) got += text((await body.read(told))!);
      if (!body.done) got += text(await body.readWhole(told));
    } else {
      for (let piece = await body.read(told); piece !== null; piece = await body.read(told)) {
        got += text(piece);
      }
    }
    assert(got === plain, `seed ${seed}`);
    assert(body.done && told.ends > 0, `seed ${seed}`);
    assertEquals(told.faults, []);
    assertEquals(body.trailers, framing === "chunked" ? ["x-sum", "7"] : []);
    await sending;
    if (framing === "eof") continue;
    while (input.end - input.start < 4) await input.fill();
    assertEquals(text(input.buf.subarray(input.start, input.end)), "NEXT", `seed ${seed}`);
  }
});

Deno.test("IncomingBody tells its exchange of the end before the last piece is taken", async () => {
  const { body, told } = open(5, "hello");
  assertEquals([body.done, body.remaining, told.ends], [false, 5, 0]);
  const reading = body.read(told);
  assertEquals([body.done, told.ends], [true, 1]);
  assertEquals(text((await reading)!), "hello");
});

Deno.test("IncomingBody asks its exchange before it waits, not before what is here", async () => {
  const { body, peer, told } = open(10, "hello");
  await body.read(told);
  assertEquals(told.waits, 0);
  const reading = body.read(told);
  assertEquals(told.waits, 1);
  await peer.write(bytes("world"));
  assertEquals(text((await reading)!), "world");
});

Deno.test("IncomingBody refuses a second read while one is under way, and keeps the first", async () => {
  const { body, peer, told } = open(5);
  const first = body.read(told);
  await assertRejects(() => body.read(told), TypeError, "a read is under way");
  await assertRejects(() => body.readWhole(told), TypeError, "a read is under way");
  assertEquals(body.takeText(10), null);
  await peer.write(bytes("hello"));
  assertEquals(text((await first)!), "hello");
  assertEquals(told.faults, []);
});

Deno.test("IncomingBody.idle() resolves for all who wait when the read has ended", async () => {
  const { body, peer, told } = open(5);
  await body.idle();
  const order: string[] = [];
  const first = body.read(told).then(() => order.push("read"));
  const waits = [1, 2, 3].map((i) => body.idle().then(() => order.push(`idle ${i}`)));
  await settle();
  assertEquals(order, []);
  await peer.write(bytes("hello"));
  await Promise.all([first, ...waits]);
  assertEquals(order.toSorted(), ["idle 1", "idle 2", "idle 3", "read"]);
});

for (const whole of [false, true]) {
  const read = (body: IncomingBody, told: Told) => whole ? body.readWhole(told) : body.read(told);
  const name = whole ? "readWhole()" : "read()";

  Deno.test(`IncomingBody.${name} rejects when the peer ends before the body does`, async () => {
    const { body, peer, told } = open(50_000);
    await peer.closeWrite();
    const error = await assertRejects(() => read(body, told), MessageError, "in the middle");
    assertEquals(told.faults, [error]);
  });

  Deno.test(`IncomingBody.${name} waits no longer than bodyTimeout`, async () => {
    const { body, told, clock } = open(50_000, "", { bodyTimeout: 1000 });
    const rejected = assertRejects(() => read(body, told), TimeoutError, "bodyTimeout");
    const took = await clock.until(rejected);
    assert(took >= 1000 && took <= 1010, `${took} ms`);
  });

  Deno.test(`IncomingBody.${name} gives what fail() was called with`, async () => {
    const { body, told } = open(50_000);
    const reading = assertRejects(() => read(body, told), Error, "given up");
    body.fail(new Error("given up"));
    await reading;
    assert(!body.reading);
    body.fail(new Error("nobody waits: nothing happens"));
  });

  Deno.test(`IncomingBody.${name} rejects when less than minBodyRate comes on average`, async () => {
    const { body, peer, told, clock } = open(1_000_000, "", {
      bodyTimeout: 10_000,
      minBodyRate: 100,
    });
    const dripping = (async () => {
      for (let i = 0; i < 30; i++) {
        await clock.sleep(1000);
        await peer.write(bytes("0123456789"));
      }
    })();
    const reading = assertRejects(
      async () => {
        while (await read(body, told) !== null);
      },
      TimeoutError,
      "minBodyRate",
    );
    const took = await clock.until(reading);
    assert(took >= 5000 && took <= 7000, `${took} ms`);
    await clock.until(dripping);
  });

  Deno.test(`IncomingBody.${name} bears a pause of a peer that keeps minBodyRate`, async () => {
    const { body, peer, told, clock } = open(20, "", { bodyTimeout: 10_000, minBodyRate: 10 });
    const sending = (async () => {
      await clock.sleep(4000);
      await peer.write(bytes("0123456789"));
      await clock.sleep(1000);
      await peer.write(bytes("0123456789"));
    })();
    let got = 0;
    const reading = (async () => {
      for (;;) {
        const piece = await read(body, told);
        got += piece?.length ?? 0;
        if (whole || piece === null) return;
      }
    })();
    await clock.until(Promise.all([sending, reading]));
    assertEquals([got, told.faults], [20, []]);
  });
}

Deno.test("IncomingBody ends a chunked body that passes maxBodyBytes", async () => {
  const { body, told } = open("chunked", "4\r\nabcd\r\n4\r\nefgh\r\n0\r\n\r\n", {
    bodyTimeout: 0,
    maxBodyBytes: 7,
  });
  await assertRejects(
    async () => {
      while (await body.read(told) !== null);
    },
    BodyTooLargeError,
  );
  assertEquals(told.faults.length, 1);
});

Deno.test("IncomingBody.takeText() takes short ASCII that is here, and nothing else", () => {
  const cases: [
    framing: number | "chunked" | "eof",
    here: string,
    most: number,
    text: string | null,
  ][] = [
    [5, "helloNEXT", 5, "hello"],
    [0, "NEXT", 5, ""],
    [5, "hell", 5, null],
    [5, "hello", 4, null],
    [5, "h\xe9llo", 5, null],
    ["chunked", "0\r\n\r\n", 5, null],
    ["eof", "hello", 5, null],
  ];
  for (const [framing, here, most, wanted] of cases) {
    const { body, input } = open(framing, here);
    assertEquals(body.takeText(most), wanted, here);
    assertEquals(input.end - input.start, here.length - (wanted?.length ?? 0));
    if (wanted !== null) assert(body.done);
  }
});
