/**
 * The command: etcdctl's words, this client.
 *
 * @module
 */
import process from "node:process";
import { closestName } from "../../http/engine.ts";
import { KvError, LoginError } from "../errors.ts";
import { BAD_ARGUMENTS, FAILURE, type Flags, parse, UsageError } from "./arguments.ts";
import type { Command, Commands } from "./command_table.ts";
import { connect, formatOf, GLOBAL_FLAGS, timeoutOf, withEnvironment } from "./connect.ts";
import { KEY_COMMANDS } from "./keys.ts";
import { LEASE_COMMANDS } from "./leases.ts";
import { LOCK_COMMANDS } from "./locks.ts";
import { ENDPOINT_COMMANDS } from "./endpoints.ts";
import { MEMBER_COMMANDS } from "./members.ts";
import { TXN_COMMANDS } from "./txn.ts";
import { USER_COMMANDS } from "./users.ts";
import { WATCH_COMMANDS } from "./watching.ts";
import { thisProcess, type World } from "./world.ts";

/** Exit code of a command that the user ended. */
const INTERRUPTED = 130;

const COMMANDS: Commands = {
  ...KEY_COMMANDS,
  ...TXN_COMMANDS,
  ...WATCH_COMMANDS,
  ...LEASE_COMMANDS,
  ...LOCK_COMMANDS,
  ...MEMBER_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...USER_COMMANDS,
};

/** Other words for commands. */
const ALIASES: Readonly<Record<string, string>> = {
  "compact": "compaction",
  "status": "endpoint status",
  "snapshot": "snapshot save",
  "lease ttl": "lease timetolive",
};

/** Flags of any command, to find the command's words between them. */
const ALL_FLAGS: Flags = Object.assign(
  {},
  GLOBAL_FLAGS,
  ...Object.values(COMMANDS).map(({ flags }) => flags ?? {}),
);

/** Runs the command and gives its exit code. */
export async function run(args: readonly string[], world: World): Promise<number> {
  try {
    return await dispatch(args, world);
  } catch (error) {
    if (world.interrupted.aborted) return INTERRUPTED;
    world.complain(`Error: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof UsageError) return error.code;
    // etcdctl's code for those who cannot even begin.
    if (error instanceof LoginError) return 2;
    if (error instanceof KvError) return FAILURE;
    if (error instanceof TypeError) return BAD_ARGUMENTS;
    return FAILURE;
  }
}

async function dispatch(args: readonly string[], world: World): Promise<number> {
  const found = find(args);
  if (found === null) {
    const [word] = parse(args, ALL_FLAGS).args;
    if (word === undefined || word === "help") {
      await world.print(help());
      return 0;
    }
    const near = closestName(word, Object.keys(COMMANDS));
    throw new UsageError(
      `unknown command ${JSON.stringify(word)}${near === null ? "" : `: did you mean "${near}"?`}`,
      FAILURE,
    );
  }
  const [name, words] = found;
  const command = COMMANDS[name]!;
  const parsed = parse(args, { ...GLOBAL_FLAGS, ...command.flags });
  if (parsed.given.has("help")) {
    await world.print(helpOf(name, command));
    return 0;
  }
  const apart = command.runsProgram === true;
  const operands = [...parsed.args.slice(words), ...(apart ? [] : parsed.rest ?? [])];
  const [least, most] = command.args;
  if (operands.length < least || operands.length > most) {
    throw new UsageError(
      `${name} takes ${least === most ? least : `${least} to ${most}`} argument${
        most === 1 ? "" : "s"
      }: ${name} ${command.usage}`,
    );
  }
  const globals = withEnvironment(parsed.given, world);
  const format = formatOf(globals);
  const timeout = timeoutOf(globals);
  await using client = await connect(globals, world);
  const code = await command.run({
    client,
    given: parsed.given,
    args: operands,
    rest: apart ? parsed.rest : undefined,
    format,
    hex: globals.has("hex"),
    timeout,
    world,
  });
  return world.interrupted.aborted ? INTERRUPTED : code ?? 0;
}

/** The command among the arguments, and how many words it has. */
function find(args: readonly string[]): [name: string, words: number] | null {
  const words = wordsOf(args);
  for (const count of [2, 1]) {
    if (words.length < count) continue;
    const text = words.slice(0, count).join(" ");
    const name = COMMANDS[text] === undefined ? ALIASES[text] : text;
    if (name !== undefined) return [name, count];
  }
  return null;
}

/** Arguments that are no flags; flags that nobody knows are told later. */
function wordsOf(args: readonly string[]): readonly string[] {
  try {
    return parse(args, ALL_FLAGS).args;
  } catch {
    return args.filter((arg) => !arg.startsWith("-"));
  }
}

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { about }]) =>
    `  ${name.padEnd(width)}  ${about}\n`
  );
  return `A client of etcd with etcdctl's words.\n\nUsage: deno run -A jsr:@sluice/sluice/kv COMMAND\n\n${
    lines.join("")
  }\nFlags of all commands; ETCDCTL_… in the environment stand in for them:\n${
    flagLines(GLOBAL_FLAGS)
  }`;
}

function helpOf(name: string, { usage, about, flags = {} }: Command): string {
  return `${about}\n\nUsage: ${name} ${usage}\n\n${flagLines(flags)}\nOf all commands:\n${
    flagLines(GLOBAL_FLAGS)
  }`;
}

function flagLines(flags: Flags): string {
  return Object.entries(flags).map(([name, { type, short, about }]) => {
    const word = `${short === undefined ? "    " : `-${short}, `}--${name}${
      type === "string" ? " …" : ""
    }`;
    return `  ${word.padEnd(30)}${about}\n`;
  }).join("");
}

/** Runs the command for this process, and ends it with the exit code. */
export async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), thisProcess());
}
