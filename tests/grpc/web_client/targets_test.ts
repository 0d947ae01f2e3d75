/** Where clients of gRPC-Web and Connect find their servers. */
import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { peerTest } from "../../../support/peers.ts";
import { freePort } from "../../../support/ports.ts";

const PROTOCOLS = ["grpc-web", "connect"] as const;

function mounted(name: string): { registrar: http.Mountable } {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (request: Request) => ({ message: `${name} ${request.name}` }),
    async *ListReplies() {
      yield { message: name };
    },
  });
  return { registrar: grpc.mount({ registrar }) };
}

function serve(name: string, addr = "127.0.0.1:0"): http.HttpServer {
  return http.listen({ addr, ...mounted(name) });
}

async function said(
  conn: grpc.Conn,
  options: grpc.CallOptions = { timeout: 30_000 },
): Promise<string> {
  return (await grpc.newService(conn, GREETER).SayHello({}, options)).message.trim();
}

for (const protocol of PROTOCOLS) {
  Deno.test(`${protocol}: a target may have a path, which stands before that of each method`, async () => {
    const paths: string[] = [];
    await using back = serve("deep");
    await using front = http.listen({
      addr: "127.0.0.1:0",
      async handler(stream) {
        paths.push(stream.path);
        // As a proxy that takes its own part off the path.
        const client = http.newClient();
        const answer = await client.send(
          "POST",
          `http://127.0.0.1:${back.port}${stream.path.slice(2)}`,
          {
            headers: Object.fromEntries(
              [...Object.entries(stream.header)].filter(([name]) =>
                !/^(?:host|content-length|:.*)$/.test(name)
              ),
            ) as Record<string, string>,
            body: await stream.readBytes(),
            decompress: false,
          },
        );
        const body = await answer.readBytes();
        await stream.respond(answer.status, answer.header);
        await stream.write(body);
        stream.closeWrite();
        await client.close();
      },
    });
    for (const path of ["/a", "/a/"]) {
      await using conn = grpc.newClient({
        targets: [`http://127.0.0.1:${front.port}${path}`],
        protocol,
      });
      assertEquals(await said(conn), "deep");
    }
    assertEquals(paths, ["/a/test.Greeter/SayHello", "/a/test.Greeter/SayHello"]);
  });

  Deno.test(`${protocol}: calls go to the targets in turn, past those that are not there`, async () => {
    await using a = serve("a");
    await using b = serve("b");
    const gone = `127.0.0.1:${freePort()}`;
    await using conn = grpc.newClient({
      targets: [`127.0.0.1:${a.port}`, gone, `http://127.0.0.1:${b.port}`],
      protocol,
      backoff: { initial: 60_000 },
    });
    let names = "";
    for (let i = 0; i < 8; i++) names += await said(conn);
    assertEquals(names, "abababab");
    conn.setTargets([`127.0.0.1:${b.port}`]);
    assertEquals(await said(conn), "b");
    assertThrows(() => conn.setTargets(["dns:///x:1"]), TypeError, "names up itself");
    assertEquals(await said(conn), "b");
  });

  Deno.test(`${protocol}: a call fails when no target can be reached, with the reason, and nothing was sent`, async () => {
    const gone = [`127.0.0.1:${freePort()}`, `127.0.0.1:${freePort()}`];
    await using conn = grpc.newClient({ targets: gone, protocol });
    for (let i = 0; i < 2; i++) {
      const error = await assertRejects(() => said(conn), ConnectError) as ConnectError;
      assertEquals(error.code, Code.Unavailable);
      assertInstanceOf(error.cause, grpc.DialError);
    }
    const stream = await grpc.newService(conn, GREETER).Chat().catch((error: unknown) => error);
    if (stream instanceof grpc.CallStream) {
      await assertRejects(() => stream.read(), ConnectError, "Cannot connect");
    } else assertInstanceOf(stream, ConnectError);
  });

  Deno.test(`${protocol}: a call that waits for readiness begins when its server is there`, async () => {
    const port = freePort();
    const clock = new FakeClock(OVER_SOCKETS);
    const conn = newClientAt(clock.time, { targets: [`127.0.0.1:${port}`], protocol });
    const options = { waitForReady: true, timeout: 60_000 };
    const waiting = said(conn, options);
    const stream = grpc.newService(conn, GREETER).ListReplies({}, options);
    assert(!await clock.within(10_000, waiting));
    const server = listenAt(clock.time, { addr: `127.0.0.1:${port}`, ...mounted("late") });
    await clock.until(waiting);
    assertEquals(await waiting, "late");
    await clock.until(stream);
    const opened = await stream;
    const first = opened.read();
    await clock.until(first);
    assertEquals((await first)?.message, "late");
    opened.close();
    await clock.until(conn.close().then(() => server.close()));
  });

  Deno.test(`${protocol}: a call that waits for readiness ends with its deadline`, async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    const conn = newClientAt(clock.time, { targets: [`127.0.0.1:${freePort()}`], protocol });
    const waiting = said(conn, { waitForReady: true, timeout: 5000 });
    await clock.until(waiting.catch(() => {}));
    const error = await assertRejects(() => waiting, ConnectError) as ConnectError;
    assertEquals(error.code, Code.DeadlineExceeded);
    // Nothing is left behind.
    await clock.until(conn.close());
    assertEquals(clock.waiting, 0);
  });

  Deno.test(`${protocol}: servers in memory and on Unix sockets`, async () => {
    const path = await Deno.makeTempFile();
    await Deno.remove(path);
    await using memory = serve("memory", "memory:");
    await using unix = serve("unix", `unix:${path}`);
    for (const httpVersion of ["1.1", "2"] as const) {
      await using conn = grpc.newClient({
        targets: [memory.addr, `unix:${path}`],
        protocol,
        httpVersion,
      });
      assertEquals([await said(conn), await said(conn)], ["memory", "unix"]);
    }
    assertEquals(unix.addr, `unix:${path}`);
  });

  peerTest(
    `${protocol}: servers with TLS, by the version they choose`,
    { needs: [OPENSSL] },
    async () => {
      await using certificate = await makeCertificate();
      await using server = http.listen({
        addr: "127.0.0.1:0",
        ...mounted("safe"),
        tls: true,
        certs: [{ cert: certificate.cert, key: certificate.key }],
      });
      const address = `localhost:${server.port}`;
      for (const target of [address, `https://${address}`]) {
        for (const options of [{}, { httpVersion: "1.1" }, { httpVersion: "2" }] as const) {
          await using conn = grpc.newClient({
            targets: [target],
            protocol,
            tls: { caCerts: [certificate.ca] },
            ...options,
          });
          assertEquals(await said(conn), "safe");
        }
      }
      await using conn = grpc.newClient({ targets: [`https://${address}`], protocol });
      const error = await assertRejects(() => said(conn), ConnectError) as ConnectError;
      assertEquals(error.code, Code.Unavailable);
      assert(/tls failed: .*UnknownIssuer/.test(error.message), error.message);
    },
  );

  Deno.test(`${protocol}: close() ends calls that run or wait with CANCELLED, and later ones`, async () => {
    const reached = Promise.withResolvers<void>();
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, {
      SayHello: () => (reached.resolve(), new Promise(() => {})),
    });
    await using server = http.listen({ addr: "127.0.0.1:0", registrar: grpc.mount({ registrar }) });
    const target = `127.0.0.1:${server.port}`;
    const conn = grpc.newClient({ targets: [target], protocol });
    const other = grpc.newClient({ targets: [`127.0.0.1:${freePort()}`], protocol });
    const calls = [said(conn), said(other, { waitForReady: true })];
    await reached.promise;
    await Promise.all([conn.close(), other.close()]);
    for (const call of [...calls, said(conn)]) {
      const error = await assertRejects(() => call, ConnectError, "closed") as ConnectError;
      assertEquals(error.code, Code.Canceled);
    }
    await conn.close();
  });
}

Deno.test("targets and options that do not go with the protocol are refused by name", () => {
  const make = (options: Record<string, unknown>) => () =>
    grpc.newClient({ targets: ["h:1"], ...options } as unknown as grpc.ClientOptions);
  const cases: readonly (readonly [options: Record<string, unknown>, says: string])[] = [
    [{ protocol: "grpcweb" }, "protocol"],
    [{ protocol: "grpc", format: "json" }, 'format must be "binary"'],
    [{ httpVersion: "1.1" }, 'httpVersion must be "2"'],
    [{ protocol: "connect", httpVersion: "3" }, "httpVersion"],
    [{ protocol: "connect", format: "text" }, "format"],
    [{ protocol: "grpc-web", httpGet: true }, "httpGet"],
    [{ protocol: "connect", httpGet: 1 }, "httpGet"],
    [{ protocol: "connect", registry: {} }, "registry"],
    [{ protocol: "connect", format: "json", registry: {} }, "registry"],
    [{ protocol: "connect", onConnection: () => {} }, "onConnection"],
    [{ protocol: "connect", resolve: {} }, "resolve"],
    [{ protocol: "connect", targets: [] }, "targets"],
    [{ protocol: "connect", targets: ["dns:///h:1"] }, "names up itself"],
    [{ protocol: "connect", targets: ["nohost"] }, "base URL"],
    [{ protocol: "connect", targets: ["ftp://h/"] }, "base URL"],
    [{ protocol: "connect", targets: ["http://"] }, "base URL"],
    [{ protocol: "connect", targets: ["http://h/?q"] }, "query"],
    [{ protocol: "connect", targets: ["https://user:secret@h/"] }, "user"],
    [{ protocol: "connect", targets: ["http://h/"], tls: true }, "https://"],
    [{ protocol: "connect", targets: [5] }, "base URL"],
  ];
  for (const [options, says] of cases) {
    const error = assertThrows(make(options), TypeError, says, JSON.stringify(options));
    assert(!error.message.includes("secret"));
  }
});

Deno.test("interceptors see the protocol and the URL; a Conn is a Transport by every protocol", async () => {
  await using server = serve("x");
  for (const protocol of PROTOCOLS) {
    const seen: unknown[] = [];
    await using conn = grpc.newClient({
      targets: [`http://127.0.0.1:${server.port}`],
      protocol,
      interceptors: [(next) => (request) => {
        seen.push(request.contextValues.get(grpc.CALL)?.protocolName, request.url);
        return next(request);
      }],
    });
    const method = GREETER.services[0]!.method["sayHello"]! as never;
    const values = createContextValues();
    const { message } = await conn.unary(method, undefined, 1000, undefined, { name: "t" }, values);
    assertEquals((message as unknown as { message: string }).message, "x t");
    assertEquals(seen, [protocol, `http://127.0.0.1:${server.port}/test.Greeter/SayHello`]);
  }
});
