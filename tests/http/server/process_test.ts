import { assert, assertEquals } from "@std/assert";
import { run } from "../../../support/process.ts";
import { GREETER_PROTO } from "../../../support/greeter.ts";

/** Runs a script as a program of its own. It ended `ms` milliseconds after its last line. */
async function program(code: string): Promise<{ stdout: string; ms: number }> {
  const file = await Deno.makeTempFile({
    suffix: ".ts",
    dir: new URL("..", import.meta.url).pathname,
  });
  try {
    await Deno.writeTextFile(file, `${code}\nconsole.log(Date.now());`);
    const result = await run({ command: Deno.execPath(), args: ["run", "-A", "--no-check", file] });
    const ended = Date.now();
    assertEquals(result.code, 0, result.stderr);
    const [, stdout, at] = /^([^]*?)\s*(\d+)\s*$/.exec(result.stdout)!;
    return { stdout: stdout!.trim(), ms: ended - Number(at) };
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
  assert(ms < PROMPT_MS, `it ended ${ms} ms later`);
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

Deno.test("a program ends though its requests ended in every bad way", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of silent) conns.push(conn);
  })();
  const { stdout, ms } = await program(`
    import { http } from "@sluice/sluice";
    const url = "127.0.0.1:${silent.addr.port}";
    const ends = [];
    for (const alpnProtos of [["http/1.1"], ["h2"]]) {
      const client = http.newClient({ alpnProtos, connectTimeout: 100, timeout: 60_000 });
      const get = (url, options) => client.get(url, null, options).catch((e) => ends.push(e.name));
      await get("http://" + url, { timeout: 50 });
      await get("http://" + url, { headTimeout: 50 });
      await get("http://" + url, { signal: AbortSignal.timeout(50) });
      await get("https://" + url);
      await get("http://127.0.0.1:1", { retry: { limit: 1, backoff: 1 } });
    }
    console.log(ends.join(" "));
  `);
  const each = "TimeoutError TimeoutError TimeoutError DialError DialError";
  assertEquals(stdout, `${each} ${each}`);
  // Less than what any limit of the client would end by itself.
  assert(ms < 4000, `it ended ${ms} ms later`);
  silent.close();
  for (const conn of conns) conn.close();
  await accepting;
});
