/**
 * Commands on keys: get, put, del, compaction.
 *
 * @module
 */
import type { KeyValue } from "../key_value.ts";
import type {
  DeleteRequest,
  GetRequest,
  KeySelector,
  PutRequest,
  SortOrder,
  SortTarget,
} from "../types.ts";
import { FAILURE, type Flags, type Given, UsageError } from "./arguments.ts";
import { type Cli, type Commands, show, textOf } from "./command_table.ts";
import { field, headerFields, headerJson, kvFields, kvJson, omitEmpty } from "./format.ts";

const RANGE_FLAGS: Flags = {
  "prefix": { type: "boolean", about: "all keys that begin with the key" },
  "from-key": { type: "boolean", about: "the key and all keys behind it" },
};
/** Flags of `get`. */
export const GET_FLAGS: Flags = {
  ...RANGE_FLAGS,
  "consistency": { type: "string", about: "l: of the whole cluster, s: of one member (l)" },
  "order": { type: "string", about: "ASCEND or DESCEND" },
  "sort-by": { type: "string", about: "CREATE, KEY, MODIFY, VALUE or VERSION" },
  "limit": { type: "string", about: "at most so many keys" },
  "rev": { type: "string", about: "as it was at this revision" },
  "keys-only": { type: "boolean", about: "without the values" },
  "count-only": { type: "boolean", about: "only how many, with -w fields or json" },
  "print-value-only": { type: "boolean", about: "only the values, with -w simple" },
};
/** Flags of `put`. */
export const PUT_FLAGS: Flags = {
  "lease": { type: "string", about: "lease the key hangs on, in hexadecimal digits" },
  "prev-kv": { type: "boolean", about: "also what was there before" },
  "ignore-value": { type: "boolean", about: "keep the value there is" },
  "ignore-lease": { type: "boolean", about: "keep the lease there is" },
};
/** Flags of `del`. */
export const DEL_FLAGS: Flags = {
  ...RANGE_FLAGS,
  "prev-kv": { type: "boolean", about: "also what was there" },
};

const ORDERS: readonly string[] = ["ASCEND", "DESCEND"];
const TARGETS: Readonly<Record<string, SortTarget>> = {
  CREATE: "CREATE",
  KEY: "KEY",
  MODIFY: "MOD",
  VALUE: "VALUE",
  VERSION: "VERSION",
};

/** The keys that arguments and flags mean. */
export function selectorOf(args: readonly string[], given: Given): KeySelector {
  const [key = "", rangeEnd] = args;
  const [prefix, fromKey] = [given.has("prefix"), given.has("from-key")];
  if (prefix && fromKey) {
    throw new UsageError("`--prefix` and `--from-key` cannot be set at the same time, choose one");
  }
  if (rangeEnd !== undefined && (prefix || fromKey)) {
    throw new UsageError(
      "too many arguments, only accept one argument when `--prefix` or `--from-key` is set",
    );
  }
  return {
    key,
    ...(prefix ? { prefix } : {}),
    ...(fromKey ? { fromKey } : {}),
    ...(rangeEnd === undefined ? {} : { rangeEnd }),
  };
}

/** The request of `get`. */
export function getRequest(args: readonly string[], given: Given): GetRequest {
  const consistency = given.text("consistency") ?? "l";
  if (consistency !== "l" && consistency !== "s") {
    throw new UsageError(`unknown consistency flag ${JSON.stringify(consistency)}`, 4);
  }
  const order = given.text("order")?.toUpperCase();
  const target = given.text("sort-by")?.toUpperCase();
  if (order !== undefined && !ORDERS.includes(order)) {
    throw new UsageError(`bad sort order ${order}`, 128);
  }
  if (target !== undefined && TARGETS[target] === undefined) {
    throw new UsageError(`bad sort target ${target}`, 128);
  }
  const limit = given.integer("limit");
  const revision = given.integer("rev");
  return {
    ...selectorOf(args, given),
    serializable: consistency === "s",
    keysOnly: given.has("keys-only"),
    countOnly: given.has("count-only"),
    ...(order === undefined ? {} : { sortOrder: order as SortOrder }),
    ...(target === undefined ? {} : { sortTarget: TARGETS[target]! }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(revision === undefined ? {} : { revision }),
  };
}

/** The request of `put`; `value` stands in for a value that is no argument. */
export function putRequest(args: readonly string[], given: Given, value?: string): PutRequest {
  const [key, text = value] = args;
  const ignoreValue = given.has("ignore-value");
  if (ignoreValue && args.length > 1) {
    throw new UsageError("put command needs only 1 argument when 'ignore-value' is set");
  }
  const lease = given.id("lease");
  return {
    key: key!,
    ...(ignoreValue ? { ignoreValue } : { value: text! }),
    ...(lease === undefined ? {} : { lease }),
    prevKv: given.has("prev-kv"),
    ignoreLease: given.has("ignore-lease"),
  } as PutRequest;
}

/** The request of `del`. */
export function delRequest(args: readonly string[], given: Given): DeleteRequest {
  return { ...selectorOf(args, given), prevKv: given.has("prev-kv") };
}

/** Keys and values, a line each. */
export function kvLines(
  cli: Pick<Cli, "hex">,
  kvs: readonly KeyValue[],
  valueOnly = false,
): string {
  return kvs.map(({ keyBytes, valueBytes }) =>
    (valueOnly ? "" : `${textOf(cli, keyBytes)}\n`) + `${textOf(cli, valueBytes)}\n`
  ).join("");
}

/** Commands on keys. */
export const KEY_COMMANDS: Commands = {
  "get": {
    usage: "<key> [range_end]",
    about: "Gets the key or a range of keys",
    flags: GET_FLAGS,
    args: [1, 2],
    async run(cli) {
      const { client, args, given, timeout, format } = cli;
      const request = getRequest(args, given);
      if (request.countOnly && format === "simple") {
        throw new UsageError("--count-only is only for `--write-out=fields` or json");
      }
      const { header, kvs, more, count } = await client.get(request, timeout);
      await show(cli, {
        simple: () => kvLines(cli, kvs, given.has("print-value-only")),
        json: () => ({
          header: headerJson(header),
          ...omitEmpty({ kvs: kvs.map(kvJson), more, count }),
        }),
        fields: () =>
          headerFields(header) + kvs.map((kv) => kvFields(kv)).join("") + field("More", more) +
          field("Count", count),
      });
    },
  },
  "put": {
    usage: "[options] <key> <value> (<value> can also be given from stdin)",
    about: "Puts the given key into the store",
    flags: PUT_FLAGS,
    args: [1, 2],
    async run(cli) {
      const { client, args, given, timeout, world } = cli;
      const needed = args.length < 2 && !given.has("ignore-value");
      const value = needed ? await world.input() : undefined;
      const { header, prevKv } = await client.put(putRequest(args, given, value), timeout);
      await show(cli, {
        simple: () => `OK\n${prevKv === undefined ? "" : kvLines(cli, [prevKv])}`,
        json: () => ({
          header: headerJson(header),
          ...(prevKv === undefined ? {} : { prev_kv: kvJson(prevKv) }),
        }),
        fields: () => headerFields(header) + (prevKv === undefined ? "" : kvFields(prevKv, "Prev")),
      });
    },
  },
  "del": {
    usage: "[options] <key> [range_end]",
    about: "Removes the specified key or range of keys [key, range_end)",
    flags: DEL_FLAGS,
    args: [1, 2],
    async run(cli) {
      const { client, args, given, timeout } = cli;
      const { header, deleted, prevKvs } = await client.delete(delRequest(args, given), timeout);
      await show(cli, {
        simple: () => `${deleted}\n${kvLines(cli, prevKvs)}`,
        json: () => ({
          header: headerJson(header),
          ...omitEmpty({ deleted, prev_kvs: prevKvs.map(kvJson) }),
        }),
        fields: () =>
          headerFields(header) + field("Deleted", deleted) +
          prevKvs.map((kv) => kvFields(kv, "Prev")).join(""),
      });
    },
  },
  "compaction": {
    usage: "[options] <revision>",
    about: "Compacts the event history in etcd",
    flags: { "physical": { type: "boolean", about: "wait until the disk is done too" } },
    args: [1, 1],
    async run({ client, args: [text], given, timeout, world }) {
      if (!/^\d+$/.test(text!)) {
        throw new UsageError(`bad revision: ${JSON.stringify(text)}`, FAILURE);
      }
      const revision = BigInt(text!);
      await client.compact({ revision, physical: given.has("physical") }, timeout);
      await world.print(`compacted revision ${revision}\n`);
    },
  },
};
