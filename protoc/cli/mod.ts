/**
 * A protoc without a binary: its flags, its messages, its plugins. Starts sooner than
 * `jsr:@sluice/sluice/protoc`, for it loads nothing but the compiler.
 *
 * ```sh
 * deno run -A jsr:@sluice/sluice/protoc/cli -I protos --es_out=src/gen protos/app.proto
 * ```
 *
 * @module
 */
import { readBytes } from "../disk.ts";
import { type Environment, run } from "./command.ts";

/** Milliseconds that work may take before progress is shown, and between two changes of it. */
const PROGRESS_AFTER_MS = 500;

/** Runs the command for this process, and sets its exit code. */
export async function main(): Promise<void> {
  Deno.exitCode = await run(Deno.args, environmentOfProcess());
}

function environmentOfProcess(): Environment {
  const encoder = new TextEncoder();
  const bytesOf = (content: string | Uint8Array): Uint8Array =>
    typeof content === "string" ? encoder.encode(content) : content;
  const isTerminal = Deno.stderr.isTerminal();
  let shownAt = performance.now();
  let isShown = false;
  const tell = (text: string): void => {
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length;) at += Deno.stderr.writeSync(bytes.subarray(at));
  };
  return {
    print: async (content) => {
      const bytes = bytesOf(content);
      for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
    },
    complain: (line) => tell(`${line}\n`),
    // `Deno.writeFile` first loads the web's streams, 3 of 70 ms of a small run.
    write: (path, content) => Promise.resolve(Deno.writeFileSync(path, bytesOf(content))),
    read: async () => {
      const chunks = await Array.fromAsync(Deno.stdin.readable);
      return new Uint8Array(await new Blob(chunks).arrayBuffer());
    },
    readText: async (path) => {
      const bytes = await readBytes(path);
      return bytes && new TextDecoder().decode(bytes);
    },
    runProgram: async (path, input) => {
      let child: Deno.ChildProcess;
      try {
        child = new Deno.Command(path, { stdin: "piped", stdout: "piped", stderr: "inherit" })
          .spawn();
      } catch (error) {
        if (
          error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied
        ) {
          return undefined;
        }
        throw error;
      }
      // Both at once: a plugin may begin to answer before it has read all.
      const [output] = await Promise.all([child.output(), feed(child.stdin, input)]);
      return { code: output.code, output: output.stdout };
    },
    makeWay: async (path) => {
      const directory = /^(.*)[\\/][^\\/]*$/.exec(path)?.[1];
      if (directory) await Deno.mkdir(directory, { recursive: true });
    },
    showProgress: (text) => {
      if (!isTerminal) return;
      const now = performance.now();
      if (text === undefined) {
        if (isShown) tell("\r\x1b[K");
        isShown = false;
        shownAt = now;
      } else if (now - shownAt >= PROGRESS_AFTER_MS) {
        tell(`\r\x1b[K${text} …`);
        isShown = true;
        shownAt = now;
      }
    },
  };
}

/** A plugin that ends without reading has said all it wants to. */
async function feed(stdin: WritableStream<Uint8Array>, input: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(input);
    await writer.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

if (import.meta.main) await main();
