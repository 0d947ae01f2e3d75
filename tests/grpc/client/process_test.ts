import { assert, assertEquals } from "@std/assert";
import { BlackHole } from "../../../support/black_hole.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER_PROTO } from "../../../support/greeter.ts";
import { freePort } from "../../../support/ports.ts";
import { run } from "../../../support/process.ts";

/** Runs a script as a program of its own; returns what it printed and how long it took. */
async function program(code: string): Promise<{ stdout: string; stderr: string; ms: number }> {
  const dir = new URL(".", import.meta.url).pathname;
  const file = await Deno.makeTempFile({ suffix: ".ts", dir });
  try {
    await Deno.writeTextFile(
      file,
      `import { grpc, protoc } from "@sluice/sluice";
       const file = new protoc.Loader().load(${JSON.stringify(GREETER_PROTO)}, "g.proto");
       ${code}`,
    );
    const start = performance.now();
    const result = await run({ command: Deno.execPath(), args: ["run", "-A", "--no-check", file] });
    assertEquals(result.code, 0, result.stderr);
    return { ...result, stdout: result.stdout.trim(), ms: performance.now() - start };
  } finally {
    await Deno.remove(file);
  }
}

/** Far more than a program needs that does not wait, less than connecting may take. */
const PROMPT_MS = 15_000;

Deno.test("a client that is never used keeps no program and says nothing", async () => {
  await using hole = await BlackHole.open();
  await using silent = new FaultProxy({ target: hole.endpoint });
  silent.mode = "hold";
  const targets = [
    hole.endpoint,
    silent.endpoint,
    `127.0.0.1:${freePort()}`,
    "dns://name.invalid:1",
  ];
  const { stdout, stderr, ms } = await program(`
    for (const target of ${JSON.stringify(targets)}) grpc.newClient({ targets: [target] });
    grpc.newClient({ targets: ${JSON.stringify(targets)} });
    console.log("over");
  `);
  assertEquals([stdout, stderr], ["over", ""]);
  assert(ms < PROMPT_MS, `it took ${ms} ms`);
});

Deno.test("promises of calls that nobody awaits end no program", async () => {
  const { stdout } = await program(`
    const registrar = new grpc.Registrar();
    registrar.register(file, {
      SayHello: () => { throw new Error("x"); },
      async *Chat() { throw new Error("x"); },
    });
    const server = grpc.listen({
      addr: "127.0.0.1:0", registrar, onError: () => {}, drainTimeout: 100,
    });
    const interceptors = [(next) => (request) => next(request)];
    for (const options of [{}, { interceptors }]) {
      for (const target of [server.addr, "127.0.0.1:${freePort()}"]) {
        const conn = grpc.newClient({ targets: [target], ...options });
        const greeter = grpc.newService(conn, file);
        greeter.SayHello({});
        greeter.SayHello({ nope: 1 });
        greeter.SayHello({}, { nope: 1 });
        greeter.Chat();
        const [chat] = await grpc.attempt(greeter.Chat());
        if (chat !== undefined) {
          chat.read();
          chat.read(5);
          chat.read(-1);
          chat.header;
          chat.write({});
          chat.write({ nope: 1 });
          await new Promise((resolve) => setTimeout(resolve, 100));
          chat.write({});
          chat.read();
          chat.header;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
        await conn.close();
      }
    }
    await server.close();
    console.log("alive");
  `);
  assertEquals(stdout, "alive");
});
