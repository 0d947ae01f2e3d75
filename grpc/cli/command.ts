/**
 * The command: grpcurl's words, this library's client.
 *
 * @module
 */
import process from "node:process";
import { ConnectError } from "@connectrpc/connect";
import { closestName } from "../../http/engine.ts";
import { BAD_USAGE, FAILURE, type Flags, type Given, parse, UsageError } from "./arguments.ts";
import { call, CALL_FLAGS, formatOf } from "./call.ts";
import { describe } from "./describe.ts";
import { list } from "./list.ts";
import type { Operation } from "./operation.ts";
import { completion } from "./completion.ts";
import { SERVE_FLAGS, serveFiles } from "./serve.ts";
import { SERVER_FLAGS, setUp } from "./setup.ts";
import { Timing } from "./timing.ts";
import { web, WEB_FLAGS } from "./web.ts";
import { thisProcess, type World } from "./world.ts";

/** Exit code of a command that the user ended. */
const INTERRUPTED = 130;

const OUTPUT_FLAGS: Flags = {
  "protoset-out": {
    type: "string",
    value: "FILE",
    words: "files",
    about: "writes the descriptors to a file, with all imports",
  },
};

/** A word that says what is done. */
interface Verb {
  readonly usage: string;
  readonly about: string;
  readonly flags: Flags;
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    usage: "[ADDRESS] list [SERVICE]",
    about: "lists services, or the methods of one",
    flags: { ...SERVER_FLAGS, ...OUTPUT_FLAGS },
  },
  describe: {
    usage: "[ADDRESS] describe [SYMBOL]",
    about: "shows services, methods, messages, fields, … as proto source",
    flags: {
      ...SERVER_FLAGS,
      ...OUTPUT_FLAGS,
      "msg-template": { type: "boolean", about: "shows what may be typed in for a message" },
      format: CALL_FLAGS["format"]!,
    },
  },
  call: {
    usage: "ADDRESS [call] SERVICE/METHOD",
    about: "calls a method",
    flags: { ...SERVER_FLAGS, ...CALL_FLAGS },
  },
  web: {
    usage: "ADDRESS -web",
    about: "shows a page with a form for each method",
    flags: { ...SERVER_FLAGS, ...WEB_FLAGS, "rpc-header": CALL_FLAGS["rpc-header"]! },
  },
  serve: {
    usage: "serve FILE.proto …",
    about: "serves proto files: handlers of a module, made-up answers for the rest",
    flags: SERVE_FLAGS,
  },
  completion: {
    usage: "completion bash|zsh|fish",
    about: "prints what completes this command's words in a shell",
    flags: {},
  },
};

const HELP: Flags = { help: { type: "boolean", about: "this text" } };

/** Flags of any verb: they may come before it. */
const ALL_FLAGS: Flags = Object.assign({}, HELP, ...Object.values(VERBS).map(({ flags }) => flags));

/** Runs the command and gives its exit code. */
export async function run(args: readonly string[], world: World): Promise<number> {
  try {
    return await dispatch(args, world);
  } catch (error) {
    if (world.interrupted.aborted) return INTERRUPTED;
    world.complain(messageOf(error));
    if (!(error instanceof UsageError)) return FAILURE;
    world.complain("Try -help for more details.");
    return BAD_USAGE;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ConnectError) return error.rawMessage;
  return error instanceof Error ? error.message : String(error);
}

/** The command line, understood. */
interface Request {
  readonly verb: string;
  readonly target: string | undefined;
  readonly symbol: string | undefined;
}

async function dispatch(args: readonly string[], world: World): Promise<number> {
  const { given, args: words } = parse(args, ALL_FLAGS);
  if (given.has("help") || words[0] === "help") {
    await world.print(helpOf(words.find((word) => Object.hasOwn(VERBS, word))));
    return 0;
  }
  if (words[0] === "serve") return await serveFiles(words.slice(1), given, world);
  if (words[0] === "completion") {
    const verbs = Object.entries(VERBS).map(([name, verb]) => ({ name, ...verb }));
    await world.print(completion(words[1], verbs.filter(({ name }) => name !== "web")));
    return 0;
  }
  const request = requestOf(words, given);
  const { flags } = VERBS[request.verb]!;
  for (const name of Object.keys(ALL_FLAGS)) {
    if (given.said(name) && !Object.hasOwn(flags, name)) {
      world.complain(`Warning: the -${name} argument is not used with '${request.verb}'.`);
    }
  }
  return await operate(request, given, world);
}

async function operate(
  { verb, target, symbol }: Request,
  given: Given,
  world: World,
): Promise<number> {
  formatOf(given);
  const most = given.seconds("max-time") ?? Infinity;
  const started = new Timing();
  const timeLeft = (): number => Math.max(0, most - started.taken);
  await using setup = await setUp(target, given, world, timeLeft);
  const operation: Operation = { setup, given, world, target, symbol, started, timeLeft };
  try {
    switch (verb) {
      case "list":
        return await list(operation);
      case "describe":
        return await describe(operation);
      case "web":
        return await web(operation);
      default:
        return await call(operation);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const fault = setup.dialFault(error);
    if (fault !== null) throw fault;
    throw new Error(`${FAILED[verb]!(symbol)}: ${messageOf(error)}`, { cause: error });
  }
}

const FAILED: Readonly<Record<string, (symbol: string | undefined) => string>> = {
  list: (symbol) =>
    symbol === undefined
      ? "Failed to list services"
      : `Failed to list methods for service ${JSON.stringify(symbol)}`,
  describe: (symbol) =>
    symbol === undefined
      ? "Failed to describe services"
      : `Failed to resolve symbol ${JSON.stringify(symbol)}`,
  web: () => "Failed to show the page",
  call: (symbol) => `Error invoking method ${JSON.stringify(symbol)}`,
};

/** Reads the words: a verb first, or behind the address as grpcurl has it. */
function requestOf(words: readonly string[], given: Given): Request {
  const [first, second] = words;
  if (first === undefined) throw new UsageError("Too few arguments.");
  if (given.has("web") && !Object.hasOwn(VERBS, first)) {
    return checked("web", first, words.slice(1));
  }
  if (Object.hasOwn(VERBS, first)) {
    const rest = words.slice(1);
    // One word behind the verb is an address, unless files say what there is.
    const hasAddress = rest.length > 1 || rest.length === 1 && isAddress(rest[0]!, given);
    return checked(first, hasAddress ? rest[0] : undefined, hasAddress ? rest.slice(1) : rest);
  }
  if (second !== undefined && Object.hasOwn(VERBS, second)) {
    return checked(second, first, words.slice(2));
  }
  if (second === undefined) {
    const near = closestName(first, Object.keys(VERBS));
    throw new UsageError(`Too few arguments.${near === null ? "" : ` Did you mean "${near}"?`}`);
  }
  return checked("call", first, words.slice(1));
}

function isAddress(word: string, given: Given): boolean {
  const hasFiles = given.list("proto").length + given.list("protoset").length > 0;
  return given.has("unix") || !hasFiles || /[:/]/.test(word);
}

function checked(verb: string, target: string | undefined, rest: readonly string[]): Request {
  const [symbol] = rest;
  if (rest.length > 1) throw new UsageError(`Too many arguments: ${VERBS[verb]!.usage}`);
  if (verb === "call" && (target === undefined || symbol === undefined)) {
    throw new UsageError(`Too few arguments: ${VERBS[verb]!.usage}`);
  }
  return { verb, target, symbol };
}

function helpOf(verb: string | undefined): string {
  if (verb === undefined) {
    const lines = Object.values(VERBS).map(({ usage, about }) => `  ${usage.padEnd(34)}${about}\n`);
    return `A client of any gRPC server, with grpcurl's words.\n\nUsage: deno run -A jsr:@sluice/sluice/grpc [FLAGS] …\n\n${
      lines.join("")
    }\nFlags:\n${flagLines(ALL_FLAGS)}`;
  }
  const { usage, about, flags } = VERBS[verb]!;
  return `Usage: ${usage}: ${about}\n\n${flagLines({ ...flags, ...HELP })}`;
}

function flagLines(flags: Flags): string {
  return Object.entries(flags).map(([name, { value, about }]) =>
    `  ${`-${name}${value === undefined ? "" : ` ${value}`}`.padEnd(26)}${about}\n`
  ).join("");
}

/** Runs the command for this process, and ends it with the exit code. */
export async function main(): Promise<void> {
  process.exit(await run(process.argv.slice(2), thisProcess()));
}
