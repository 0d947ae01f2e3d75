/**
 * A real etcd for tests: on free ports, with its data in a temporary directory, stopped by its id.
 *
 * @module
 */
import { freePorts } from "./ports.ts";
import { Process, type ProcessOptions, run, which } from "./process.ts";

/** How often another pair of ports is tried when someone took the first. */
const ATTEMPTS = 3;

/** What a test may want different from etcd's defaults. */
export interface EtcdOptions {
  /** Flags added to the command line, as `["--auto-compaction-retention=1"]`. */
  readonly flags?: readonly string[];
  /** Scheme of the client's listener; `https` needs the certificate flags too. Default `http`. */
  readonly scheme?: "http" | "https";
  /** The program, instead of the one that is found. */
  readonly command?: string;
  /** Whether writes are synced before they are answered. Default false: tests need not wait for a disk. */
  readonly synced?: boolean;
  /** Folder its own is made in. Default: the system's for temporary files. */
  readonly parent?: string;
  /** Milliseconds it has to start. Default: those of {@linkcode Process.waitFor}. */
  readonly startTimeout?: number;
}

/** A running etcd with one member. Dispose of it with `await using`. */
export class Etcd implements AsyncDisposable {
  /** Where clients connect, `127.0.0.1:port`. */
  readonly endpoint: string;
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #folder: string;
  readonly #startTimeout: number | undefined;
  #process: Process;

  private constructor(
    process: Process,
    command: string,
    args: readonly string[],
    endpoint: string,
    folder: string,
    startTimeout: number | undefined,
  ) {
    this.#process = process;
    this.#command = command;
    this.#args = args;
    this.endpoint = endpoint;
    this.#folder = folder;
    this.#startTimeout = startTimeout;
  }

  /**
   * Starts etcd and resolves when it serves clients.
   *
   * @throws {Error} If there is none or it does not become ready; the message carries its output.
   */
  static async start(options: EtcdOptions = {}): Promise<Etcd> {
    const command = options.command ?? await findServer();
    for (let attempt = 1;; attempt++) {
      const { parent, startTimeout } = options;
      const folder = await Deno.makeTempDir({
        prefix: "etcd",
        ...(parent === undefined ? {} : { dir: parent }),
      });
      const [clients, peers] = freePorts(2);
      const args = flags(options, folder, clients!, peers!);
      const process = new Process(programOf(command, args));
      try {
        await process.waitFor(READY, startTimeout);
        return new Etcd(process, command, args, `127.0.0.1:${clients}`, folder, startTimeout);
      } catch (error) {
        await process.stop("SIGKILL");
        await Deno.remove(folder, { recursive: true });
        const taken = /address already in use/i.test(process.stderr);
        if (!taken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Id of the running process. */
  get pid(): number {
    return this.#process.pid;
  }

  /** What it has logged since its last start. */
  get log(): string {
    return this.#process.stderr;
  }

  /** Stops etcd but keeps its data, as a crash (`SIGKILL`, default) or an orderly end would. */
  async halt(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    await this.#process.stop(signal);
  }

  /** Starts etcd again after {@linkcode halt}, on the same ports with the same data. */
  async restart(): Promise<void> {
    if (!this.#process.ended) await this.halt("SIGTERM");
    this.#process = new Process(programOf(this.#command, this.#args));
    try {
      await this.#process.waitFor(READY, this.#startTimeout);
    } catch (error) {
      await this.#process.stop("SIGKILL");
      throw error;
    }
  }

  /** Freezes (`SIGSTOP`) the process: connections stay open, nothing is answered. */
  pause(): void {
    this.#process.signal("SIGSTOP");
  }

  /** Lets a paused process run again. */
  resume(): void {
    this.#process.signal("SIGCONT");
  }

  /** Ends etcd and removes its data. Safe to call twice. */
  async stop(): Promise<void> {
    this.resume();
    await this.#process.stop();
    await Deno.remove(this.#folder, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** What etcd 3.4 to 3.6 print once a leader is elected and clients are served. */
const READY = /serving client traffic (?:in)?securely/;

function flags(options: EtcdOptions, folder: string, clients: number, peers: number): string[] {
  const scheme = options.scheme ?? "http";
  const client = `${scheme}://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  return [
    "--name=single",
    `--data-dir=${folder}/data`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=single=${peer}`,
    "--logger=zap",
    // A test's data need not survive the machine, and waiting for the disk is most of a put.
    ...options.synced === true ? [] : ["--unsafe-no-fsync"],
    ...options.flags ?? [],
  ];
}

/** Stands for the path of an etcd and means this module's own store, in a process of its own. */
export const STORE = "store";

/** The program and arguments of an etcd or of the store. */
export function programOf(command: string, args: readonly string[]): ProcessOptions {
  if (command !== STORE) return { command, args };
  const store = new URL("../kv/server/mod.ts", import.meta.url).pathname;
  return { command: Deno.execPath(), args: ["run", "-A", "--no-check", store, ...args] };
}

/**
 * Path of etcd: the variable `ETCD`, else the one on PATH, else undefined. `ETCD=store` says that there is
 * none.
 */
export async function findEtcd(): Promise<string | undefined> {
  const named = Deno.env.get("ETCD");
  return named === STORE ? undefined : named ?? await which("etcd");
}

/** What answers as etcd does: one that is found, else {@linkcode STORE}. */
export async function findServer(): Promise<string> {
  return await findEtcd() ?? STORE;
}

/** The version of that etcd, as `3.4.23`. */
export async function etcdVersion(command: string): Promise<string> {
  const { stdout } = await run(programOf(command, ["--version"]));
  return stdout.match(/etcd Version: (\S+)/)?.[1] ?? "unknown";
}
