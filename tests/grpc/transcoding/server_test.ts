/** REST on the versions and engines of the server, and clients that go away. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { listenAt } from "../../../http/server/listen.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { LIBRARY, withLibrary } from "./library.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const LINES = { "content-type": "application/x-ndjson" };

Deno.test("REST over HTTP/2 streams in both directions at once, and ends with trailers", async () => {
  await withLibrary({
    async *Chat(requests: AsyncIterable<Any>, context: grpc.CallContext) {
      context.responseTrailer.set("x-end", "done");
      for await (const { title } of requests) yield { title: title.toUpperCase() };
    },
  }, async (url) => {
    await using client = http.newClient({ alpnProtos: ["h2"] });
    const stream = await client.request("POST", `${url}/v1/chat`, {
      headers: { ...LINES, te: "trailers" },
    });
    const decoder = new TextDecoder();
    const next = async () => decoder.decode((await stream.read())!);
    await stream.write('{"title":"a"}\n{"ti');
    assertEquals(await next(), '{"result":{"title":"A"}}\n');
    assertEquals([stream.version, stream.status], ["HTTP/2", 200]);
    await stream.write('tle":"b"}\n');
    assertEquals(await next(), '{"result":{"title":"B"}}\n');
    stream.closeWrite();
    assertEquals(await stream.read(), null);
    assertEquals(stream.trailers["grpc-trailer-x-end"], "done");
  });
});

Deno.test("a client that goes away cancels its call, and the stream of responses is ended", async () => {
  const ended = Promise.withResolvers<string>();
  await withLibrary({
    async *Watch(_: Any, { signal }: grpc.CallContext) {
      try {
        for (let i = 0;; i++) {
          yield { name: String(i) };
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      } finally {
        ended.resolve(signal.aborted ? "aborted" : "ended");
      }
    },
  }, async (url) => {
    const controller = new AbortController();
    const response = await fetch(`${url}/v1/shelves/1:watch`, { signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    controller.abort();
    await reader.read().catch(() => {});
    assertEquals(await ended.promise, "aborted");
  });
});

Deno.test("deadlines go by the server's clock: grpc-timeout, defaultTimeout and maxTimeout", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const registrar = new grpc.Registrar();
  const begun: ((ms: number | undefined) => void)[] = [];
  registrar.register(LIBRARY, {
    GetBook: (_: Any, context: grpc.CallContext) => {
      begun.shift()!(context.timeoutMs());
      return new Promise(() => {});
    },
  });
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    registrar: grpc.mount({
      registrar,
      transcoding: true,
      defaultTimeout: 5000,
      maxTimeout: 60_000,
    }),
    handler: () => new Response(),
  });
  try {
    for (const [timeout, ms] of [["2S", 2000], [undefined, 5000], ["9H", 60_000]] as const) {
      const started = Promise.withResolvers<number | undefined>();
      begun.push(started.resolve);
      const asked = fetch(`http://${server.addr}/v1/isbn/1`, {
        headers: timeout === undefined ? {} : { "grpc-timeout": timeout },
      });
      assertEquals(await started.promise, ms);
      const took = await clock.until(asked);
      assert(took >= ms && took < ms + 100, String(took));
      const response = await asked;
      assertEquals([response.status, (await response.json()).code], [504, Code.DeadlineExceeded]);
    }
  } finally {
    await clock.until(server.close());
  }
});

Deno.test("REST is served on Deno.serve too, with paths as sent", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(LIBRARY, {
    GetBook: ({ name }: Any) => ({ name }),
    async *Watch({ parent }: Any) {
      yield { name: parent };
    },
  });
  await using server = http.listen({
    engine: "deno",
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, transcoding: true }),
    handler: () => new Response("page"),
  });
  const url = `http://${server.addr}`;
  const book = await (await fetch(`${url}/v1/shelves/a%2Fb/books/c%20d`)).json();
  assertEquals(book, { name: "shelves/a%2Fb/books/c d" });
  const watched = await (await fetch(`${url}/v1/shelves/x:watch`)).text();
  assertEquals(watched, '{"result":{"name":"shelves/x"}}\n');
  assertEquals(await (await fetch(`${url}/other`)).text(), "page");
});

Deno.test("responses are compressed where services are, unless their handler says no", async () => {
  const title = "x".repeat(5000);
  await withLibrary({
    GetBook: ({ isbn }: Any, context: grpc.CallContext) => {
      if (isbn === "plain") context.compress = false;
      return { title };
    },
  }, async (url) => {
    await using client = http.newClient({ decompress: false });
    const codingOf = async (path: string, accept: string) => {
      const response = await client.get(`${url}/v1/isbn/${path}`, {
        headers: { "accept-encoding": accept },
      });
      return response.header["content-encoding"];
    };
    assertEquals(await codingOf("any", "gzip"), "gzip");
    assertEquals(await codingOf("plain", "gzip"), undefined);
    assertEquals(await codingOf("any", "gzip;q=0"), undefined);
  }, { compress: true });
});

Deno.test("metadata that a head has no room for, and responses that are no JSON, are told of", async () => {
  const errors: unknown[] = [];
  await withLibrary({
    GetBook: (_: Any, { responseHeader }: grpc.CallContext) => {
      responseHeader.set("x-large", "x".repeat(50_000));
      responseHeader.set("x-more", "x".repeat(50_000));
      return { name: "fits" };
    },
    Everything: () => ({
      any: { typeUrl: "type.googleapis.com/no.Such", value: new Uint8Array(1) },
    }),
    async *Watch() {
      yield { name: "first" };
      throw new Error("secret");
    },
    MoveBook: () => {
      throw new ConnectError("a\nb", Code.Unauthenticated, { "x-large": "x".repeat(70_000) });
    },
  }, async (url) => {
    const got = await fetch(`${url}/v1/isbn/1`);
    assertEquals([got.status, await got.json()], [200, { name: "fits" }]);
    const bad = await fetch(`${url}/v1/kinds`);
    assertEquals([bad.status, (await bad.json()).code], [500, Code.Unknown]);
    const text = await (await fetch(`${url}/v1/shelves/1:watch`)).text();
    assertStringIncludes(text, '{"result":{"name":"first"}}\n{"error":{"code":2');
    assert(!text.includes("secret"));
    const refused = await fetch(`${url}/v1/shelves/1/books/2:move`, { method: "POST" });
    assertEquals([refused.status, (await refused.json()).message], [401, "a\nb"]);
    assert(errors.length >= 4, String(errors));
  }, { onError: (error) => errors.push(error) });
});
