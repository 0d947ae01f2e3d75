/** One HTTP/1.1 server connection in memory, spoken to with raw text. */
import { type Handler, runHandler } from "../../../http/server/handler.ts";
import { ServerSession } from "../../../http/server/h1_session.ts";
import { type ServerLimits, serverLimits } from "../../../http/server/limits.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

/** Latin-1 text as bytes. */
export function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

/** Bytes as Latin-1 text. */
export function text(octets: Uint8Array): string {
  let out = "";
  for (const octet of octets) out += String.fromCharCode(octet);
  return out;
}

/** What the server did. */
export interface Outcome {
  /** Everything it sent. */
  readonly answer: string;
  /** Statuses of its answers in order. */
  readonly statuses: number[];
  /** Whether it closed the connection. */
  readonly closed: boolean;
}

/** Reads until the peer ends, or nothing comes for `quiet` milliseconds by the clock. */
export async function readAll(
  { client, clock }: { client: Socket; clock: FakeClock },
  quiet = 0,
): Promise<[string, boolean]> {
  let out = "";
  const buffer = new Uint8Array(65536);
  for (;;) {
    const reading = client.read(buffer).catch(() => null);
    if (!await clock.within(quiet, reading)) return [out, false];
    const n = await reading;
    if (n === null) return [out, true];
    out += text(buffer.subarray(0, n));
  }
}

/** A connection served by `handler`. */
export function connect(
  handler: Handler,
  limits: ServerLimits = {},
  clock: FakeClock = new FakeClock(),
): { client: Socket; session: ServerSession; done: Promise<void>; clock: FakeClock } {
  const [client, server] = memorySocketPair();
  const session = new ServerSession(server, {
    limits: serverLimits(limits),
    time: clock.time,
    handle: (stream) => runHandler(handler, stream, undefined),
  });
  return { client, session, done: session.run(), clock };
}

/** Sends `parts`, then reads what comes back. */
export async function converse(
  handler: Handler,
  parts: readonly string[],
  options: { limits?: ServerLimits; end?: boolean; quiet?: number; clock?: FakeClock } = {},
): Promise<Outcome> {
  const connection = connect(handler, options.limits, options.clock);
  const { client, session, done } = connection;
  for (const part of parts) {
    await client.write(bytes(part)).catch(() => {});
    if (parts.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (options.end) await client.closeWrite();
  const [answer, closed] = await readAll(connection, options.quiet ?? 40);
  client.close();
  session.destroy();
  await done;
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  return { answer, statuses, closed };
}
