import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { messagePieces, wholeBody } from "../../../grpc/web/request_body.ts";
import { limitTimeouts } from "../../../grpc/wire/timeout.ts";
import { printed } from "../../../support/console.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";
import { cpuTime } from "../../../support/cpu_time.ts";

async function* cut(bytes: Uint8Array, next: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + next());
    at += piece.length;
    yield piece;
  }
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  return list;
}

function message(size: number): Uint8Array {
  const bytes = new Uint8Array(5 + size).fill(size, 5);
  new DataView(bytes.buffer).setUint32(1, size);
  return bytes;
}

Deno.test("messagePieces() gives one piece a message, however the body is cut", async () => {
  const rng = new Random(3);
  for (let round = 0; round < 50; round++) {
    const messages = Array.from(
      { length: rng.below(10) },
      () => message(rng.below(rng.pick([1, 10, 50_000]))),
    );
    const rest = rng.below(2) === 0 ? [] : [message(100).subarray(0, 1 + rng.below(104))];
    const body = new Uint8Array(await new Blob([...messages, ...rest] as BlobPart[]).arrayBuffer());
    const got = await all(
      messagePieces(cut(body, () => 1 + rng.below(rng.pick([1, 7, 20_000]))), 1e6),
    );
    assertEquals(got.map((one) => one.length), [...messages, ...rest].map((one) => one.length));
    for (const [i, one] of [...messages, ...rest].entries()) {
      assert(one.every((octet, at) => got[i]![at] === octet));
    }
  }
});

Deno.test("bodies in single octets cost what their octets cost", async () => {
  const size = 500_000;
  const start = cpuTime();
  const [one] = await all(messagePieces(cut(message(size), () => 1), 1e6));
  const [whole] = await all(wholeBody(cut(new Uint8Array(size), () => 1), 1e6));
  assertEquals([one!.length, whole!.length], [size + 5, size]);
  // Joined anew for each piece this took minutes.
  assert(cpuTime() - start < 15_000);
});

Deno.test("bodies beyond the limit are refused as soon as that is known", async () => {
  let given = 0;
  const endless = async function* () {
    for (;;) {
      given++;
      yield new Uint8Array(10);
    }
  };
  const prefix = async function* () {
    yield message(1001);
    given++;
  };
  for (const pieces of [wholeBody(endless(), 1000), messagePieces(prefix(), 1000)]) {
    given = 0;
    const error = await assertRejects(() => all(pieces), ConnectError);
    assertEquals(error.code, Code.ResourceExhausted);
    assert(given <= 101);
  }
  assertEquals((await all(messagePieces(cut(message(1000), () => 99), 1000))).length, 1);
  assertEquals((await all(wholeBody(cut(new Uint8Array(1000), () => 99), 1000))).length, 1);
});

Deno.test("limitTimeouts() shortens what no timer can keep, and nothing else", () => {
  for (
    const [name, value, expected] of [
      ["grpc-timeout", "99999999H", "2147483S"],
      ["grpc-timeout", "2147484S", "2147483S"],
      ["grpc-timeout", "2147483S", "2147483S"],
      ["grpc-timeout", "99999999m", "99999999m"],
      ["grpc-timeout", "9999999999H", "9999999999H"],
      ["grpc-timeout", "x", "x"],
      ["connect-timeout-ms", "9999999999", "2147483647"],
      ["connect-timeout-ms", "2147483647", "2147483647"],
      ["connect-timeout-ms", "-1", "-1"],
      ["connect-timeout-ms", "99999999999", "99999999999"],
    ] as const
  ) {
    const header = new Headers({ [name]: value });
    limitTimeouts(header);
    assertEquals(header.get(name), expected);
  }
});

async function withServer(
  handlers: grpc.Handlers,
  run: (url: string) => Promise<void>,
  settings: Partial<grpc.MountOptions> = {},
  limits: http.ServerLimits = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, ...settings }),
    limits: { drainTimeout: 200, ...limits },
  });
  await run(`http://${server.addr}/test.Greeter`);
}

const post = (url: string, headers: Record<string, string>, body: BodyInit) =>
  fetch(url, { method: "POST", headers, body });

Deno.test("timeouts of weeks and years leave calls their time and print nothing", async () => {
  const output = await printed(() =>
    withServer({
      SayHello: async (_, context) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { message: String(context.timeoutMs()! > 86_400_000) };
      },
    }, async (url) => {
      const connect = await post(`${url}/SayHello`, {
        "content-type": "application/json",
        "connect-timeout-ms": "9999999999",
      }, "{}");
      assertEquals(await connect.json(), { message: "true" });
      for (const timeout of ["99999999H", "2147484S"]) {
        const web = await post(`${url}/SayHello`, {
          "content-type": "application/grpc-web",
          "grpc-timeout": timeout,
        }, new Uint8Array(5));
        assert((await web.text()).includes("grpc-status: 0"));
      }
    })
  );
  assertEquals(output, []);
});

Deno.test("a handler sees an integer of milliseconds until its deadline, in every protocol", async () => {
  const seen: (number | undefined)[] = [];
  await withServer({
    SayHello: (_, context) => {
      seen.push(context.timeoutMs());
      return {};
    },
  }, async (url) => {
    const json = { "content-type": "application/json" };
    await (await post(`${url}/SayHello`, { ...json, "connect-timeout-ms": "5000" }, "{}")).text();
    const web = { "content-type": "application/grpc-web", "grpc-timeout": "5000001u" };
    await (await post(`${url}/SayHello`, web, new Uint8Array(5))).text();
    await using conn = grpc.newClient({ targets: [new URL(url).host] });
    await grpc.newService(conn, GREETER).SayHello!({}, 5000.5);
  });
  assertEquals(seen.length, 3);
  for (const ms of seen) assert(Number.isInteger(ms) && ms! > 0 && ms! <= 5001, String(ms));
});

Deno.test("requests over a limit are RESOURCE_EXHAUSTED, as messages and as bodies", async () => {
  await withServer(
    {
      SayHello: () => ({}),
      SumSizes: async (requests: AsyncIterable<Request>) => {
        for await (const _ of requests);
        return {};
      },
    },
    async (url) => {
      const big = message(3000);
      for (const path of ["SayHello", "SumSizes"]) {
        const web = await post(
          `${url}/${path}`,
          { "content-type": "application/grpc-web" },
          big as BodyInit,
        );
        assert((await web.text()).includes("grpc-status: 8"));
      }
      const unary = await post(
        `${url}/SayHello`,
        { "content-type": "application/proto" },
        big as BodyInit,
      );
      assertEquals((await unary.json()).code, "resource_exhausted");
      const stream = await post(
        `${url}/SumSizes`,
        { "content-type": "application/connect+proto" },
        big as BodyInit,
      );
      assert((await stream.text()).includes("resource_exhausted"));
      // Many small messages, larger together than what the server takes as a body.
      const many = new Blob(Array.from({ length: 900 }, () => message(0) as BlobPart));
      const web = await post(
        `${url}/SumSizes`,
        { "content-type": "application/grpc-web" },
        many.stream(),
      );
      assert((await web.text()).includes("grpc-status: 8"));
    },
    { maxReceiveSize: 2000 },
    { maxBodyBytes: 4000 },
  );
});

Deno.test("metadata handlers set cannot change the protocol's own fields", async () => {
  const told: string[] = [];
  await withServer({
    SayHello: (_, context) => {
      for (const headers of [context.responseHeader, context.responseTrailer]) {
        for (const name of ["content-type", "content-length", "grpc-status", "connection"]) {
          headers.set(name, "5");
        }
        headers.set("x-mine", "1");
        headers.set("x-echo", "caf\xe9");
      }
      return { message: "hi" };
    },
  }, async (url) => {
    const json = await post(`${url}/SayHello`, { "content-type": "application/json" }, "{}");
    assertEquals(await json.json(), { message: "hi" });
    assertEquals([json.headers.get("x-mine"), json.headers.get("trailer-x-mine")], ["1", "1"]);
    assertEquals(json.headers.get("x-echo"), null);
    const type = "application/grpc-web+proto";
    const web = await post(`${url}/SayHello`, { "content-type": type }, new Uint8Array(5));
    assertEquals(web.headers.get("content-type"), type);
    const text = await web.text();
    assert(
      text.includes("grpc-status: 0") && text.includes("x-mine: 1") && !text.includes("x-echo"),
    );
  }, { onError: (error) => told.push((error as Error).message) });
  assertEquals(told.length, 2 * 2 * 5);
});

Deno.test("reads of requests that nobody awaits end nothing when they fail", async () => {
  const failed = Promise.withResolvers<void>();
  await withServer(
    {
      SumSizes: async (requests: AsyncIterable<Request>) => {
        const messages = requests[Symbol.asyncIterator]();
        messages.next();
        messages.next();
        // The process would end here, before the last read is awaited.
        await messages.next().catch(() => new Promise((resolve) => setTimeout(resolve)));
        failed.resolve();
        return {};
      },
    },
    async (url) => {
      for (const type of ["application/connect+proto", "application/grpc-web"]) {
        const body = new Uint8Array([9, 255, 255, 255, 255]);
        await (await post(`${url}/SumSizes`, { "content-type": type }, body)).text();
      }
      await failed.promise;
    },
    { onError: null },
  );
});
