import { assert, assertEquals } from "@std/assert";
import { run } from "../support/process.ts";
import { GREETER_PROTO } from "../support/greeter.ts";

/** Runs a script as a program of its own; returns what it printed and how long it took. */
async function program(code: string): Promise<{ stdout: string; ms: number }> {
  const file = await Deno.makeTempFile({
    suffix: ".ts",
    dir: new URL(".", import.meta.url).pathname,
  });
  try {
    await Deno.writeTextFile(file, code);
    const start = performance.now();
    const result = await run({ command: Deno.execPath(), args: ["run", "-A", "--no-check", file] });
    assertEquals(result.code, 0, result.stderr);
    return { stdout: result.stdout.trim(), ms: performance.now() - start };
  } finally {
    await Deno.remove(file);
  }
}

/** Far more than a program needs that does not wait, far less than an idle timeout. */
const PROMPT_MS = 15_000;

Deno.test("a program ends though it left idle client connections open", async () => {
  const other = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("hi"),
  );
  const { grpc, protoc } = await import("@sluice/sluice");
  const registrar = new grpc.Registrar();
  registrar.register(new protoc.Loader().load(GREETER_PROTO, "g.proto"), {
    SayHello: () => ({ message: "hello" }),
  });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  const { stdout, ms } = await program(`
    import { grpc, http, protoc } from "@sluice/sluice";
    const file = new protoc.Loader().load(${JSON.stringify(GREETER_PROTO)}, "g.proto");
    const conn = grpc.newClient({ targets: ["${server.addr}"], keepalive: { interval: 20_000 } });
    const { message } = await grpc.newService(conn, file).SayHello({}, 10_000);
    const { body } = await http.get("http://127.0.0.1:${other.addr.port}/");
    console.log(message, body);
  `);
  assertEquals(stdout, "hello hi");
  assert(ms < PROMPT_MS, `it took ${ms} ms`);
  await server.close();
  await other.shutdown();
});

Deno.test("a program waits for what it awaits, with nothing else to keep it alive", async () => {
  const { stdout } = await program(`
    import { grpc, protoc } from "@sluice/sluice";
    const file = new protoc.Loader().load(${JSON.stringify(GREETER_PROTO)}, "g.proto");
    const conn = grpc.newClient({ targets: ["127.0.0.1:1"] });
    const call = grpc.newService(conn, file).SayHello({}, { timeout: 700, waitForReady: true });
    const [, error] = await grpc.attempt(call);
    console.log(error.message);
  `);
  assertEquals(stdout, "[deadline_exceeded] the deadline passed");
});
