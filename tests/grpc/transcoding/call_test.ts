import { assert, assertEquals, assertMatch } from "@std/assert";
import { Code, ConnectError, createContextKey } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { LIBRARY, withLibrary } from "./library.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const JSON_TYPE = { "content-type": "application/json" };

/** Handlers that give back what they got. */
const ECHO: grpc.Handlers = {
  GetBook: ({ name, isbn }: Any) => ({ name: name || `isbn:${isbn}` }),
  ListBooks: (request: Any) => ({
    books: [{ title: `${request.parent} ${request.pageSize} ${request.pageToken}` }],
    titles: request.pageSize === 0 ? [] : ["a", "b"],
  }),
  CreateBook: ({ parent, book, bookId }: Any) => ({
    ...book,
    name: `${parent}/books/${bookId}`,
  }),
  UpdateBook: ({ book, updateMask }: Any) => ({ ...book, title: updateMask.paths.join(" ") }),
  MoveBook: ({ name, otherShelf }: Any) => ({ name: `${name} to ${otherShelf}` }),
  DeleteBook: () => ({}),
  Everything: (request: Any) => request,
  Purge: () => ({}),
  AnyMethod: (_: Any, context: grpc.CallContext) => ({ name: context.requestMethod }),
  async *Watch({ parent, pageSize }: Any) {
    for (let i = 0; i < pageSize; i++) yield { name: `${parent}/books/${i}` };
  },
  async AddAll(requests: AsyncIterable<Any>) {
    const titles: string[] = [];
    for await (const { parent, book } of requests) titles.push(`${parent} ${book?.title}`);
    return { titles };
  },
  async *Chat(requests: AsyncIterable<Any>) {
    for await (const { title } of requests) yield { title: title.toUpperCase() };
  },
  Upload: ({ path, file }: Any) => ({
    contentType: file.contentType,
    data: new Uint8Array([...file.data, ...new TextEncoder().encode(path)]),
  }),
  async UploadParts(requests: AsyncIterable<Any>) {
    let size = 0n;
    let parts = 0;
    let name = "";
    for await (const { path, file } of requests) {
      size += BigInt(file.data.length);
      parts++;
      name = path;
    }
    return { size, parts, path: name };
  },
  async *Download({ path }: Any) {
    yield { contentType: "text/csv", data: new TextEncoder().encode("a,b\n") };
    yield { data: new TextEncoder().encode(path) };
  },
};

async function ask(url: string, init: RequestInit = {}): Promise<[number, string | null, string]> {
  const response = await fetch(url, init);
  return [response.status, response.headers.get("content-type"), await response.text()];
}

async function json(url: string, init: RequestInit = {}): Promise<Any> {
  const response = await fetch(url, init);
  const text = await response.text();
  assertEquals(response.headers.get("content-type"), "application/json", text);
  return [response.status, JSON.parse(text)];
}

Deno.test("templates, verbs, additional bindings and bodies lead to the method's request", async () => {
  await withLibrary(ECHO, async (url) => {
    assertEquals(await json(`${url}/v1/shelves/1/books/a%20b`), [200, {
      name: "shelves/1/books/a b",
    }]);
    assertEquals(await json(`${url}/v1/shelves/1/books/a%2Fb`), [200, {
      name: "shelves/1/books/a%2Fb",
    }]);
    assertEquals(await json(`${url}/v1/isbn/9%2F78`), [200, { name: "isbn:9/78" }]);
    assertEquals(
      await json(`${url}/v1/shelves/7/books?pageSize=3&page_token=x%26y`),
      [200, { books: [{ title: "shelves/7 3 x&y" }], titles: ["a", "b"] }],
    );
    assertEquals(await json(`${url}/v1/titles?page_size=1`), [200, ["a", "b"]]);
    assertEquals(await json(`${url}/v1/titles`), [200, []]);
    const post = (path: string, body: unknown, method = "POST") =>
      json(url + path, { method, headers: JSON_TYPE, body: JSON.stringify(body) });
    assertEquals(
      await post("/v1/shelves/1/books?bookId=b", { title: "T", pages: "12", genre: "POETRY" }),
      [200, { name: "shelves/1/books/b", title: "T", pages: "12", genre: "POETRY" }],
    );
    assertEquals(
      await post(
        "/v1/shelves/1/books/2?updateMask=title,pages",
        { pages: 5, name: "other" },
        "PATCH",
      ),
      [200, { name: "shelves/1/books/2", title: "title pages", pages: "5" }],
    );
    assertEquals(
      await post("/v1/shelves/1/books/2:move", { other_shelf: "3" }),
      [200, { name: "shelves/1/books/2 to 3" }],
    );
    assertEquals(await json(`${url}/v1/shelves/1/books/2`, { method: "DELETE" }), [200, {}]);
    assertEquals(await json(`${url}/v1/cache`, { method: "PURGE" }), [200, {}]);
    assertEquals(await json(`${url}/any/a/b`, { method: "REPORT" }), [200, { name: "REPORT" }]);
    assertEquals(await ask(`${url}/v2/none`), [418, "text/plain;charset=UTF-8", "not a call: GET"]);
  });
});

Deno.test("a path that has other methods is answered 405 with them, HEAD goes with GET", async () => {
  await withLibrary(ECHO, async (url) => {
    const response = await fetch(`${url}/v1/shelves/1/books`, { method: "PUT" });
    assertEquals(response.status, 405);
    assertEquals(response.headers.get("allow"), "GET, HEAD, POST");
    assertEquals((await response.json()).code, Code.Unimplemented);
    const head = await fetch(`${url}/v1/shelves/1/books/2`, { method: "HEAD" });
    assertEquals([head.status, await head.text()], [200, ""]);
    assertEquals((await json(`${url}/v1/unserved`))[0], 501);
    assertEquals((await json(`${url}/v1/shelves/%FF/books/2`))[0], 400);
  });
});

Deno.test("fields of every type stand in queries", async () => {
  await withLibrary(ECHO, async (url) => {
    const query = [
      "doubleValue=-1.5e3&floatValue=.25&int32_value=-2147483648&int64Value=9223372036854775807",
      "uint32Value=4294967295&uint64Value=18446744073709551615&sint32Value=-1&sint64Value=-5",
      "fixed32Value=1&fixed64Value=2&sfixed32Value=-3&sfixed64Value=-4&boolValue=true",
      "stringValue=a+b%26c&bytesValue=-_8&genre=POETRY&inner.inner.text=deep&inner.numbers=1",
      "inner.numbers=2&manyInt64=1&many_int64=2&manyString=x&manyString=&manyGenre=1&manyGenre=FICTION",
      "manyBytes=AAE%3D&counts[a]=1&counts[b.c]=2&genres[-7]=POETRY&time=2026-01-31T12:00:00.5Z",
      "duration=-1.5s&mask=a_b,cD.e&wrappedString=&wrappedInt64=5&wrappedBool=false&wrappedBytes=AA==",
      `struct=${
        encodeURIComponent('{"a":[1,null]}')
      }&value=3&maybe=0&one=x&times=2026-01-01T00:00:00Z`,
      "wrappedDouble=NaN",
    ].join("&");
    assertEquals(await json(`${url}/v1/kinds?${query}`), [200, {
      doubleValue: -1500,
      floatValue: 0.25,
      int32Value: -2147483648,
      int64Value: "9223372036854775807",
      uint32Value: 4294967295,
      uint64Value: "18446744073709551615",
      sint32Value: -1,
      sint64Value: "-5",
      fixed32Value: 1,
      fixed64Value: "2",
      sfixed32Value: -3,
      sfixed64Value: "-4",
      boolValue: true,
      stringValue: "a b&c",
      bytesValue: "+/8=",
      genre: "POETRY",
      inner: { inner: { text: "deep" }, numbers: [1, 2] },
      manyInt64: ["1", "2"],
      manyString: ["x", ""],
      manyGenre: ["FICTION", "FICTION"],
      manyBytes: ["AAE="],
      counts: { a: 1, "b.c": 2 },
      genres: { "-7": "POETRY" },
      time: "2026-01-31T12:00:00.500Z",
      duration: "-1.500s",
      mask: "aB,cD.e",
      wrappedString: "",
      wrappedInt64: "5",
      wrappedBool: false,
      wrappedBytes: "AA==",
      struct: { a: [1, null] },
      value: 3,
      maybe: 0,
      one: "x",
      times: ["2026-01-01T00:00:00Z"],
      wrappedDouble: "NaN",
    }]);
  });
});

Deno.test("queries that do not fit are answered 400 and say why", async () => {
  await withLibrary(ECHO, async (url) => {
    for (
      const [query, why] of [
        ["int32Value=2147483648", 'parameter "int32Value" must be an integer from -2147483648'],
        ["int64Value=9223372036854775808", "must be an integer"],
        ["int32Value=1.5", "must be an integer"],
        ["int32Value=", "must be an integer"],
        ["uint32Value=-1", "must be an integer"],
        ["boolValue=yes", "must be true or false"],
        ["floatValue=1e39", "must be a number"],
        ["doubleValue=0x10", "must be a number"],
        ["bytesValue=%21", "must be base64"],
        ["bytesValue=A", "must be base64"],
        ["genre=NOVEL", "must be a value of library.Genre"],
        ["time=yesterday", "must be a time"],
        ["duration=1h", "must be a duration"],
        ["value=%7B", "JSON"],
        ["any=x", "is a message"],
        ["inners=x", "is a message"],
        ["inners.text=x", "is no message"],
        ["inner=x", "is a message"],
        ["counts=1", "is a map"],
        ["counts[a]=x", "must be an integer"],
        ["counts[a]=1&counts[a]=2", "once"],
        ["genres[x]=POETRY", "the key of"],
        ["stringValue[a]=1", "is no map"],
        ["stringValue.text=1", "is no message"],
        ["stringValue=a&string_value=b", "once"],
        ["one=a&other=1", "one of one, other"],
        ["stringVal=a", 'did you mean "stringValue"?'],
        ["=a", "has no field"],
        ["a%zz=1", "percent-encoded"],
        ["stringValue=%FF", "percent-encoded"],
        [`${"inner.".repeat(40)}text=1`, "lead through <= 32"],
        ["manyString=x&".repeat(101), "<= 100 parameters"],
      ] as const
    ) {
      const [status, { code, message }] = await json(`${url}/v1/kinds?${query}`);
      assertEquals([status, code], [400, Code.InvalidArgument], query);
      assert(message.includes(why), `${query.slice(0, 50)}: ${message}`);
    }
    for (const [path, why] of [["/v1/shelves/1/books/2?name=x", "the path holds it"]] as const) {
      assert((await json(url + path))[1].message.includes(why));
    }
    const [, { message }] = await json(`${url}/v1/kinds?stringValue=x`, {
      method: "POST",
      headers: JSON_TYPE,
      body: "{}",
    });
    assert(message.includes("all fields come in the body"), message);
  }, { transcoding: { maxQueryParameters: 100 } });
  await withLibrary(ECHO, async (url) => {
    assertEquals(
      await json(`${url}/v1/kinds?stringVal=x&stringValue=y&inner=z`),
      [200, { stringValue: "y" }],
    );
  }, { transcoding: { ignoreUnknownFields: true } });
});

Deno.test("bodies that do not fit are answered with why", async () => {
  await withLibrary(ECHO, async (url) => {
    const post = (body: BodyInit, headers: HeadersInit = JSON_TYPE) =>
      json(`${url}/v1/kinds`, { method: "POST", headers, body });
    const bytes = (text: string) => new TextEncoder().encode(text);
    for (
      const [body, why] of [
        ["{", "must be JSON"],
        ["[]", "library.Kinds"],
        ['{"int32Value":"x"}', "int32_value"],
        ['{"unknown":1}', "unknown"],
        ["[".repeat(101), "deeper than 100"],
        [`{"struct":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`, "deeper than 100"],
      ] as const
    ) {
      const [status, { code, message }] = await post(body);
      assertEquals([status, code], [400, Code.InvalidArgument], body);
      assert(message.includes(why), message);
    }
    assertEquals(
      (await post(new Uint8Array([0x22, 0xff, 0x22])))[1].message,
      "the body must be UTF-8",
    );
    assertEquals((await post(bytes("{}"), { "content-type": "text/plain" }))[0], 415);
    assertEquals((await post(bytes("{}"), {}))[0], 415);
    assertEquals((await post("{}", { ...JSON_TYPE, "content-encoding": "br" }))[0], 415);
    assertEquals((await post("{}", { ...JSON_TYPE, "content-encoding": "gzip" }))[0], 400);
    assertEquals((await post(JSON.stringify({ stringValue: "x".repeat(5000) })))[0], 413);
    const zipped = new Blob([JSON.stringify({ stringValue: "x".repeat(500) })]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    const body = await new Response(zipped).bytes();
    const gzip = { ...JSON_TYPE, "content-encoding": "gzip" };
    assertEquals((await post(body, gzip))[1], { stringValue: "x".repeat(500) });
    const bomb = new Blob([new Uint8Array(1 << 20)]).stream().pipeThrough(
      new CompressionStream("gzip"),
    );
    assertEquals((await post(await new Response(bomb).bytes(), gzip))[0], 413);
    // Numbers keep their digits.
    assertEquals((await post('{"int64Value":9007199254740993}'))[1], {
      int64Value: "9007199254740993",
    });
    const long = "12345678901234567890";
    const free = `[${long}, {"a": ${long}}]`;
    const [, kept] = await post(
      `{"uint64Value":${long},"manyInt64":[-9223372036854775808],"value":${free},"struct":{"a":${free}},"counts":{},"inner":{}}`,
    );
    assertEquals([kept.uint64Value, kept.manyInt64], [long, ["-9223372036854775808"]]);
    // In JSON of any kind they are numbers as JSON has them.
    assertEquals([kept.value, kept.struct], [JSON.parse(free), { a: JSON.parse(free) }]);
    assertEquals(await post(""), [200, {}]);
    assertEquals(
      (await json(`${url}/v1/shelves/1/books/2`, {
        method: "DELETE",
        headers: JSON_TYPE,
        body: "{}",
      }))[0],
      200,
    );
    assertEquals(
      (await json(`${url}/v1/shelves/1/books/2`, { method: "DELETE", body: "now" }))[1].message,
      "this request takes no body",
    );
  }, { maxReceiveSize: 4096 });
});

Deno.test("server streams are lines of JSON, or events for those who ask", async () => {
  await withLibrary(ECHO, async (url) => {
    const path = `${url}/v1/shelves/1:watch?pageSize=2`;
    assertEquals(await ask(path), [
      200,
      "application/x-ndjson",
      '{"result":{"name":"shelves/1/books/0"}}\n{"result":{"name":"shelves/1/books/1"}}\n',
    ]);
    const events = { headers: { accept: "text/event-stream" } };
    assertEquals(await ask(path, events), [
      200,
      "text/event-stream",
      'data: {"name":"shelves/1/books/0"}\n\ndata: {"name":"shelves/1/books/1"}\n\nevent: end\ndata: {}\n\n',
    ]);
    assertEquals(await ask(`${url}/v1/shelves/1:watch`), [200, "application/x-ndjson", ""]);
  });
  await withLibrary({
    async *Watch({ pageSize }: Any) {
      for (let i = 0; i < pageSize; i++) yield { name: String(i) };
      throw new ConnectError("enough", Code.OutOfRange);
    },
  }, async (url) => {
    const error = '{"code":11,"message":"enough","details":[]}';
    assertEquals(await ask(`${url}/v1/shelves/1:watch?pageSize=1`), [
      200,
      "application/x-ndjson",
      `{"result":{"name":"0"}}\n{"error":${error}}\n`,
    ]);
    const events = { headers: { accept: "text/event-stream" } };
    const [, , text] = await ask(`${url}/v1/shelves/1:watch?pageSize=1`, events);
    assertEquals(text, `data: {"name":"0"}\n\nevent: error\ndata: ${error}\n\n`);
    assertEquals(await ask(`${url}/v1/shelves/1:watch`), [400, "application/json", error]);
  });
});

Deno.test("client streams are lines of JSON", async () => {
  await withLibrary(ECHO, async (url) => {
    const lines = { "content-type": "application/x-ndjson" };
    const path = `${url}/v1/shelves/1/books:addAll`;
    const post = (body: string) => json(path, { method: "POST", headers: lines, body });
    assertEquals(
      await post('{"book":{"title":"a"}}\n\n{"book":{"title":"b"}}\r\n{}'),
      [200, { titles: ["shelves/1 a", "shelves/1 b", "shelves/1 undefined"] }],
    );
    assertEquals(await post(""), [200, {}]);
    assertEquals((await post('{}\n{"book":1}\n'))[0], 400);
    assertEquals((await post(`{"book":{"title":"${"x".repeat(5000)}"}}`))[0], 413);
    assertEquals((await json(path, { method: "POST", body: "{}" }))[0], 415);
    assertEquals(
      await ask(`${url}/v1/chat`, {
        method: "POST",
        headers: lines,
        body: '{"title":"a"}\n{"title":"b"}\n',
      }),
      [200, "application/x-ndjson", '{"result":{"title":"A"}}\n{"result":{"title":"B"}}\n'],
    );
  }, { maxReceiveSize: 4096 });
});

Deno.test("HttpBody is the body itself, in both directions", async () => {
  await withLibrary(ECHO, async (url) => {
    const type = { "content-type": "image/png" };
    assertEquals(
      await ask(`${url}/v1/files/a/b%20c`, { method: "POST", headers: type, body: "bytes:" }),
      [200, "image/png", "bytes:a/b c"],
    );
    const data = new Uint8Array(3 << 20).fill(7);
    const [status, reply] = await json(`${url}/v1/files/big`, {
      method: "PUT",
      headers: type,
      body: data,
    });
    assertEquals([status, reply.size, reply.path], [200, String(3 << 20), "big"]);
    assert(reply.parts > 1);
    assertEquals(await ask(`${url}/v1/files/x`), [200, "text/csv", "a,b\nx"]);
  });
});

Deno.test("errors are google.rpc.Status with the status of HTTP that goes with the code", async () => {
  const statuses = [499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];
  const request = LIBRARY.messages.find(({ name }) => name === "GetBookRequest")!;
  await withLibrary({
    GetBook: ({ name }: Any) => {
      const error = new ConnectError("bad", Number(name.split("/").at(-1)), { "x-why": "so" });
      error.details.push({ desc: request, value: { isbn: "1" } as never });
      error.details.push({ type: "unknown.Type", value: new Uint8Array([1]) });
      throw error;
    },
    DeleteBook: () => {
      throw new Error("secret");
    },
  }, async (url) => {
    for (const [i, status] of statuses.entries()) {
      const response = await fetch(`${url}/v1/shelves/1/books/${i + 1}`);
      assertEquals(response.status, status);
      assertEquals(response.headers.get("grpc-metadata-x-why"), "so");
      assertEquals(response.headers.get("www-authenticate"), status === 401 ? "Bearer" : null);
      assertEquals(await response.json(), {
        code: i + 1,
        message: "bad",
        details: [
          { "@type": "type.googleapis.com/library.GetBookRequest", isbn: "1" },
          { "@type": "type.googleapis.com/unknown.Type", value: "AQ==" },
        ],
      });
    }
    const [status, error] = await json(`${url}/v1/shelves/1/books/2`, { method: "DELETE" });
    assertEquals([status, error.code, /secret/.test(error.message)], [500, Code.Unknown, false]);
  }, { onError: null });
});

Deno.test("header fields and metadata are each other's by grpc-gateway's rules", async () => {
  let seen: Record<string, string> = {};
  await withLibrary({
    GetBook: (_: Any, context: grpc.CallContext) => {
      seen = Object.fromEntries(context.requestHeader);
      context.responseHeader.set("x-own", "1");
      context.responseHeader.set("etag", '"2"');
      context.responseTrailer.set("x-end", "3");
      return {};
    },
  }, async (url) => {
    const response = await fetch(`${url}/v1/isbn/1`, {
      headers: {
        authorization: "Bearer t",
        "user-agent": "test",
        "grpc-metadata-x-tenant": "a",
        "grpc-metadata-x-forwarded-for": "6.6.6.6",
        "grpc-metadata-key-bin": "AAE",
        "x-request-id": "r",
        "x-other": "o",
        "x-forwarded-for": "1.2.3.4",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
    });
    await response.body?.cancel();
    assertEquals(response.headers.get("grpc-metadata-x-own"), "1");
    assertEquals(response.headers.get("etag"), '"2"');
    assertEquals(seen["authorization"], "Bearer t");
    assertEquals(seen["grpcgateway-authorization"], "Bearer t");
    assertEquals(seen["grpcgateway-user-agent"], "test");
    assertEquals(seen["x-tenant"], "a");
    assertEquals(seen["key-bin"], "AAE");
    assertEquals(seen["x-request-id"], "r");
    assertEquals(seen["x-other"], undefined);
    assertEquals(seen["x-forwarded-for"], "1.2.3.4, 127.0.0.1");
    assertEquals(seen["x-forwarded-host"], new URL(url).host);
    assertMatch(seen["traceparent"]!, /^00-0af7/);
    const bad = await json(`${url}/v1/isbn/1`, { headers: { "grpc-metadata-k-bin": "!" } });
    assertEquals(bad[0], 400);
  }, { transcoding: { requestHeaders: ["X-Request-Id"], responseHeaders: ["ETag"] } });
});

Deno.test("grpc-timeout ends a call, and interceptors and contexts see REST as they see the rest", async () => {
  const seen: unknown[] = [];
  const KEY = createContextKey("");
  await withLibrary({
    GetBook: async (_: Any, context: grpc.CallContext) => {
      seen.push(context.protocolName, context.values.get(KEY), context.method.name);
      assert(context.timeoutMs()! <= 20);
      await new Promise<void>((end) => context.signal.addEventListener("abort", () => end()));
      return {};
    },
    ListBooks: (_: Any, context: grpc.CallContext) => ({
      nextPageToken: String(context.timeoutMs()),
    }),
  }, async (url) => {
    const get = (path: string, timeout: string) =>
      json(url + path, { headers: { "grpc-timeout": timeout } });
    const [status, { code }] = await get("/v1/isbn/1", "20m");
    assertEquals([status, code], [504, Code.DeadlineExceeded]);
    assertEquals(seen, ["rest", "set", "GetBook", "/library.Library/GetBook rest"]);
    assertEquals((await get("/v1/isbn/1", "20"))[0], 400);
    assertEquals((await json(`${url}/v1/shelves/1/books`))[1], { nextPageToken: "undefined" });
  }, {
    interceptors: [(next) => async (request) => {
      request.contextValues.set(KEY, "set");
      try {
        return await next(request);
      } finally {
        const { protocolName } = request.contextValues.get(grpc.CALL)!;
        seen.push(
          `${
            new URL(request.url).pathname === "/v1/isbn/1" ? "/library.Library/GetBook" : ""
          } ${protocolName}`,
        );
      }
    }],
  });
});

Deno.test("scripts of allowed origins may call, after a preflight that names the path's methods", async () => {
  const origin = "https://app.example";
  await withLibrary(ECHO, async (url) => {
    const ask = (path: string, headers: Record<string, string>, method = "OPTIONS") =>
      fetch(url + path, { method, headers });
    const yes = await ask("/v1/shelves/1/books/2", {
      origin,
      "access-control-request-method": "PATCH",
      "access-control-request-headers": "content-type, x-a",
    });
    assertEquals(yes.status, 204);
    assertEquals(yes.headers.get("access-control-allow-origin"), origin);
    assertEquals(yes.headers.get("access-control-allow-methods"), "DELETE, GET, HEAD, PATCH");
    const no = await ask("/v1/shelves/1/books/2", { origin: "https://evil.example" });
    assertEquals([no.status, await no.text()], [418, "not a call: OPTIONS"]);
    const got = await ask("/v1/isbn/1", { origin }, "GET");
    assertEquals(got.headers.get("access-control-allow-origin"), origin);
    await got.body?.cancel();
    const error = await ask("/v1/kinds?x=1", { origin }, "GET");
    assertEquals([error.status, error.headers.get("access-control-allow-origin")], [400, origin]);
    await error.body?.cancel();
  }, { cors: [origin] });
});

Deno.test("options of JSON are kept: defaults written, enums by number, names of the proto file", async () => {
  const transcoding = { alwaysEmitImplicit: true, enumAsInteger: true, useProtoFieldName: true };
  await withLibrary(ECHO, async (url) => {
    const [, books] = await json(`${url}/v1/shelves/1/books?page_size=1`);
    assertEquals(books, {
      books: [{ name: "", title: "shelves/1 1 ", pages: "0", genre: 0 }],
      next_page_token: "",
      titles: ["a", "b"],
    });
  }, { transcoding });
});
