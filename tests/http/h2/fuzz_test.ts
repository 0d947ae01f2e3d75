import { assert, assertEquals } from "@std/assert";
import { ErrorCode, PREFACE } from "../../../http/h2/mod.ts";
import { Harness } from "../../../support/h2_peer.ts";
import { Random } from "../../../support/random.ts";
import {
  concat,
  data,
  EMPTY,
  frame,
  goAway,
  headers,
  ping,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../../../support/frames.ts";

const ROUNDS = Number(Deno.env.get("FUZZ_ROUNDS") ?? 3000);

/** Frames as a peer sends them, mostly well formed. */
function conversation(random: Random, role: "client" | "server"): Uint8Array[] {
  const head = role === "server" ? REQUEST : RESPONSE;
  const frames: Uint8Array[] = role === "server" ? [PREFACE] : [];
  frames.push(settings([random.below(8), random.below(70_000)]), settingsAck());
  for (let i = random.below(24); i > 0; i--) {
    const id = random.below(8) + (random.next() < 0.9 ? 1 : 0);
    const end = random.next() < 0.3;
    frames.push(
      random.pick([
        () => headers(id | 1, head, { end, endHeaders: random.next() < 0.9 }),
        () => headers(id, random.next() < 0.5 ? ["grpc-status", "0"] : head, { end }),
        () => data(id, new Uint8Array(random.below(random.pick([10, 2000, 16_384]))), end),
        () => rstStream(id, random.below(16)),
        () => windowUpdate(id, random.pick([0, 1, 1000, 0x7fff_ffff])),
        () => windowUpdate(0, random.below(100_000)),
        () => settings([random.below(8), random.pick([0, 1, 65_535, 0xffff_ffff])]),
        () => ping(random.next() < 0.5),
        () => goAway(random.below(8), random.below(16)),
        () => frame(random.below(12), random.below(256), id, new Uint8Array(random.below(40))),
        () => frame(9, 4, id, EMPTY),
      ])(),
    );
  }
  return frames;
}

function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  const out = bytes.slice();
  for (let i = random.below(4); i > 0; i--) out[random.below(out.length)] = random.below(256);
  return random.next() < 0.1 ? out.subarray(0, random.below(out.length)) : out;
}

/** Feeds bytes cut at random places, as a socket would, acting on streams in between. */
function feed(peer: Harness, bytes: Uint8Array, random: Random): void {
  let rest: Uint8Array = EMPTY;
  for (let at = 0; at < bytes.length;) {
    const size = random.next() < 0.3 ? 1 : 1 + random.below(bytes.length - at);
    rest = concat(rest, bytes.subarray(at, at + size));
    at += size;
    rest = rest.slice(peer.connection.receive(rest, 0, rest.length));
    if (peer.streams.length > 0 && random.next() < 0.3) act(peer, random);
    peer.sent(true);
  }
}

function act(peer: Harness, random: Random): void {
  const stream = random.pick(peer.streams);
  random.pick([
    () => stream.sendHeaders(RESPONSE, random.next() < 0.3),
    () => stream.sendData(new Uint8Array(random.below(100_000)), random.next() < 0.3),
    () => stream.end(),
    () => stream.reset(ErrorCode.CANCEL),
    () => stream.consumed(random.below(1000)),
    () => stream.handlerStarted(),
    () => stream.handlerEnded(),
  ])();
}

for (const role of ["server", "client"] as const) {
  Deno.test(`receive() as ${role} neither throws nor loses count on ${ROUNDS} random conversations`, () => {
    let fatal = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      const random = new Random(seed);
      const peer = new Harness(role, {}, false);
      const bytes = concat(...conversation(random, role));
      if (role === "client") {
        for (let i = 0; i < 3; i++) peer.connection.open(peer.stream(), REQUEST, i === 0);
      }
      feed(peer, random.next() < 0.7 ? mutate(random, bytes) : bytes, random);
      if (peer.fatal !== null) {
        fatal++;
        // A fault of the peer, never of ours.
        assert(!peer.fatal.includes("INTERNAL_ERROR"), `seed ${seed}: ${peer.fatal}`);
      }
      peer.connection.connectionLost(new Error("over"));
      checkEvents(peer.log, seed);
      assertEquals(peer.connection.streams.size, 0, `seed ${seed}`);
      assertEquals(peer.connection.sender.queued, 0, `seed ${seed}`);
    }
    // Both outcomes must occur, else the test tests nothing.
    assert(fatal > ROUNDS / 10 && fatal < ROUNDS, `${fatal} of ${ROUNDS} ended the connection`);
  });
}

/** Every stream's events end with at most one of `end` and `reset`, and begin with headers. */
function checkEvents(log: readonly string[], seed: number): void {
  const over = new Map<string, string>();
  for (const line of log) {
    const [event, id] = line.split(" ") as [string, string];
    if (event === "goaway") continue;
    const before = over.get(id);
    // A peer may end its side well and reset the stream before this side has answered.
    if (before !== undefined && !(before === "end" && event === "reset")) {
      throw new Error(`seed ${seed}: ${event} of stream ${id} after its ${before}`);
    }
    if (event === "end" || event === "reset") over.set(id, event);
  }
}

Deno.test("receive() gives the same events wherever the input is split in two", () => {
  const bytes = concat(
    PREFACE,
    settings(),
    settingsAck(),
    headers(1),
    data(1, "hello"),
    headers(3, REQUEST, { end: true }),
    data(1, "", true),
    ping(),
  );
  const events = (split: number): string[] => {
    const peer = new Harness("server", {}, false);
    const first = bytes.slice(0, split);
    const used = peer.connection.receive(first, 0, first.length);
    peer.receive(bytes.slice(used));
    return [...peer.log, ...peer.sent()];
  };
  const whole = events(bytes.length);
  for (let split = 0; split < bytes.length; split++) assertEquals(events(split), whole);
});
