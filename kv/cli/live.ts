/**
 * Views that fill the terminal and follow what they show.
 *
 * @module
 */
import { after, systemClock } from "../clock.ts";
import type { KeyValue } from "../key_value.ts";
import type { KeySelector } from "../types.ts";
import { UsageError } from "./arguments.ts";
import { type Cli, textOf } from "./command_table.ts";
import { table } from "./format.ts";

/** Milliseconds between two pictures, at least: nobody reads faster. */
const FRAME_MS = 100;

/** Keys a view holds; a terminal shows fewer. */
const MAX_KEYS = 10_000;

const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H\x1b[2J";

/** Shows pictures on the whole terminal until `run` ends. */
export async function onScreen(
  { world }: Cli,
  run: (draw: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  if (world.terminal() === undefined) {
    throw new UsageError("--live needs a terminal: standard output is none");
  }
  await world.print(ENTER);
  try {
    await run((text) => {
      const { columns, rows } = world.terminal() ?? { columns: 80, rows: 24 };
      const lines = text.split("\n").slice(0, rows - 1).map((line) => line.slice(0, columns));
      return world.print(HOME + lines.join("\r\n"));
    });
  } finally {
    await world.print(LEAVE);
  }
}

/** A picture of keys: those that changed last come first. */
function keysPicture(
  cli: Pick<Cli, "hex">,
  kvs: Iterable<KeyValue>,
  changes: number,
  revision: bigint,
): string {
  const last = [...kvs].sort((a, b) => a.modRevision < b.modRevision ? 1 : -1);
  const rows = last.slice(0, 500).map((kv) => [
    printable(textOf(cli, kv.keyBytes), 40),
    printable(textOf(cli, kv.valueBytes), 60),
    String(kv.modRevision),
    String(kv.version),
    kv.lease === 0n ? "" : kv.lease.toString(16),
  ]);
  const head = `${last.length} keys, ${changes} changes, revision ${revision}\n`;
  return head + table(["KEY", "VALUE", "REVISION", "VERSION", "LEASE"], rows);
}

/** Follows keys on the terminal. */
export async function liveKeys(cli: Cli, selector: KeySelector): Promise<void> {
  const { client, world, timeout } = cli;
  const { header, kvs } = await client.get({ ...selector, limit: MAX_KEYS }, timeout);
  const now = new Map(kvs.map((kv) => [kv.key, kv]));
  let { revision } = header;
  const request = { ...selector, revision: revision + 1n };
  const watch = await client.watch(request, { signal: world.interrupted });
  let changes = 0;
  await onScreen(cli, async (draw) => {
    let drawnAt = 0;
    let disarm: (() => void) | undefined;
    const picture = () => {
      disarm = undefined;
      drawnAt = systemClock.now();
      return draw(keysPicture(cli, now.values(), changes, revision));
    };
    await picture();
    for await (const response of watch) {
      for (const { type, kv } of response.events) {
        changes++;
        if (type === "DELETE") now.delete(kv.key);
        else if (now.size < MAX_KEYS || now.has(kv.key)) now.set(kv.key, kv);
      }
      ({ revision } = response.header);
      const left = Math.max(0, drawnAt + FRAME_MS - systemClock.now());
      disarm ??= after(systemClock, left, picture);
    }
    disarm?.();
  });
}

/** Text without control characters, cut to a width. */
function printable(text: string, width: number): string {
  // deno-lint-ignore no-control-regex
  const plain = text.replace(/[\x00-\x1f\x7f-\x9f]/g, "?");
  return plain.length > width ? `${plain.slice(0, width - 1)}…` : plain;
}
