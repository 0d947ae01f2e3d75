// deno-lint-ignore-file no-console explicit-module-boundary-types
// The part of a benchmark client that does not depend on the library: it reads one JSON command a
// line, runs it, and prints one JSON result a line.
//
//   {"mode": "unary", "concurrency": 16, "seconds": 1}   → {count, seconds, p50Micros, p99Micros}
//   {"mode": "serverStream", "messages": 100000}        → {count, seconds}
//   {"mode": "bidi", "window": 100, "messages": 50000}   → {count, seconds}
//   {"mode": "upload" | "download", "size", "concurrency", "seconds"} → {count, seconds}
import { createInterface } from "node:readline";
import process from "node:process";

const TEXT = "12345678"; // an Item of 10 octets

/** Calls `once` from `concurrency` loops for some seconds. */
async function repeat(once, { concurrency, seconds }) {
  const times = [];
  let count = 0;
  const started = performance.now();
  const end = started + seconds * 1000;
  const loop = async () => {
    for (let before = performance.now(); before < end;) {
      await once();
      const now = performance.now();
      // Every call's time would cost more memory traffic than the call: a sample is enough.
      if ((count++ & 15) === 0) times.push(now - before);
      before = now;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const elapsed = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const micros = (q) => Math.round(times[Math.floor(q * (times.length - 1))] * 1000);
  return { count, seconds: elapsed, p50Micros: micros(0.5), p99Micros: micros(0.99) };
}

async function timed(count, work) {
  const started = performance.now();
  await work();
  return { count, seconds: (performance.now() - started) / 1000 };
}

/**
 * Serves commands with a client: {unary(item), serverStream(item), bidi(text, window, messages),
 * idle(kind, count)}.
 */
export async function serveCommands(client) {
  const commands = {
    unary: (command) => repeat(() => client.unary({ text: TEXT }), command),
    upload: (command) => {
      const body = new Uint8Array(command.size);
      return repeat(() => client.unary({ text: TEXT, body }), command);
    },
    download: (command) => repeat(() => client.unary({ text: TEXT, count: command.size }), command),
    serverStream: ({ messages }) =>
      timed(messages, () => client.serverStream({ text: TEXT, count: messages })),
    bidi: ({ window, messages }) => timed(messages, () => client.bidi(TEXT, window, messages)),
    idle: async ({ kind, count }) => {
      await client.idle(kind, count);
      return { count };
    },
  };
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    try {
      console.log(JSON.stringify(await commands[command.mode](command)));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error?.stack ?? error) }));
    }
  }
  process.exit(0);
}
