/**
 * Runs connectrpc/conformance, the Connect project's own tests of servers and clients, against the
 * programs beside this file.
 *
 * @module
 */
import { inPeers, type Need } from "../../../support/peers.ts";
import { type Finished, run, which } from "../../../support/process.ts";

/** Which of the two programs is tested, with what of the suite. */
export interface Suite {
  /** `server` or `client`. */
  readonly mode: "server" | "client";
  /** File with the features, beside this one, without `.yaml`. */
  readonly config: string;
  /** Cases there are at least; fewer mean that the runner stopped early. */
  readonly leastCases: number;
}

/** All that is run. */
export const SUITES: readonly Suite[] = [
  { mode: "server", config: "grpc", leastCases: 900 },
  { mode: "client", config: "grpc", leastCases: 1000 },
  { mode: "server", config: "web", leastCases: 5700 },
  { mode: "client", config: "web", leastCases: 7000 },
];

/** How a suite went. */
export interface Outcome {
  readonly suite: string;
  readonly cases: number;
  readonly passed: number;
  readonly failed: number;
  /** Names of the failed cases, each with what was wrong. */
  readonly failures: readonly string[];
  readonly milliseconds: number;
}

/** Environment variable with the folder the suite's `.proto` files are under. */
const PROTO_VARIABLE = "CONFORMANCE_PROTO";

/** Milliseconds for one suite. */
const TIMEOUT = 300_000;

const runner = Deno.env.get("CONNECT_CONFORMANCE") ?? inPeers("bin/connectconformance") ??
  await which("connectconformance");

/** The runner and its protos, as tests need them. */
export const NEEDS: readonly Need[] = [
  [
    "connectconformance",
    runner,
    "go install connectrpc.com/conformance/cmd/connectconformance@v1.0.6, and put it on PATH or set CONNECT_CONFORMANCE",
  ],
  [
    "conformance protos",
    await protoFolder(),
    `set ${PROTO_VARIABLE} to the folder "proto" of the Go module connectrpc.com/conformance`,
  ],
];

/** The protos: as the environment says, else in Go's module cache, where the runner was built from. */
async function protoFolder(): Promise<string | undefined> {
  const given = Deno.env.get(PROTO_VARIABLE);
  if (given !== undefined || runner === undefined || await which("go") === undefined) return given;
  const about = await run({ command: "go", args: ["version", "-m", runner] });
  const version = about.stdout.match(/connectrpc\.com\/conformance\s+(v\S+)/)?.[1];
  const cache = (await run({ command: "go", args: ["env", "GOMODCACHE"] })).stdout.trim();
  const folder = `${cache}/connectrpc.com/conformance@${version}/proto`;
  try {
    return (await Deno.stat(folder)).isDirectory ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs one suite.
 *
 * @param pattern Only the cases whose name matches, as the runner's `--run` has it.
 * @throws {Error} If the runner gave no count.
 */
export async function runSuite(suite: Suite, pattern?: string): Promise<Outcome> {
  const start = performance.now();
  const args = ["--mode", suite.mode, "--conf", `${suite.config}.yaml`];
  if (pattern !== undefined) args.push("--run", pattern);
  args.push("--", Deno.execPath(), "run", "-A", "--quiet", `${suite.mode}.ts`);
  const finished = await run({
    command: runner!,
    args,
    cwd: import.meta.dirname!,
    env: { [PROTO_VARIABLE]: NEEDS[1]![1]! },
  }, TIMEOUT);
  return {
    ...read(finished),
    suite: nameOf(suite),
    milliseconds: Math.round(performance.now() - start),
  };
}

/** A suite's name in what is printed. */
export function nameOf({ config, mode }: Suite): string {
  return `${config} ${mode}`;
}

function read(
  { stdout, stderr }: Finished,
): Pick<Outcome, "cases" | "passed" | "failed" | "failures"> {
  const output = `${stdout}\n${stderr}`;
  const cases = output.match(/^Total cases: (\d+)/m)?.[1];
  const counts = output.match(/^(\d+) passed, (\d+) failed/m);
  if (cases === undefined || counts === null) {
    throw new Error(`The conformance runner gave no count:\n${output.slice(-4000)}`);
  }
  return {
    cases: Number(cases),
    passed: Number(counts[1]),
    failed: Number(counts[2]),
    failures: [...output.matchAll(/^FAILED: (.*\n(?:[\t ].*\n)*)/gm)].map((match) => match[1]!),
  };
}
