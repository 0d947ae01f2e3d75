/** Calls by gRPC-Web and Connect: deadlines, cancelling, methods of HTTP, and what is never sent twice. */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { create, createRegistry } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http, protoc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { chunked, joined, responseHead, webFrame } from "../../../support/canned_http.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { RawServer, readRequest } from "../../../support/raw_server.ts";

const PROTOCOLS = ["grpc-web", "connect"] as const;
const VERSIONS = ["1.1", "2"] as const;

function serve(handlers: grpc.Handlers): http.HttpServer {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return http.listen({ addr: "127.0.0.1:0", registrar: grpc.mount({ registrar }) });
}

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  return await assertRejects(() => promise, ConnectError) as ConnectError;
}

for (const protocol of PROTOCOLS) {
  for (const httpVersion of VERSIONS) {
    const what = `${protocol} over HTTP/${httpVersion}`;

    Deno.test(`${what}: a deadline goes to the server and holds on both sides`, async () => {
      const left: (number | undefined)[] = [];
      const ended = Promise.withResolvers<void>();
      await using server = serve({
        SayHello: (_: Request, context: grpc.CallContext) => {
          left.push(context.timeoutMs());
          context.signal.addEventListener("abort", () => ended.resolve());
          return new Promise(() => {});
        },
        ListReplies: async function* (_: Request, context: grpc.CallContext) {
          left.push(context.timeoutMs());
          yield { message: "first" };
          await new Promise(() => {});
        },
      });
      await using conn = grpc.newClient({
        targets: [`127.0.0.1:${server.port}`],
        protocol,
        httpVersion,
      });
      const greeter = grpc.newService(conn, GREETER);
      assertEquals((await failure(greeter.SayHello({}, 300))).code, Code.DeadlineExceeded);
      await ended.promise;
      const stream = await greeter.ListReplies({}, 300);
      assertEquals((await stream.read()).message, "first");
      assertEquals((await failure(stream.read())).code, Code.DeadlineExceeded);
      for (const ms of left) assert(ms !== undefined && ms > 0 && ms <= 300, `${ms} ms`);
      assertEquals((await failure(greeter.SayHello({}, 0))).code, Code.DeadlineExceeded);
    });

    Deno.test(`${what}: a call that is given up tells its server`, async () => {
      const begun = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      await using server = serve({
        SayHello: (_: Request, context: grpc.CallContext) => {
          context.signal.addEventListener("abort", () => ended.resolve());
          begun.resolve();
          return new Promise(() => {});
        },
      });
      await using conn = grpc.newClient({
        targets: [`127.0.0.1:${server.port}`],
        protocol,
        httpVersion,
      });
      const controller = new AbortController();
      const call = grpc.newService(conn, GREETER).SayHello({ name: "x" }, {
        signal: controller.signal,
      });
      await begun.promise;
      controller.abort(new Error("enough"));
      assertEquals((await failure(call)).code, Code.Canceled);
      await ended.promise;
    });

    Deno.test(`${what}: a slow reader holds its server back`, async () => {
      let sent = 0;
      await using server = serve({
        async *ListReplies() {
          for (; sent < 400; sent++) yield { payload: new Uint8Array(64 << 10) };
        },
      });
      await using conn = grpc.newClient({
        targets: [`127.0.0.1:${server.port}`],
        protocol,
        httpVersion,
        http2: { streamWindow: 256 << 10 },
      });
      const stream = await grpc.newService(conn, GREETER).ListReplies({}, 60_000);
      await stream.read();
      // It stands still far from the end: what was sent is in the buffers of both systems.
      for (let before = -1; before !== sent;) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert(sent < 390, `${sent} messages of 64 KiB were sent to one who reads none`);
      let read = 1;
      while (await stream.read() !== null) read++;
      assertEquals(read, 400);
    });

    Deno.test(`${what}: messages beyond the limits are refused on both ways`, async () => {
      await using server = serve({
        SayHello: ({ count }: Request) => ({ payload: new Uint8Array(count) }),
      });
      await using conn = grpc.newClient({
        targets: [`127.0.0.1:${server.port}`],
        protocol,
        httpVersion,
        maxReceiveSize: 1000,
        maxSendSize: 1000,
      });
      const greeter = grpc.newService(conn, GREETER);
      assertEquals((await greeter.SayHello({ count: 900 })).payload.length, 900);
      assertEquals((await failure(greeter.SayHello({ count: 1100 }))).code, Code.ResourceExhausted);
      assertEquals(
        (await failure(greeter.SayHello({ payload: new Uint8Array(1100) }))).code,
        Code.ResourceExhausted,
      );
      await assertRejects(() => greeter.SayHello({ count: "many" }), TypeError, "count");
      await assertRejects(() => greeter.SayHello({}, { headers: { "bäd": "x" } }), TypeError);
      assertEquals((await greeter.SayHello({ count: 900 })).payload.length, 900);
    });
  }

  Deno.test(`${protocol}: responses are read on HTTP/1.1 once the requests have ended, and side by side on HTTP/2`, async () => {
    await using server = serve({
      async *Chat(requests: AsyncIterable<Request>) {
        for await (const { name } of requests) yield { message: name };
      },
    });
    for (
      const interceptors of [[], [
        (next) => (request) => next(request),
      ]] as grpc.ClientOptions["interceptors"][]
    ) {
      for (const httpVersion of VERSIONS) {
        await using conn = grpc.newClient({
          targets: [`127.0.0.1:${server.port}`],
          protocol,
          httpVersion,
          interceptors: interceptors!,
        });
        const stream = await grpc.newService(conn, GREETER).Chat(30_000);
        await stream.write({ name: "a" });
        if (httpVersion === "2") assertEquals((await stream.read()).message, "a");
        else {
          const error = await failure(stream.read());
          assertEquals(error.code, Code.FailedPrecondition);
          assert(/closeWrite\(\).*HTTP\/1\.1/.test(error.message), error.message);
        }
        await stream.write({ name: "b" });
        stream.closeWrite();
        const rest: string[] = [];
        for await (const { message } of stream) rest.push(message);
        assertEquals(rest, httpVersion === "2" ? ["b"] : ["a", "b"]);
      }
    }
  });

  Deno.test(`${protocol}: a connection that ends as a request is on it: the call fails, and is not made again`, async () => {
    let requests = 0;
    const good = protocol === "grpc-web"
      ? joined(
        responseHead(200, "content-type: application/grpc-web+proto", "transfer-encoding: chunked"),
        chunked(joined(webFrame(0, ""), webFrame(0x80, "grpc-status: 0\r\n"))),
      )
      : joined(responseHead(200, "content-type: application/proto", "content-length: 0"));
    // The first request on a connection is answered, the second one only read.
    await using server = new RawServer(async (conn) => {
      for (const answer of [good, new Uint8Array(0)]) {
        await readRequest(conn);
        requests++;
        await conn.write(answer);
      }
    });
    await using conn = grpc.newClient({ targets: [server.url], protocol });
    const greeter = grpc.newService(conn, GREETER);
    await greeter.SayHello({}, 30_000);
    const error = await failure(greeter.SayHello({}, 30_000));
    assertEquals(error.code, Code.Unavailable);
    assertInstanceOf(error.cause, grpc.ConnectionLostError);
    assertEquals(error.cause.requestSent, "maybe");
    assertEquals(requests, 2);
    await greeter.SayHello({}, 30_000);
    assertEquals(requests, 3);
  });

  Deno.test(`${protocol}: a service config's policy makes calls again that failed with its codes`, async () => {
    let calls = 0;
    await using server = serve({
      SayHello: () => {
        if (++calls < 3) throw new ConnectError("not yet", Code.Unavailable);
        return { message: "now" };
      },
    });
    await using conn = grpc.newClient({
      targets: [`127.0.0.1:${server.port}`],
      protocol,
      serviceConfig: {
        methodConfig: [{
          name: [{ service: "test.Greeter" }],
          retryPolicy: {
            maxAttempts: 4,
            initialBackoff: "0.001s",
            maxBackoff: "0.01s",
            backoffMultiplier: 1,
            retryableStatusCodes: ["UNAVAILABLE"],
          },
        }],
      },
    });
    assertEquals((await grpc.newService(conn, GREETER).SayHello({}, 30_000)).message, "now");
    assertEquals(calls, 3);
  });

  Deno.test(`${protocol}: a server that does not understand an encoding gets requests without`, async () => {
    const heads: string[] = [];
    const accept = protocol === "connect" ? "accept-encoding" : "grpc-accept-encoding";
    await using server = cannedServerOf(heads, (head) => {
      if (/^(?:grpc|content)-encoding: gzip/im.test(head)) {
        return protocol === "connect"
          ? joined(
            responseHead(
              501,
              "content-type: application/json",
              `${accept}: identity`,
              "content-length: 24",
            ),
            '{"code":"unimplemented"}',
          )
          : joined(
            responseHead(
              200,
              "content-type: application/grpc-web",
              "grpc-status: 12",
              `${accept}: identity`,
              "content-length: 0",
            ),
          );
      }
      return protocol === "connect"
        ? joined(responseHead(200, "content-type: application/proto", "content-length: 0"))
        : joined(
          responseHead(200, "content-type: application/grpc-web", "transfer-encoding: chunked"),
          chunked(joined(webFrame(0, ""), webFrame(0x80, "grpc-status: 0\r\n"))),
        );
    });
    await using conn = grpc.newClient({ targets: [server.url], protocol, compress: true });
    const greeter = grpc.newService(conn, GREETER);
    const payload = new Uint8Array(5000);
    for (let i = 0; i < 2; i++) await greeter.SayHello({ payload }, 30_000);
    assertEquals(heads.map((head) => /^(?:grpc|content)-encoding: gzip/im.test(head)), [
      true,
      false,
      false,
    ]);
  });
}

/** A raw server that answers by what it is asked. */
function cannedServerOf(heads: string[], answer: (head: string) => Uint8Array): RawServer {
  const decoder = new TextDecoder("latin1");
  return new RawServer(async (conn) => {
    const buf = new Uint8Array(65_536);
    for (let text = "";;) {
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
      if (end >= 0 && text.length >= end + 4 + length) {
        heads.push(text.slice(0, end));
        text = "";
        await conn.write(answer(heads.at(-1)!));
        continue;
      }
      const n = await conn.read(buf);
      if (n === null) return;
      text += decoder.decode(buf.subarray(0, n));
    }
  });
}

const LOADED = new protoc.Loader().load(
  `syntax = "proto3";
   package web;
   import "google/protobuf/any.proto";
   message Note { string text = 1; google.protobuf.Any any = 2; }
   message Other { int64 number = 1; }
   service Notes {
     rpc Read(Note) returns (Note) { option idempotency_level = NO_SIDE_EFFECTS; }
     rpc Write(Note) returns (Note);
   }`,
  "web_notes.proto",
);

Deno.test("connect: calls without side effects go by GET where it is asked for, unless they are too long", async () => {
  const asked: string[] = [];
  const registrar = new grpc.Registrar();
  const echo = (
    note: object,
    { requestMethod }: grpc.CallContext,
  ) => (asked.push(requestMethod), note);
  registrar.register(LOADED, { Read: echo, Write: echo });
  await using server = http.listen({ addr: "127.0.0.1:0", registrar: grpc.mount({ registrar }) });
  for (const format of ["binary", "json"] as const) {
    for (const compress of [false, true]) {
      for (const httpGet of [false, true]) {
        asked.length = 0;
        await using conn = grpc.newClient({
          targets: [`127.0.0.1:${server.port}`],
          protocol: "connect",
          format,
          compress,
          httpGet,
        });
        const notes = grpc.newService(conn, LOADED);
        for (const text of ["ä?&=+/ %", "x".repeat(2000), [...Array(9000).keys()].join()]) {
          assertEquals((await notes.Read({ text }, 30_000)).text, text);
        }
        await notes.Write({ text: "y" }, 30_000);
        assertEquals(
          asked,
          httpGet ? ["GET", "GET", "POST", "POST"] : ["POST", "POST", "POST", "POST"],
        );
      }
    }
  }
});

Deno.test("JSON spells out what is in an Any, of types of the file and of those a client is given", async () => {
  const foreign = new protoc.Loader().load(
    `syntax = "proto3"; package far; message Away { bool yes = 1; }`,
    "far.proto",
  );
  const away = foreign.messages[0]!;
  const other = LOADED.messages.find(({ name }) => name === "Other")!;
  const registry = createRegistry(away);
  const registrar = new grpc.Registrar();
  const echo = (note: object) => note;
  registrar.register(LOADED, { Read: echo, Write: echo });
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, registry }),
  });
  for (const protocol of PROTOCOLS) {
    await using conn = grpc.newClient({
      targets: [`127.0.0.1:${server.port}`],
      protocol,
      format: "json",
      registry,
    });
    await using without = grpc.newClient({
      targets: [`127.0.0.1:${server.port}`],
      protocol,
      format: "json",
    });
    const any = anyPack(other, create(other, { number: 5n } as never));
    const read = await grpc.newService(without, LOADED).Read({ any }, 30_000);
    assertEquals(read.any, any);
    const far = anyPack(away, create(away, { yes: true } as never));
    assertEquals((await grpc.newService(conn, LOADED).Read({ any: far }, 30_000)).any, far);
    await assertRejects(
      () => grpc.newService(without, LOADED).Read({ any: far }, 30_000),
      TypeError,
      "far.Away",
    );
  }
});

Deno.test("metadata that are the protocols' own are not sent, and not shown", async () => {
  const seen: Headers[] = [];
  await using server = serve({
    SayHello: (_: Request, context: grpc.CallContext) => {
      seen.push(context.requestHeader);
      context.responseHeader.set("x-own", "1");
      return {};
    },
  });
  for (const protocol of PROTOCOLS) {
    await using conn = grpc.newClient({
      targets: [`127.0.0.1:${server.port}`],
      protocol,
      userAgent: "mine/1",
    });
    let header = new Headers();
    await grpc.newService(conn, GREETER).SayHello({}, {
      timeout: 30_000,
      headers: {
        "content-encoding": "br",
        "accept-encoding": "br",
        "connect-timeout-ms": "1",
        "grpc-timeout": "1m",
        "x-grpc-web": "0",
        "expect": "100-continue",
        "x-mine": "yes",
      },
      onHeader: (headers: Headers) => header = headers,
    });
    const request = seen.pop()!;
    assertEquals(request.get("x-mine"), "yes");
    assert(request.get("user-agent")!.startsWith("mine/1 grpc-typescript-sluice/"));
    assert(!/br\b/.test(request.get("accept-encoding") ?? ""));
    assertEquals(header.get("x-own"), "1");
    assertEquals(
      ["content-length", "content-encoding", "content-type"].filter((name) => header.has(name)),
      [],
    );
  }
});

Deno.test("a call that waited for its server tells it what is left of the time", async () => {
  const heads: string[] = [];
  await using server = cannedServerOf(
    heads,
    () => joined(responseHead(200, "content-type: application/proto", "content-length: 0")),
  );
  const clock = new FakeClock(OVER_SOCKETS);
  let lookups = 0;
  const conn = newClientAt(clock.time, {
    targets: [`late.test:${server.port}`],
    protocol: "connect",
    backoff: { initial: 4000 },
    lookup: () => {
      if (lookups++ === 0) throw new Error("not yet");
      return ["127.0.0.1"];
    },
  });
  const call = grpc.newService(conn, GREETER).SayHello({}, { timeout: 10_000, waitForReady: true });
  await clock.until(call);
  const told = Number(/^connect-timeout-ms: (\d+)/im.exec(heads[0]!)?.[1]);
  assert(told > 4000 && told < 7000, `${told} ms`);
  await clock.until(conn.close());
});
