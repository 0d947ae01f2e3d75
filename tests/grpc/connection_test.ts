import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import { GREETER } from "../../support/greeter.ts";
import { newClientAt } from "../../grpc/client/conn.ts";
import { listenAt } from "../../grpc/server/server.ts";
import { FakeClock, OVER_SOCKETS } from "../../support/fake_clock.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("several targets are called in turn, the first first", async () => {
  const servers = ["a", "b", "c"].map((message) => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, { SayHello: () => ({ message }) });
    return grpc.listen({ addr: "127.0.0.1:0", registrar });
  });
  // However busy the machine is: those that are being opened keep their turn.
  const { time } = new FakeClock();
  const conn = newClientAt(time, { targets: servers.map((server) => server.addr) });
  const greeter = grpc.newService(conn, GREETER);
  const seen: string[] = [];
  for (let i = 0; i < 7; i++) seen.push((await greeter.SayHello({})).message);
  assertEquals(seen.join(""), "abcabca");
  await servers[1]!.close();
  seen.length = 0;
  for (let i = 0; i < 6; i++) seen.push((await greeter.SayHello({})).message);
  assertEquals(new Set(seen), new Set(["a", "c"]));
  await conn.close();
  await Promise.all(servers.map((server) => server.close()));
});

Deno.test("a target that accepts and says nothing fails within connectTimeout", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silent.accept();
  await using conn = grpc.newClient({
    targets: [`127.0.0.1:${silent.addr.port}`],
    connectTimeout: 100,
  });
  const start = performance.now();
  assertEquals(await codeOf(grpc.newService(conn, GREETER).SayHello({})), Code.Unavailable);
  assert(performance.now() - start < 5000);
  (await accepted).close();
  silent.close();
});

Deno.test("a client connects again after its server went away and came back", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({ message: "hi" }) });
  let server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const { addr } = server;
  await using conn = grpc.newClient({ targets: [addr], backoff: { initial: 20 } });
  const greeter = grpc.newService(conn, GREETER);
  assertEquals((await greeter.SayHello({})).message, "hi");
  await server.close();
  const error = await assertRejects(() => greeter.SayHello({}), ConnectError) as ConnectError;
  assertEquals(error.code, Code.Unavailable);
  assert(error.message.includes(addr), error.message);
  server = grpc.listen({ addr, registrar });
  assertEquals((await greeter.SayHello({}, { waitForReady: true, timeout: 5000 })).message, "hi");
  await server.close();
});

Deno.test("close() of a server lets running calls finish and takes no new ones", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: async () => {
      started.resolve();
      await release.promise;
      return { message: "done" };
    },
  });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const greeter = grpc.newService(conn, GREETER);
  const running = greeter.SayHello({});
  await started.promise;
  const closed = server.close();
  // Those that are on their way before the client knows of it are taken.
  let code: Code | undefined;
  do code = await codeOf(greeter.SayHello({}, 50)); while (code === Code.DeadlineExceeded);
  assertEquals(code, Code.Unavailable);
  release.resolve();
  assertEquals((await running).message, "done");
  await closed;
});

Deno.test("close() of a server cuts calls that do not end in time", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const started = Promise.withResolvers<void>();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: () => {
      started.resolve();
      return new Promise(() => {});
    },
  });
  const server = listenAt(clock.time, { addr: "127.0.0.1:0", registrar, drainTimeout: 50_000 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const running = codeOf(grpc.newService(conn, GREETER).SayHello!({}));
  await started.promise;
  const took = await clock.until(server.close());
  assert(took >= 50_000 && took < 51_000, `took ${took} ms`);
  assertEquals(await running, Code.Unavailable);
});

Deno.test("close() of a client ends its calls and refuses new ones", async () => {
  const started = Promise.withResolvers<void>();
  await withGreeter({
    SayHello: () => {
      started.resolve();
      return new Promise(() => {});
    },
  }, async (greeter, conn) => {
    const running = codeOf(greeter.SayHello({}));
    await started.promise;
    await conn.close();
    await conn.close();
    assertEquals(await running, Code.Canceled);
    assertEquals(await codeOf(greeter.SayHello({})), Code.Canceled);
  });
});

Deno.test("a client waits for room when the server allows few streams", async () => {
  let running = 0;
  let most = 0;
  await withGreeter(
    {
      SayHello: async () => {
        most = Math.max(most, ++running);
        await delay(5);
        running--;
        return {};
      },
    },
    async (greeter) => {
      await Promise.all(Array.from({ length: 20 }, () => greeter.SayHello({})));
      assertEquals(most, 2);
    },
    { server: { http2: { maxConcurrentStreams: 2 } } },
  );
});

Deno.test("peers that cannot be reached or speak no HTTP/2 give UNAVAILABLE with host and cause", async () => {
  const http1 = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("x"),
  );
  const junk = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const talking = (async () => {
    const conn = await junk.accept();
    await conn.write(new TextEncoder().encode("SSH-2.0-OpenSSH_9.2\r\n"));
    await conn.read(new Uint8Array(100));
    conn.close();
  })();
  for (
    const [target, words] of [
      ["127.0.0.1:1", "Connection refused"],
      ["name.invalid:1", "dns failed"],
      ["dns://name.invalid:1", "resolved"],
      [`127.0.0.1:${junk.addr.port}`, "HTTP/2"],
    ] as const
  ) {
    await using conn = grpc.newClient({ targets: [target] });
    const error = await assertRejects(
      () => grpc.newService(conn, GREETER).SayHello!({}, 5000),
      ConnectError,
    ) as ConnectError;
    assertEquals(error.code, Code.Unavailable, target);
    assert(error.message.includes(words), `${target}: ${error.message}`);
    assert(error.cause !== undefined, target);
  }
  junk.close();
  await talking;
  await http1.shutdown();
});
