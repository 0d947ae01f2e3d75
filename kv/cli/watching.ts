/**
 * The command watch: changes as they come, a program for each, or a live view.
 *
 * @module
 */
import type { WatchEvent, WatchRequest, WatchResponse } from "../types.ts";
import { UsageError } from "./arguments.ts";
import { type Cli, type Commands, show, textOf } from "./command_table.ts";
import { goQuote, headerFields, headerJson, kvFields, kvJson } from "./format.ts";
import { selectorOf } from "./keys.ts";
import { liveKeys } from "./live.ts";

/** The command watch. */
export const WATCH_COMMANDS: Commands = {
  "watch": {
    usage: "[options] <key or prefix> [range_end] [-- exec-command arg1 arg2 ...]",
    about: "Watches events stream on keys or prefixes",
    flags: {
      "prefix": { type: "boolean", about: "all keys that begin with the key" },
      "rev": { type: "string", about: "begin with this revision" },
      "prev-kv": { type: "boolean", about: "also what was there before" },
      "progress-notify": { type: "boolean", about: "also how far the watch is" },
      "live": { type: "boolean", about: "the keys as they are, on the whole terminal" },
    },
    args: [1, 2],
    runsProgram: true,
    async run(cli) {
      const { client, args, given, world, rest } = cli;
      const selector = selectorOf(args, given);
      const revision = given.integer("rev");
      if (given.has("live")) return await liveKeys(cli, selector);
      if (rest?.length === 0) throw new UsageError("watch needs a program behind --");
      const request: WatchRequest = {
        ...selector,
        prevKv: given.has("prev-kv"),
        progressNotify: given.has("progress-notify"),
        ...(revision === undefined ? {} : { revision }),
      };
      const watch = await client.watch(request, { signal: world.interrupted });
      for await (const response of watch) {
        await print(cli, response);
        if (rest === undefined) continue;
        for (const event of response.events) await execute(cli, rest, event);
      }
    },
  },
};

async function print(cli: Cli, response: WatchResponse): Promise<void> {
  const { header, events, progressNotify } = response;
  await show(cli, {
    simple: () =>
      progressNotify
        ? `progress notify: ${header.revision}\n`
        : events.map((event) => simple(cli, event)).join(""),
    json: () => ({
      Header: headerJson(header),
      Events: events.map(json),
      CompactRevision: 0,
      Canceled: false,
      Created: false,
    }),
    fields: () =>
      headerFields(header) + events.map(({ type, kv, prevKv }) =>
        `"Type" : ${type}\n` +
        (prevKv === undefined ? "" : kvFields(prevKv, "Prev")) +
        kvFields(kv)
      ).join(""),
  });
}

function simple(cli: Cli, { type, kv, prevKv }: WatchEvent): string {
  const lines: string[] = [type];
  for (const one of prevKv === undefined ? [kv] : [prevKv, kv]) {
    lines.push(textOf(cli, one.keyBytes), textOf(cli, one.valueBytes));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function json({ type, kv, prevKv }: WatchEvent): Record<string, unknown> {
  return {
    ...(type === "PUT" ? {} : { type: 1 }),
    kv: kvJson(kv),
    ...(prevKv === undefined ? {} : { prev_kv: kvJson(prevKv) }),
  };
}

/** Runs a program with an event in its environment, quoted as etcdctl does. */
async function execute(cli: Cli, program: readonly string[], event: WatchEvent): Promise<void> {
  const [command, ...args] = program;
  const { type, kv } = event;
  const env = {
    ETCD_WATCH_REVISION: String(kv.modRevision),
    ETCD_WATCH_EVENT_TYPE: JSON.stringify(type),
    ETCD_WATCH_KEY: goQuote(kv.keyBytes),
    ETCD_WATCH_VALUE: goQuote(kv.valueBytes),
  };
  const code = await cli.world.execute(command!, args, env);
  if (code !== 0) throw new Error(`command ${JSON.stringify(command)} ended with code ${code}`);
}
