import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createTransport as connectTransport } from "@connectrpc/connect/protocol-connect";
import { createTransport as grpcWebTransport } from "@connectrpc/connect/protocol-grpc-web";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { delay } from "@std/async";
import { grpc, http } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";

// deno-lint-ignore no-explicit-any
type Client = any;

/** How a browser calls: Connect's own client of each protocol over `fetch`. */
const TRANSPORTS = { connect: connectTransport, "grpc-web": grpcWebTransport };
type Protocol = keyof typeof TRANSPORTS;
const PROTOCOLS = Object.keys(TRANSPORTS) as Protocol[];

function clientOf(protocol: Protocol, addr: string, json = false): Client {
  return createClient(
    GREETER.services[0]!,
    TRANSPORTS[protocol]({
      baseUrl: `http://${addr}`,
      httpClient: createFetchClient(fetch),
      useBinaryFormat: !json,
      interceptors: [],
      acceptCompression: [],
      sendCompression: null,
      compressMinBytes: 1024,
      readMaxBytes: 0xffffffff,
      writeMaxBytes: 0xffffffff,
    }),
  );
}

async function withServer(
  handlers: grpc.Handlers,
  run: (addr: string) => Promise<void>,
  settings: Partial<grpc.MountOptions> = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, ...settings }),
    handler: (stream) => new Response(`not a call: ${stream.method}`),
    limits: { drainTimeout: 500 },
  });
  await run(server.addr);
}

async function errorOf(promise: Promise<unknown>): Promise<ConnectError> {
  const error = await assertRejects(() => promise);
  assertInstanceOf(error, ConnectError);
  return error;
}

async function collect(messages: AsyncIterable<{ message: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { message } of messages) all.push(message);
  return all;
}

Deno.test("one port serves gRPC, gRPC-Web, Connect and other requests by the same registration", async () => {
  const seen: string[] = [];
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: ({ name }: Request, context: grpc.CallContext) => {
      seen.push(context.protocolName);
      return { message: `Hello ${name}` };
    },
  });
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar,
    handler: () => new Response("a page"),
  });
  for (const protocol of PROTOCOLS) {
    const client = clientOf(protocol, server.addr);
    assertEquals((await client.sayHello({ name: protocol })).message, `Hello ${protocol}`);
  }
  await using conn = grpc.newClient({ targets: [server.addr] });
  const greeter = grpc.newService(conn, GREETER);
  assertEquals((await greeter.SayHello({ name: "gRPC" })).message, "Hello gRPC");
  assertEquals(await (await fetch(`http://${server.addr}/`)).text(), "a page");
  assertEquals(seen, ["connect", "grpc-web", "grpc"]);
});

for (const protocol of PROTOCOLS) {
  Deno.test(`${protocol}: streams, JSON and errors with their metadata come through`, async () => {
    await withServer({
      async *ListReplies({ count }: Request, context: grpc.CallContext) {
        context.responseHeader.set("x-count", String(count));
        context.responseTrailer.set("x-after", "done");
        for (let i = 0; i < count; i++) yield { message: String(i) };
      },
      SayHello: ({ name }: Request, { requestHeader }: grpc.CallContext) => {
        throw new ConnectError(`no ${name}`, Code.NotFound, {
          "x-asked": requestHeader.get("x-ask")!,
        });
      },
    }, async (addr) => {
      for (const json of [false, true]) {
        const client = clientOf(protocol, addr, json);
        let header = new Headers();
        let trailer = new Headers();
        const replies = client.listReplies({ count: 3 }, {
          onHeader: (headers: Headers) => header = headers,
          onTrailer: (headers: Headers) => trailer = headers,
        });
        assertEquals(await collect(replies), ["0", "1", "2"]);
        assertEquals([header.get("x-count"), trailer.get("x-after")], ["3", "done"]);
        const error = await errorOf(
          client.sayHello({ name: "me" }, { headers: { "x-ask": "yes" } }),
        );
        assertEquals([error.code, error.rawMessage], [Code.NotFound, "no me"]);
        assertEquals(error.metadata.get("x-asked"), "yes");
      }
    });
  });

  Deno.test(`${protocol}: an exception becomes UNKNOWN, does not leak its text, and is reported`, async () => {
    const told: unknown[] = [];
    await withServer(
      {
        SayHello: () => {
          throw new Error("secret");
        },
        // deno-lint-ignore require-yield
        async *ListReplies() {
          throw new Error("secret");
        },
      },
      async (addr) => {
        const client = clientOf(protocol, addr);
        for (const call of [() => client.sayHello({}), () => collect(client.listReplies({}))]) {
          const error = await errorOf(call());
          assertEquals(error.code, Code.Unknown);
          assert(!error.message.includes("secret"));
        }
      },
      { onError: (error, method) => told.push([(error as Error).message, method]) },
    );
    assertEquals(told, [["secret", "/test.Greeter/SayHello"], [
      "secret",
      "/test.Greeter/ListReplies",
    ]]);
  });

  Deno.test(`${protocol}: a handler that ignores its signal does not outlast the deadline`, async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => release = resolve);
    await withServer({
      SayHello: async () => {
        await held;
        return {};
      },
    }, async (addr) => {
      // The deadline as the wire has it: a client of its own would not wait for the answer.
      const [type, header] = protocol === "connect"
        ? ["application/proto", { "connect-timeout-ms": "50" }]
        : ["application/grpc-web+proto", { "grpc-timeout": "50m" }];
      const response = await fetch(`http://${addr}/test.Greeter/SayHello`, {
        method: "POST",
        headers: { "content-type": type, ...header },
        body: protocol === "connect" ? new Uint8Array() : new Uint8Array(5),
      });
      const text = await response.text();
      assert(/deadline_exceeded|grpc-status: 4/.test(text), text);
      release();
    });
  });

  Deno.test(`${protocol}: a method without handler is UNIMPLEMENTED, a large request RESOURCE_EXHAUSTED`, async () => {
    await withServer(
      { SayHello: () => ({}) },
      async (addr) => {
        const client = clientOf(protocol, addr);
        assertEquals((await errorOf(collect(client.listReplies({})))).code, Code.Unimplemented);
        const payload = new Uint8Array(2000);
        assertEquals((await errorOf(client.sayHello({ payload }))).code, Code.ResourceExhausted);
      },
      { maxReceiveSize: 1000 },
    );
  });

  Deno.test(`${protocol}: sendHeader() lets the client see the header before the first message`, async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => release = resolve);
    await withServer({
      async *ListReplies(_: Request, context: grpc.CallContext) {
        context.responseHeader.set("x-early", "yes");
        context.sendHeader();
        await held;
        yield { message: "late" };
      },
    }, async (addr) => {
      const client = clientOf(protocol, addr);
      const messages = collect(client.listReplies({}, {
        onHeader: (headers: Headers) => {
          assertEquals(headers.get("x-early"), "yes");
          release();
        },
      }));
      assertEquals(await messages, ["late"]);
    });
  });

  Deno.test(`${protocol}: a handler learns that its client went away`, async () => {
    let reason: unknown;
    let gone!: () => void;
    const learned = new Promise<void>((resolve) => gone = resolve);
    await withServer({
      async *ListReplies(_: Request, { signal }: grpc.CallContext) {
        try {
          for (;;) {
            yield { message: "more" };
            await delay(5);
          }
        } finally {
          reason = signal.reason;
          gone();
        }
      },
    }, async (addr) => {
      const cancel = new AbortController();
      const messages = clientOf(protocol, addr).listReplies({}, { signal: cancel.signal });
      assertEquals((await messages[Symbol.asyncIterator]().next()).value.message, "more");
      cancel.abort();
      await learned;
      assertInstanceOf(reason, Error);
    });
  });
}

Deno.test("a call to a host that no URL can have is refused with 400", async () => {
  await withServer({ SayHello: () => ({}) }, async (addr) => {
    const [hostname, port] = addr.split(":");
    for (const host of ["a:99999", "%zz", "1.2.3.999"]) {
      using conn = await Deno.connect({ hostname: hostname!, port: Number(port) });
      await conn.write(
        new TextEncoder().encode(
          `POST /test.Greeter/SayHello HTTP/1.1\r\nHost: ${host}\r\n` +
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        ),
      );
      const head = new Uint8Array(1024);
      const n = await conn.read(head);
      assertEquals(new TextDecoder().decode(head.subarray(0, n ?? 0)).slice(0, 12), "HTTP/1.1 400");
    }
  });
});

Deno.test("scripts of allowed origins may call and see all metadata; others are left to the handler", async () => {
  await withServer(
    {
      SayHello: (_: Request, context: grpc.CallContext) => {
        context.responseHeader.set("x-mine", "1");
        return {};
      },
    },
    async (addr) => {
      const url = `http://${addr}/test.Greeter/SayHello`;
      const ask = (origin: string) =>
        fetch(url, {
          method: "OPTIONS",
          headers: {
            origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type,x-token",
          },
        });
      const yes = await ask("https://app.example");
      assertEquals(yes.status, 204);
      assertEquals(yes.headers.get("access-control-allow-origin"), "https://app.example");
      assertEquals(yes.headers.get("access-control-allow-headers"), "content-type,x-token");
      assertEquals(await (await ask("https://other.example")).text(), "not a call: OPTIONS");

      const response = await fetch(url, {
        method: "POST",
        headers: { origin: "https://app.example", "content-type": "application/json" },
        body: "{}",
      });
      assertEquals(await response.json(), {});
      assertEquals(response.headers.get("access-control-allow-origin"), "https://app.example");
      const exposed = response.headers.get("access-control-expose-headers")!.split(", ");
      assert(exposed.includes("x-mine") && exposed.includes("grpc-status"), exposed.join());
    },
    { cors: ["https://app.example"] },
  );
});

Deno.test("mount() refuses what cannot work and says what to change", () => {
  assertThrows(
    () => grpc.mount({} as grpc.MountOptions),
    TypeError,
    "Cannot serve gRPC without services: give registrar: a Registrar with services registered",
  );
  assertThrows(
    () => grpc.mount({ registrar: new grpc.Registrar(), cors: ["app.example/"] }),
    TypeError,
    'Cannot use cors as each origin must be "*" or scheme://host[:port]: current value is "app.example/"',
  );
});

/** Frames of gRPC-Web out of a body in text. */
function framesOf(text: string): { flags: number; payload: string }[] {
  const bytes = Uint8Array.from(
    (text.match(/[^=]+={0,2}/g) ?? []).map((run) => atob(run)).join(""),
    (char) => char.charCodeAt(0),
  );
  const frames = [];
  for (let at = 0; at < bytes.length;) {
    const length = new DataView(bytes.buffer).getUint32(at + 1);
    const payload = new TextDecoder().decode(bytes.subarray(at + 5, at + 5 + length));
    frames.push({ flags: bytes[at]!, payload });
    at += 5 + length;
  }
  return frames;
}

/** A frame with a HelloRequest. */
function helloFrame(name: string): string {
  return String.fromCharCode(0, 0, 0, 0, 2 + name.length, 0x0a, name.length) + name;
}

Deno.test("application/grpc-web-text is gRPC-Web in base64, however it is cut and padded", async () => {
  await withServer({
    SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }),
  }, async (addr) => {
    const url = `http://${addr}/test.Greeter/SayHello`;
    const headers = { "content-type": "application/grpc-web-text+proto" };
    const frame = helloFrame("text");
    const bodies: (string | AsyncIterable<string>)[] = [
      btoa(frame),
      btoa(frame.slice(0, 4)) + btoa(frame.slice(4)),
      (async function* () {
        for (const char of btoa(frame)) {
          yield char;
          await delay(1);
        }
      })(),
    ];
    for (const body of bodies) {
      const response = await http.post(url, headers, body);
      assertEquals(response.header["content-type"], "application/grpc-web-text+proto");
      const [message, trailer] = framesOf(response.body);
      assertEquals(message, { flags: 0, payload: "\n\nHello text" });
      assertEquals(trailer!.flags, 0x80);
      assert(/grpc-status: ?0/.test(trailer!.payload), trailer!.payload);
    }
    for (const body of ["!!!!", btoa(frame).slice(0, -3)]) {
      const { body: text, header } = await http.post(url, headers, body);
      const status = header["grpc-status"] ??
        /grpc-status: ?(\d+)/.exec(framesOf(text)[0]!.payload)![1];
      assertEquals(status, String(Code.InvalidArgument));
    }
  });
});
