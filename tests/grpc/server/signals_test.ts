/** Servers that are told to end by signals, as processes of their own. */
import { assertEquals, assertThrows } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { GREETER } from "../../../support/greeter.ts";
import { codeOf } from "../../../support/with_greeter.ts";

const ROOT = new URL("../../../", import.meta.url);

/** A server whose calls take 20 ms, or with a name for ever. */
const PROGRAM = `
import { grpc } from "@sluice/sluice";
import { GREETER } from "${new URL("support/greeter.ts", ROOT)}";
const registrar = new grpc.Registrar();
registrar.register(GREETER, {
  SayHello: ({ name }) =>
    new Promise((resolve) => name === "" ? setTimeout(resolve, 20, { message: "done" }) : null),
});
const health = new grpc.Health().register(registrar);
const [delay, drainTimeout] = Deno.args.map(Number);
const server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout });
const closing = grpc.closeOnSignals(server, {
  health,
  delay,
  onSignal: (signal) => console.log("got " + signal),
});
closing.closed.then((signal) => console.log("closed by " + signal));
console.log(server.addr);
`;

class Child implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(delay: number, drainTimeout: number) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "-q",
        "--no-check",
        `--config=${new URL("deno.json", ROOT).pathname}`,
        `data:application/typescript,${encodeURIComponent(PROGRAM)}`,
        String(delay),
        String(drainTimeout),
      ],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#lines = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next line it prints; null at its end. */
  async line(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        return line;
      }
      const { done, value } = await this.#lines.read();
      if (done) return null;
      this.#rest += value;
    }
  }

  kill(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  get status(): Promise<Deno.CommandStatus> {
    return this.#process.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.cancel();
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // Gone already.
    }
    await this.#process.status;
  }
}

Deno.test("a signal ends one of two servers under load, and no call is lost", async () => {
  await using one = new Child(150, 5000);
  await using other = new Child(0, 5000);
  const targets = [(await one.line())!, (await other.line())!];
  await using conn = grpc.newClient({ targets });
  const greeter = grpc.newService(conn, GREETER);
  await using direct = grpc.newClient({ targets: [targets[0]!] });
  let calls = 0;
  let running = true;
  const load = Array.from({ length: 16 }, async () => {
    while (running) {
      assertEquals((await greeter.SayHello({}, { waitForReady: true })).message, "done");
      calls++;
    }
  });
  const until = async (n: number) => {
    const wanted = calls + n;
    while (calls < wanted) await greeter.SayHello({}, { waitForReady: true });
  };
  await until(50);
  one.kill("SIGTERM");
  assertEquals(await one.line(), "got SIGTERM");
  // It still serves while others learn of it.
  assertEquals((await grpc.newService(direct, GREETER).SayHello({})).message, "done");
  assertEquals(await one.line(), "closed by SIGTERM");
  await until(50);
  running = false;
  await Promise.all(load);
  assertEquals([await one.line(), (await one.status).code], [null, 0]);
});

Deno.test("calls that do not end are cut at the drain timeout", async () => {
  await using child = new Child(0, 100);
  await using conn = grpc.newClient({ targets: [(await child.line())!] });
  const greeter = grpc.newService(conn, GREETER);
  await greeter.SayHello({});
  const call = codeOf(greeter.SayHello({ name: "for ever" }));
  await greeter.SayHello({});
  child.kill("SIGINT");
  assertEquals(await child.line(), "got SIGINT");
  assertEquals(await call, Code.Unavailable);
  assertEquals(await child.line(), "closed by SIGINT");
  assertEquals((await child.status).code, 0);
});

Deno.test("a second signal ends the process at once", async () => {
  await using child = new Child(600_000, 0);
  await child.line();
  child.kill("SIGTERM");
  assertEquals(await child.line(), "got SIGTERM");
  child.kill("SIGINT");
  assertEquals((await child.status).code, 130);
});

Deno.test("a signal turns health off, waits, and closes all servers", async () => {
  const health = new grpc.Health();
  const events: string[] = [];
  const server = (name: string) => ({
    close() {
      events.push(`${name} closes, ${health.get("")}`);
      return Promise.resolve();
    },
  });
  using closing = grpc.closeOnSignals([server("a"), server("b")], {
    signals: ["SIGUSR2"],
    health,
    delay: 1,
    onSignal: () => void events.push(`signal, ${health.get("")}`),
  });
  // Listeners of signals keep no process from ending.
  const hold = setTimeout(() => {}, 60_000);
  Deno.kill(Deno.pid, "SIGUSR2");
  assertEquals(await closing.closed, "SIGUSR2");
  clearTimeout(hold);
  assertEquals(events, ["signal, SERVING", "a closes, NOT_SERVING", "b closes, NOT_SERVING"]);
});

Deno.test("what cannot be closed on signals is refused in words", () => {
  const server = { close: () => Promise.resolve() };
  for (
    const [servers, options, words] of [
      [[], {}, "servers must be"],
      [{}, {}, "servers must be"],
      [server, { signals: [] }, "signals must be"],
      [server, { signals: ["SIGKILL"] }, "signals"],
      [server, { delay: -1 }, "delay"],
      [server, { health: {} }, "health must be a Health"],
      [server, { wait: 1 }, "wait"],
    ] as const
  ) {
    assertThrows(() => grpc.closeOnSignals(servers as never, options as never), TypeError, words);
  }
});
