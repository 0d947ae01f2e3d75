/** Servers on Unix sockets: files of sockets that are left over, who may connect, names of peers. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { grpc, http, kv } from "@sluice/sluice";
import { listen as listenStore } from "@sluice/sluice/kv/server";
import { GREETER } from "../../../support/greeter.ts";
import { peerTest } from "../../../support/peers.ts";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";

async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(`${folder}/s`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function serve(addr: string, options: Partial<http.ServerOptions> = {}): http.HttpServer {
  return http.listen({
    addr,
    handler: (stream) => {
      stream.respond(200);
      stream.closeWrite(`${stream.remoteAddr} at ${stream.localAddr}`);
    },
    limits: { drainTimeout: 500 },
    ...options,
  });
}

async function ask(unixSocket: string): Promise<string> {
  await using client = http.newClient({ unixSocket });
  return String((await client.get("http://any.example/")).body);
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Leaves a socket's file behind, as a process that is killed does. */
async function desert(path: string): Promise<void> {
  const code = `Deno.listen({ transport: "unix", path: ${JSON.stringify(path)} }); Deno.exit(0);`;
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  assertEquals([success, exists(path)], [true, true]);
}

Deno.test("a server on a Unix socket is asked by path or address, and its file goes with it", async () => {
  await inFolder(async (path) => {
    const server = serve(`unix:${path}`);
    assertEquals([server.addr, server.port], [`unix:${path}`, 0]);
    assertEquals(await ask(path), `unix:${path}#1 at unix:${path}`);
    assertEquals(await ask(`unix://${path}`), `unix:${path}#2 at unix:${path}`);
    await server.close();
    assertEquals(exists(path), false);
    await assertRejects(() => ask(path), http.DialError, `unix:${path}`);
  });
});

Deno.test("HTTP/1.1 and HTTP/2 share a Unix socket", async () => {
  await inFolder(async (path) => {
    await using _ = serve(`unix:${path}`, {
      handler: (stream) => new Response(stream.version),
    });
    for (const [version, alpnProtos] of [["HTTP/1.1", ["http/1.1"]], ["HTTP/2", ["h2"]]] as const) {
      await using client = http.newClient({ unixSocket: path, alpnProtos });
      assertEquals(String((await client.get("http://any.example/")).body), version);
    }
  });
});

Deno.test("the file of a socket nobody listens on is replaced", async () => {
  await inFolder(async (path) => {
    await desert(path);
    await using _ = serve(`unix:${path}`);
    assertEquals(await ask(path), `unix:${path}#1 at unix:${path}`);
    const left = await Array.fromAsync(Deno.readDir(path.slice(0, -2)));
    assertEquals(left.map(({ name }) => name), ["s"]);
  });
});

Deno.test("a socket somebody listens on is left alone, and serves on", async () => {
  await inFolder(async (path) => {
    await using first = serve(`unix:${path}`);
    const error = assertThrows(() => serve(`unix:${path}`), Deno.errors.AddrInUse);
    assertEquals(
      error.message,
      `Cannot listen on unix:${path}: somebody listens there`,
    );
    assertEquals(await ask(first.addr), `unix:${path}#2 at unix:${path}`);
  });
});

Deno.test("files that are no sockets, and links to sockets, are never replaced", async () => {
  await inFolder(async (path) => {
    await desert(`${path}1`);
    await Deno.symlink(`${path}1`, `${path}2`);
    await Deno.writeTextFile(`${path}3`, "precious");
    await Deno.mkdir(`${path}4`);
    for (const at of [2, 3, 4]) {
      assertThrows(
        () => serve(`unix:${path}${at}`),
        Deno.errors.AddrInUse,
        "the file there is no socket",
      );
    }
    assertEquals(await Deno.readTextFile(`${path}3`), "precious");
    assertEquals((await Deno.lstat(`${path}2`)).isSymlink, true);
  });
});

Deno.test("what was put in the place of a socket's file is not removed with the server", async () => {
  await inFolder(async (path) => {
    const server = serve(`unix:${path}`);
    await Deno.remove(path);
    await Deno.writeTextFile(path, "precious");
    await server.close();
    assertEquals(await Deno.readTextFile(path), "precious");
  });
});

Deno.test("of servers that find a deserted file at once one gets it, and the others say so", async () => {
  await inFolder(async (path) => {
    await desert(path);
    const code = `
      import { http } from "@sluice/sluice";
      try {
        const server = http.listen({ addr: ${
      JSON.stringify(`unix:${path}`)
    }, handler: () => new Response("here") });
        console.log("listens");
        await new Promise((resolve) => Deno.stdin.read(new Uint8Array(1)).then(resolve));
        await server.close();
      } catch (error) {
        console.log(error instanceof Deno.errors.AddrInUse ? "in use" : String(error));
      }`;
    const file = `${path}.ts`;
    await Deno.writeTextFile(file, code);
    const root = new URL("../../../", import.meta.url).pathname;
    const children = [1, 2, 3].map(() =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "-q", "--no-check", `--config=${root}deno.json`, file],
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn()
    );
    const readers = children.map(({ stdout }) => stdout.getReader());
    const said = await Promise.all(
      readers.map(async (reader) => new TextDecoder().decode((await reader.read()).value).trim()),
    );
    assertEquals(said.toSorted(), ["in use", "in use", "listens"]);
    await using client = http.newClient({ unixSocket: path });
    assertEquals(String((await client.get("http://any.example/")).body), "here");
    for (const [i, child] of children.entries()) {
      await child.stdin.close();
      await readers[i]!.cancel();
      await child.status;
    }
  });
});

Deno.test("socketMode says who may connect", async () => {
  await inFolder(async (path) => {
    for (const socketMode of [0o600, 0o660, 0o777]) {
      await using _ = serve(`unix:${path}`, { socketMode });
      assertEquals((await Deno.lstat(path)).mode! & 0o777, socketMode);
    }
  });
});

Deno.test({
  name: "an abstract name of Linux needs no file",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const addr = `unix-abstract:sluice-${crypto.randomUUID()}`;
    await using server = serve(addr);
    assertEquals(server.addr, addr);
    assertEquals(await ask(addr), `${addr}#1 at ${addr}`);
    assertThrows(() => serve(addr), Deno.errors.AddrInUse, `Cannot listen on ${addr}`);
  },
});

peerTest("TLS is spoken on a Unix socket as on a port", { needs: [OPENSSL] }, async () => {
  await inFolder(async (path) => {
    await using certificate = await makeCertificate();
    const { ca, cert, key } = certificate;
    await using _ = serve(`unix:${path}`, { tls: true, certs: [{ cert, key }] });
    await using client = http.newClient({ unixSocket: path, caCerts: [ca] });
    const body = String((await client.get("https://localhost/")).body);
    assertEquals(body, `unix:${path}#1 at unix:${path}`);
  });
});

Deno.test("gRPC and etcd's API are served on Unix sockets", async () => {
  await inFolder(async (path) => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, { SayHello: (_, { peer }) => ({ message: peer }) });
    await using server = grpc.listen({ addr: `unix:${path}`, registrar });
    await using conn = grpc.newClient({ targets: [server.addr] });
    const { message } = await grpc.newService(conn, GREETER).SayHello({});
    assertEquals(message, `unix:${path}#1`);

    await using store = listenStore({ addr: `unix:${path}.store` });
    await using client = kv.newClient({ endpoints: store.addr });
    await client.put({ key: "a", value: "b" });
    assertEquals((await client.get({ key: "a" })).count, 1);
  });
});

Deno.test("addresses of Unix sockets and modes that cannot be used are refused in words", async () => {
  await inFolder((path) => {
    for (
      const [options, words] of [
        [{ addr: "unix:" }, "unix:/path"],
        [{ addr: "unix-abstract:" }, "unix-abstract:name"],
        [{ addr: "unix:/a\0b" }, "unix:/path"],
        [{ addr: `unix:${path}`, socketMode: 0o1000 }, "socketMode"],
        [{ addr: "127.0.0.1:0", socketMode: 0o600 }, "socketMode"],
        [{ addr: "unix-abstract:a", socketMode: 0o600 }, "socketMode"],
        [{ addr: `unix:${path}${"x".repeat(200)}` }, "Cannot listen on unix:"],
      ] as const
    ) {
      assertThrows(() => serve(options.addr, options), TypeError, words);
    }
    assertThrows(
      () => serve(`unix:${path}/no/such`),
      Deno.errors.NotFound,
      "Cannot listen on unix:",
    );
    return Promise.resolve();
  });
});
