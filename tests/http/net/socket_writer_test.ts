import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { ConnectionLostError, TimeoutError } from "../../../http/message/error.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import {
  OUTPUT_HIGH_WATER,
  SocketWriter,
  type WriteLimits,
} from "../../../http/net/socket_writer.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { Random } from "../../../support/random.ts";

const PATIENT: WriteLimits = { writeTimeout: 60_000, minWriteRate: 1024 };

/** A socket that takes what the test says, when the test says so. */
class ScriptedSocket {
  readonly taken: number[] = [];
  asked = 0;
  #resolve: ((n: number) => void) | null = null;
  #reject: ((error: unknown) => void) | null = null;
  #length = 0;

  write(bytes: Uint8Array): Promise<number> {
    assertEquals(this.#resolve, null, "two writes at once");
    this.asked++;
    this.#length = bytes.length;
    return new Promise((resolve, reject) => {
      this.#resolve = (n) => {
        this.taken.push(...bytes.subarray(0, n));
        resolve(n);
      };
      this.#reject = reject;
    });
  }

  /** Takes `n` bytes of what it was given, or all of it. */
  async take(n = this.#length): Promise<void> {
    const resolve = this.#resolve!;
    this.#resolve = null;
    resolve(Math.min(n, this.#length));
    // The writer hears of it in a microtask.
    await Promise.resolve();
    await Promise.resolve();
  }

  async fail(error: unknown): Promise<void> {
    this.#reject!(error);
    await Promise.resolve();
    await Promise.resolve();
  }
}

function writer(limits = PATIENT): {
  socket: ScriptedSocket;
  writer: SocketWriter;
  errors: Error[];
} {
  const socket = new ScriptedSocket();
  const errors: Error[] = [];
  const made = new SocketWriter(socket as unknown as Socket, limits, {
    onWriteError: (error) => errors.push(error),
  }, new FakeClock().time);
  return { socket, writer: made, errors };
}

/** Resolves with the error that ended the writer. */
function ended(limits: WriteLimits, socket: Socket): {
  writer: SocketWriter;
  error: Promise<Error>;
  clock: FakeClock;
} {
  const clock = new FakeClock();
  let onWriteError!: (error: Error) => void;
  const error = new Promise<Error>((resolve) => onWriteError = resolve);
  return {
    writer: new SocketWriter(socket, limits, { onWriteError }, clock.time),
    error,
    clock,
  };
}

Deno.test("SocketWriter writes everything in order by one write at a time, however little is taken", async () => {
  const random = new Random(3);
  const { socket, writer: out } = writer();
  const sent: number[] = [];
  for (let step = 0; step < 400; step++) {
    const size = random.below(6) === 0 ? 5000 + random.below(20_000) : random.below(200);
    const piece = Uint8Array.from({ length: size }, () => random.below(256));
    sent.push(...piece);
    out.out.append(piece);
    out.flush();
    if (out.busy && random.below(2) === 0) await socket.take(1 + random.below(8000));
    assertEquals(out.pending, sent.length - socket.taken.length);
  }
  while (out.busy) await socket.take(1 + random.below(30_000));
  assertEquals(socket.taken.length, sent.length);
  assert(socket.taken.every((byte, i) => byte === sent[i]));
  assertEquals(out.moved, sent.length);
  out.stop();
});

Deno.test("SocketWriter.room() is one mark: undefined at it, a promise above, resolved back at it", async () => {
  const { socket, writer: out } = writer();
  out.out.append(new Uint8Array(OUTPUT_HIGH_WATER));
  out.flush();
  assertEquals(out.room(), undefined);
  out.out.append(new Uint8Array(1));
  const room = out.room();
  assert(room !== undefined);
  assertStrictEquals(out.room(), room, "all who wait share one promise");
  let resolved = false;
  room.then(() => resolved = true);
  await Promise.resolve();
  assertEquals(resolved, false);
  await socket.take(1);
  assertEquals(resolved, true);
  assertEquals(out.room(), undefined);
  out.stop();
});

Deno.test("SocketWriter.flushed() waits for the last byte", async () => {
  const { socket, writer: out } = writer();
  await out.flushed();
  out.out.appendLatin1("abc");
  const flushed = out.flushed();
  let resolved = false;
  flushed.then(() => resolved = true);
  out.flush();
  await socket.take(2);
  assertEquals(resolved, false);
  await socket.take(1);
  assertEquals(resolved, true);
  out.stop();
});

Deno.test("SocketWriter rejects who waits when the socket fails, and tells its owner once", async () => {
  const { socket, writer: out, errors } = writer();
  out.out.append(new Uint8Array(OUTPUT_HIGH_WATER + 1));
  out.flush();
  const room = out.room()!;
  const flushed = out.flushed();
  await socket.fail(new Error("cable cut"));
  const message = "Connection was lost while writing: cable cut";
  await assertRejects(() => room, ConnectionLostError, message);
  await assertRejects(() => flushed, ConnectionLostError, message);
  await assertRejects(() => out.flushed(), ConnectionLostError, message);
  assertEquals(errors.length, 1);
  out.out.appendLatin1("more");
  out.flush();
  assertEquals(socket.asked, 1, "nothing is written after the failure");
});

Deno.test("SocketWriter.stop() rejects who waits and tells nobody", async () => {
  const { writer: out, errors } = writer();
  out.out.append(new Uint8Array(10));
  out.flush();
  const flushed = out.flushed();
  out.stop();
  await assertRejects(() => flushed, ConnectionLostError, "closed by this side");
  assertEquals(errors, []);
});

Deno.test("SocketWriter ends with writeTimeout when the peer takes nothing", async () => {
  const { writer: out, error, clock } = ended(
    { writeTimeout: 40_000, minWriteRate: 0 },
    new ScriptedSocket() as unknown as Socket,
  );
  out.out.appendLatin1("x");
  out.flush();
  const took = await clock.until(error);
  assert(took >= 40_000 && took < 40_010, `${took} ms`);
  const timeout = await error;
  assertInstanceOf(timeout, TimeoutError);
  assertEquals(timeout.phase, "writeTimeout");
});

Deno.test("SocketWriter ends with minWriteRate when the peer takes a byte now and then", async () => {
  const socket = new ScriptedSocket();
  const { writer: out, error, clock } = ended(
    { writeTimeout: 20_000, minWriteRate: 1000 },
    socket as unknown as Socket,
  );
  out.out.append(new Uint8Array(1 << 20));
  out.flush();
  const begun = clock.now();
  for (let failed = false; !failed;) {
    await socket.take(1);
    failed = await clock.within(1000, error);
  }
  assert(clock.now() - begun < 21_000);
  const timeout = await error;
  assertInstanceOf(timeout, TimeoutError);
  assertEquals(timeout.phase, "minWriteRate");
});

Deno.test("SocketWriter keeps a slow peer that is above the rate far beyond writeTimeout", async () => {
  const socket = new ScriptedSocket();
  const { writer: out, error, clock } = ended(
    { writeTimeout: 20_000, minWriteRate: 1 },
    socket as unknown as Socket,
  );
  out.out.append(new Uint8Array(1 << 20));
  out.flush();
  for (let seconds = 0; seconds < 200; seconds++) {
    await socket.take(1);
    assertEquals(await clock.within(1000, error), false);
  }
  out.stop();
});

Deno.test("SocketWriter moves a megabyte through a socket in memory", async () => {
  const [near, far] = memorySocketPair();
  const { writer: out } = ended(PATIENT, near);
  for (let i = 0; i < 256; i++) {
    out.out.append(new Uint8Array(4096).fill(i));
    out.flush();
    await out.room();
  }
  await out.flushed();
  await near.closeWrite();
  const buf = new Uint8Array(64 << 10);
  let total = 0;
  for (let n = await far.read(buf); n !== null; n = await far.read(buf)) {
    for (let i = 0; i < n; i++) assertEquals(buf[i], (total + i) >> 12 & 255);
    total += n;
  }
  assertEquals(total, 1 << 20);
  out.stop();
});
