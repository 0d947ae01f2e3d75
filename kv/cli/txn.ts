/**
 * The command txn.
 *
 * @module
 */
import type { TxnResult } from "../types.ts";
import { type Cli, type Commands, show } from "./command_table.ts";
import { field, headerFields, headerJson, kvFields, kvJson, omitEmpty } from "./format.ts";
import { kvLines } from "./keys.ts";
import { parseTxn } from "./txn_text.ts";

/** The command txn. */
export const TXN_COMMANDS: Commands = {
  "txn": {
    usage: "[options]",
    about: "Processes all the requests in one transaction, read from stdin",
    flags: { "interactive": { type: "boolean", short: "i", about: "say what is expected next" } },
    args: [0, 0],
    async run(cli) {
      const { client, given, timeout, world } = cli;
      const request = await parseTxn(world.lines(), async (title) => {
        if (given.has("interactive")) await world.print(`${title}\n`);
      });
      const { header, succeeded, responses } = await client.txn(request, timeout);
      await show(cli, {
        simple: () =>
          `${succeeded ? "SUCCESS" : "FAILURE"}\n` +
          responses.map((one) => `\n${simple(cli, one)}`).join(""),
        json: () => ({
          header: headerJson(header),
          ...omitEmpty({
            succeeded,
            responses: responses.map((one) => ({ Response: json(one) })),
          }),
        }),
        fields: () =>
          headerFields(header) + field("Succeeded", succeeded) + responses.map(fields).join(""),
      });
    },
  },
};

function simple(cli: Cli, result: TxnResult): string {
  if ("put" in result) {
    const { prevKv } = result.put;
    return `OK\n${prevKv === undefined ? "" : kvLines(cli, [prevKv])}`;
  }
  if ("get" in result) return kvLines(cli, result.get.kvs);
  if ("delete" in result) {
    return `${result.delete.deleted}\n${kvLines(cli, result.delete.prevKvs)}`;
  }
  return "";
}

function json(result: TxnResult): unknown {
  if ("put" in result) {
    const { header, prevKv } = result.put;
    const prev = prevKv === undefined ? {} : { prev_kv: kvJson(prevKv) };
    return { ResponsePut: { header: headerJson(header), ...prev } };
  }
  if ("get" in result) {
    const { header, kvs, more, count } = result.get;
    const rest = omitEmpty({ kvs: kvs.map(kvJson), more, count });
    return { ResponseRange: { header: headerJson(header), ...rest } };
  }
  if ("delete" in result) {
    const { header, deleted, prevKvs } = result.delete;
    const rest = omitEmpty({ deleted, prev_kvs: prevKvs.map(kvJson) });
    return { ResponseDeleteRange: { header: headerJson(header), ...rest } };
  }
  return {};
}

function fields(result: TxnResult): string {
  if ("put" in result) {
    const { header, prevKv } = result.put;
    return headerFields(header) + (prevKv === undefined ? "" : kvFields(prevKv, "Prev"));
  }
  if ("get" in result) {
    const { header, kvs, more, count } = result.get;
    return headerFields(header) + kvs.map((kv) => kvFields(kv)).join("") + field("More", more) +
      field("Count", count);
  }
  if ("delete" in result) {
    const { header, deleted, prevKvs } = result.delete;
    return headerFields(header) + field("Deleted", deleted) +
      prevKvs.map((kv) => kvFields(kv, "Prev")).join("");
  }
  return "";
}
