/**
 * A foreign program started by a test: its output is read all the time, it is known to be ready
 * when it says so, it is stopped by its own id, and nothing of it outlives the test.
 *
 * @module
 */

/** How long a program has to say that it is ready, ms. */
export const READY_TIMEOUT = 20_000;

/** How long a program has to end after SIGTERM before it is killed, ms. */
export const STOP_TIMEOUT = 3_000;

/** How long the outputs of an ended program may stay open, held by its own children, ms. */
export const DRAIN_TIMEOUT = 500;

/** How much of each output stream is kept for messages, in characters; the oldest goes first. */
export const KEPT_OUTPUT = 64 * 1024;

/** What to start and how to tell that it is ready. */
export interface ProcessOptions {
  /** Program, looked up on PATH. */
  readonly command: string;
  /** Arguments. */
  readonly args?: readonly string[];
  /** Variables added to the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. */
  readonly cwd?: string;
  /** Text to give on standard input, which is then closed. */
  readonly stdin?: string;
}

/** A finished program. */
export interface Finished {
  /** Exit code, 128 + n after signal n. */
  readonly code: number;
  /** Standard output, its last {@linkcode KEPT_OUTPUT} characters unless `run` was asked for all. */
  readonly stdout: string;
  /** Standard error, its last {@linkcode KEPT_OUTPUT} characters. */
  readonly stderr: string;
}

/** One text stream of a child, kept and searched as it comes. */
class Output {
  text = "";
  readonly done: Promise<void>;
  readonly #limit: number;
  readonly #changed = new Set<() => void>();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  ended = false;

  constructor(stream: ReadableStream<Uint8Array>, limit: number) {
    this.#limit = limit;
    this.#reader = stream.getReader();
    this.done = this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for (let r = await this.#reader.read(); !r.done; r = await this.#reader.read()) {
      this.text += decoder.decode(r.value, { stream: true });
      if (this.text.length > this.#limit) this.text = this.text.slice(-this.#limit);
      this.#notify();
    }
    this.ended = true;
    this.#notify();
  }

  /** Gives up on what may still come. */
  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  #notify(): void {
    for (const listener of [...this.#changed]) listener();
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }
}

/** A running program. Dispose of it with `await using`, or call {@linkcode Process.stop}. */
export class Process implements AsyncDisposable {
  /** Its id. */
  readonly pid: number;
  readonly #name: string;
  readonly #child: Deno.ChildProcess;
  readonly #stdout: Output;
  readonly #stderr: Output;
  #status: Deno.CommandStatus | undefined;

  /** Starts the program; throws `Deno.errors.NotFound` if there is none of that name. */
  constructor(options: ProcessOptions, limit = KEPT_OUTPUT) {
    this.#name = [options.command, ...options.args ?? []].join(" ");
    this.#child = new Deno.Command(options.command, {
      args: [...options.args ?? []],
      ...(options.env === undefined ? {} : { env: { ...options.env } }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#stdout = new Output(this.#child.stdout, limit);
    this.#stderr = new Output(this.#child.stderr, KEPT_OUTPUT);
    this.#child.status.then((status) => this.#status = status);
    if (options.stdin !== undefined) this.#give(options.stdin);
  }

  #give(text: string): void {
    const writer = this.#child.stdin.getWriter();
    // A program that ends before it has read its input is judged by its exit code, not by EPIPE.
    writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
  }

  /** Standard output so far. */
  get stdout(): string {
    return this.#stdout.text;
  }

  /** Standard error so far. */
  get stderr(): string {
    return this.#stderr.text;
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.#status !== undefined;
  }

  /**
   * Resolves to the match of `pattern` in either output.
   *
   * @throws {Error} If the program ends first or `timeout` ms pass; the message carries its output.
   */
  waitFor(pattern: RegExp, timeout: number = READY_TIMEOUT): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        clearTimeout(timer);
        for (const remove of removals) remove();
        act();
      };
      const look = () => {
        const match = this.stdout.match(pattern) ?? this.stderr.match(pattern);
        if (match) return finish(() => resolve(match));
        if (this.#stdout.ended && this.#stderr.ended) {
          finish(() =>
            this.#child.status.then(() =>
              reject(new Error(this.describe(`ended before it printed ${pattern}`)))
            )
          );
        }
      };
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(new Error(this.describe(`did not print ${pattern} in ${timeout} ms`)))
          ),
        timeout,
      );
      const removals = [this.#stdout.onChange(look), this.#stderr.onChange(look)];
      look();
    });
  }

  /**
   * Waits for the program to end by itself.
   *
   * @throws {Error} If it has not after `timeout` ms; it is killed then.
   */
  async finished(timeout: number): Promise<Finished> {
    if (!await this.#endsWithin(timeout)) {
      const message = this.describe(`did not end in ${timeout} ms`);
      await this.stop();
      throw new Error(message);
    }
    await this.#drain();
    const status = await this.#child.status;
    return { code: status.code, stdout: this.stdout, stderr: this.stderr };
  }

  /** Sends a signal, unless the program has ended. */
  signal(signal: Deno.Signal): void {
    if (this.#status !== undefined) return;
    try {
      this.#child.kill(signal);
    } catch (error) {
      // It may have ended between the check and the call.
      if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
    }
  }

  /** Ends the program: SIGTERM, then SIGKILL after {@linkcode STOP_TIMEOUT}. Safe to call twice. */
  async stop(first: Deno.Signal = "SIGTERM"): Promise<void> {
    this.signal(first);
    if (!await this.#endsWithin(STOP_TIMEOUT)) this.signal("SIGKILL");
    await this.#child.status;
    await this.#drain();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** A message naming the program, with all that is known of its output. */
  describe(what: string): string {
    const status = this.#status === undefined ? "running" : `exit code ${this.#status.code}`;
    return `${this.#name} ${what} (${status})\n--- stdout\n${this.stdout}\n--- stderr\n${this.stderr}`;
  }

  /** Waits for the end of both outputs, which children of the program may hold open. */
  async #drain(): Promise<void> {
    const timer = setTimeout(() => {
      for (const output of [this.#stdout, this.#stderr]) if (!output.ended) output.cancel();
    }, DRAIN_TIMEOUT);
    await Promise.all([this.#stdout.done, this.#stderr.done]);
    clearTimeout(timer);
  }

  async #endsWithin(timeout: number): Promise<boolean> {
    if (this.#status !== undefined) return true;
    const { promise, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), timeout);
    const ended = await Promise.race([this.#child.status.then(() => true), promise]);
    clearTimeout(timer);
    return ended;
  }
}

/**
 * Runs a program to its end and returns all it printed.
 *
 * @throws {Error} If it takes longer than `timeout` ms.
 */
export async function run(options: ProcessOptions, timeout = 30_000): Promise<Finished> {
  await using process = new Process(options, Infinity);
  return await process.finished(timeout);
}

/** The path of a program on PATH, or undefined. */
export async function which(name: string): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const path = `${folder}/${name}`;
    const info = await Deno.stat(path).catch(() => undefined);
    if (info?.isFile && ((info.mode ?? 0) & 0o111) !== 0) return path;
  }
}
