/**
 * Transactions as etcdctl reads them: conditions, then what is done if they hold, then what is done if
 * they do not; an empty line behind each.
 *
 * @module
 */
import type { Comparison, TxnOperation, TxnRequest } from "../types.ts";
import { hexId, parse, UsageError } from "./arguments.ts";
import { DEL_FLAGS, delRequest, GET_FLAGS, getRequest, PUT_FLAGS, putRequest } from "./keys.ts";

const OPERATORS: Readonly<Record<string, Comparison["result"] & string>> = {
  "=": "EQUAL",
  "!=": "NOT_EQUAL",
  ">": "GREATER",
  "<": "LESS",
};

/** Exit code for a transaction that is none: etcdctl's. */
const INVALID_INPUT = 3;

function malformed(text: string): UsageError {
  return new UsageError(text, INVALID_INPUT);
}

/** Sections in their order. */
const SECTIONS: readonly string[] = [
  "compares:",
  "success requests (get, put, del):",
  "failure requests (get, put, del):",
];

/** Reads a transaction. `onSection` is told before a section is read. */
export async function parseTxn(
  lines: AsyncIterable<string>,
  onSection: (title: string) => Promise<void>,
): Promise<TxnRequest> {
  const sections: string[][] = [[], [], []];
  let at = 0;
  await onSection(SECTIONS[0]!);
  for await (const line of lines) {
    if (line.trim() !== "") sections[at]!.push(line.trim());
    else if (++at === sections.length) break;
    else await onSection(SECTIONS[at]!);
  }
  const [compare, success, failure] = sections;
  return {
    compare: compare!.map(comparison),
    success: success!.map(operation),
    failure: failure!.map(operation),
  };
}

/** A condition, as `mod("key") > "0"`. */
function comparison(line: string): Comparison {
  const match = /^(\w+)\(("(?:[^"\\]|\\.)*")\)\s*(=|!=|<|>)\s*(.+)$/.exec(line);
  if (match === null) throw malformed(`malformed comparison: ${line}`);
  const [, target, quoted, operator, operand] = match;
  const key = unquote(quoted!);
  const value = operand!.startsWith('"') ? unquote(operand!) : operand!;
  const result = OPERATORS[operator!]!;
  const number = () => {
    if (/^\d+$/.test(value)) return BigInt(value);
    throw malformed(`malformed comparison: ${line}: ${value} is no number`);
  };
  switch (target) {
    case "ver":
    case "version":
      return { key, result, version: number() };
    case "c":
    case "create":
      return { key, result, createRevision: number() };
    case "m":
    case "mod":
      return { key, result, modRevision: number() };
    case "val":
    case "value":
      return { key, result, value };
    case "lease":
      return { key, result, lease: hexId("lease", value) };
    default:
      throw malformed(`malformed comparison: ${line} (unknown target ${target})`);
  }
}

function operation(line: string): TxnOperation {
  const [name, ...words] = wordsOf(line);
  const { args, given, rest = [] } = parse(words, FLAGS[name!] ?? {});
  const all = [...args, ...rest];
  switch (name) {
    case "get":
      return { get: getRequest(counted(line, all, 1), given) };
    case "del":
      return { delete: delRequest(counted(line, all, 1), given) };
    case "put":
      return { put: putRequest(counted(line, all, given.has("ignore-value") ? 1 : 2), given) };
    default:
      throw malformed(`invalid txn request: ${line}`);
  }
}

const FLAGS = { get: GET_FLAGS, put: PUT_FLAGS, del: DEL_FLAGS } as Readonly<
  Record<string, typeof GET_FLAGS>
>;

function counted(line: string, args: readonly string[], least: number): readonly string[] {
  if (args.length >= least && args.length <= 2) return args;
  throw malformed(`invalid txn request: ${line}`);
}

/** Words with their quotes taken off. */
function wordsOf(line: string): string[] {
  const words = line.match(/"(?:[^"\\]|\\.)*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => {
    if (word.startsWith('"')) return unquote(word);
    return word.startsWith("'") ? word.slice(1, -1) : word;
  });
}

function unquote(text: string): string {
  try {
    return JSON.parse(text.replace(/\\x([0-9a-f]{2})/gi, "\\u00$1"));
  } catch {
    throw malformed(`malformed text in quotes: ${text}`);
  }
}
