/**
 * The programs of the benchmark, each in a process of its own, and what the system says they cost.
 *
 * @module
 */

/** Clock ticks of `/proc/PID/stat` in a second; fixed in Linux's ABI. */
const TICKS_PER_SECOND = 100;

/** Milliseconds a program has to say that it is ready. */
const READY_TIMEOUT = 20_000;

/** A program that prints lines, and may be given lines. */
export class Program implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #rest = "";

  /** Starts it, with `env` added to its environment. Its standard error is shown. */
  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#child = new Deno.Command(command, {
      args: [...args],
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#input = this.#child.stdin.getWriter();
  }

  /** The next line it prints. */
  async line(timeout: number = READY_TIMEOUT): Promise<string> {
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), timeout);
    try {
      for (;;) {
        const end = this.#rest.indexOf("\n");
        if (end >= 0) {
          const line = this.#rest.slice(0, end);
          this.#rest = this.#rest.slice(end + 1);
          return line;
        }
        const { value, done } = await this.#lines.read();
        if (done) throw new Error(`A program ended or took longer than ${timeout} ms`);
        this.#rest += value;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives it a command and returns what it answers. */
  async ask<T>(command: object, timeout = 60_000): Promise<T> {
    await this.#input.write(new TextEncoder().encode(JSON.stringify(command) + "\n"));
    const answer = JSON.parse(await this.line(timeout));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  /** Seconds of CPU it has used, user and system. */
  cpuSeconds(): number {
    const stat = Deno.readTextFileSync(`/proc/${this.#child.pid}/stat`);
    // The name, second of the fields, may hold blanks: count from its closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Resident memory, bytes. */
  residentBytes(): number {
    const status = Deno.readTextFileSync(`/proc/${this.#child.pid}/status`);
    return Number(status.match(/VmRSS:\s+(\d+) kB/)![1]) * 1024;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.#lines.cancel();
    await this.#input.abort().catch(() => {});
    await this.#child.status;
  }
}

/** How one implementation is started. */
export interface Peer {
  /** Name in tables and in the JSON line. */
  readonly name: string;
  /** Starts its server, with TLS if files are given. */
  server(files: readonly string[]): Program;
  /** Starts its client of that server, with TLS if the authority's file is given. */
  client(target: string, caFile: readonly string[]): Program;
  /** What its client can do besides unary calls. */
  readonly streams: boolean;
}

const here = new URL(".", import.meta.url).pathname;
const folder = Deno.env.get("SLUICE_PEERS");

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function scripts(
  name: string,
  command: string,
  before: string[],
  ending: string,
  env: Readonly<Record<string, string>> = {},
): Peer {
  const program = (role: string, rest: readonly string[]) =>
    new Program(
      command,
      [...before, `${here}${name.replace("-", "_")}_${role}.${ending}`, ...rest],
      env,
    );
  return {
    name,
    streams: true,
    server: (files) => program("server", files),
    client: (target, caFile) => program("client", [target, ...caFile]),
  };
}

/** This module, on Deno. */
export const sluice: Peer = scripts("sluice", Deno.execPath(), ["run", "-A", "--no-check"], "ts");

/** The same with `OTEL_DENO=true`, which sends spans and metrics to `sink`. */
export function traced(sink: string): Peer {
  const peer = scripts("sluice", Deno.execPath(), ["run", "-A", "--no-check"], "ts", {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: sink,
  });
  return { ...peer, name: "traced" };
}

/** The peers that are installed, and how to install those that are not. */
export async function foreignPeers(): Promise<{ found: Peer[]; missing: string[] }> {
  const found: Peer[] = [];
  const missing: string[] = [];
  if (folder !== undefined && await isThere(`${folder}/node_modules/@grpc/grpc-js`)) {
    found.push(scripts("grpc-js", "node", [], "mjs"));
  } else missing.push("grpc-js (set SLUICE_PEERS to a folder with node_modules/@grpc/grpc-js)");
  const go = `${folder}/bin/grpc_go_peer`;
  if (folder !== undefined && await isThere(go)) {
    found.push({
      name: "grpc-go",
      streams: false,
      server: (files) => new Program(go, ["server", ...files]),
      client: (target) => new Program(go, ["bench", target]),
    });
  } else missing.push("grpc-go (build tests/interop/peers/go as SLUICE_PEERS/bin/grpc_go_peer)");
  return { found, missing };
}

/** Starts a server and returns it with its address. */
export async function startServer(
  peer: Peer,
  files: readonly string[] = [],
): Promise<{ program: Program; target: string }> {
  const program = peer.server(files);
  const line = await program.line();
  const target = `${files.length > 0 ? "localhost" : "127.0.0.1"}:${line.replace("port=", "")}`;
  return { program, target };
}

/** Starts a client of a server. */
export async function startClient(
  peer: Peer,
  target: string,
  caFile: readonly string[] = [],
): Promise<Program> {
  const program = peer.client(target, caFile);
  await program.line();
  return program;
}
