/** Responses that break a rule or stretch it: each is an error that says so, and none hangs. */
import { assert, assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { deflateSync, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import {
  cannedServer,
  chunked,
  joined,
  responseHead,
  webFrame,
} from "../../../support/canned_http.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER } from "../../../support/greeter.ts";
import { RawServer, readRequest } from "../../../support/raw_server.ts";

type Client = "grpc-web" | "text" | "connect" | "connect json" | "connect unary" | "unary json";

const OPTIONS: Readonly<Record<Client, Partial<grpc.ClientOptions>>> = {
  "grpc-web": { protocol: "grpc-web" },
  "text": { protocol: "grpc-web", format: "text" },
  "connect": { protocol: "connect" },
  "connect json": { protocol: "connect", format: "json" },
  "connect unary": { protocol: "connect" },
  "unary json": { protocol: "connect", format: "json" },
};

/** A response with its body framed as the head does not say. */
function response(status: number, fields: readonly string[], body: Uint8Array): Uint8Array {
  return joined(
    responseHead(status, ...fields, "transfer-encoding: chunked"),
    chunked(body),
  );
}

const WEB = ["content-type: application/grpc-web+proto"];
const STREAM = ["content-type: application/connect+proto"];
const JSON_ERROR = ["content-type: application/json"];
const OK_TRAILERS = webFrame(0x80, "grpc-status: 0\r\n");
const OK_END = webFrame(2, "{}");
const EMPTY = webFrame(0, "");
const web = (...frames: Uint8Array[]) => response(200, WEB, joined(...frames));
const stream = (...frames: Uint8Array[]) => response(200, STREAM, joined(...frames));
const unary = (body: string | Uint8Array, ...fields: string[]) =>
  response(200, ["content-type: application/proto", ...fields], joined(body));
const failed = (status: number, body: string | Uint8Array, ...fields: string[]) =>
  response(status, [...JSON_ERROR, ...fields], joined(body));
/** A bomb: megabytes of nothing in a few thousand bytes. */
const BOMB = gzipSync(new Uint8Array(20 << 20));
const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

const CASES: readonly (readonly [
  what: string,
  client: Client,
  bytes: Uint8Array,
  code: Code,
  says: string,
])[] = [
  // ---- gRPC-Web
  [
    "a web page",
    "grpc-web",
    response(200, ["content-type: text/html"], joined("<html>")),
    Code.Unknown,
    '"<html>"',
  ],
  [
    "no content-type",
    "grpc-web",
    response(200, [], joined(EMPTY, OK_TRAILERS)),
    Code.Unknown,
    "content-type",
  ],
  [
    "plain gRPC",
    "grpc-web",
    response(200, ["content-type: application/grpc"], EMPTY),
    Code.Unknown,
    "content-type",
  ],
  [
    "another codec",
    "grpc-web",
    response(200, ["content-type: application/grpc-web+json"], EMPTY),
    Code.Internal,
    "json",
  ],
  [
    "a gateway's error",
    "grpc-web",
    response(503, ["content-type: text/plain"], joined("no backend")),
    Code.Unavailable,
    "no backend",
  ],
  [
    "a redirect",
    "grpc-web",
    response(302, ["location: https://example.com/"], joined("")),
    Code.Unknown,
    "302",
  ],
  ["nothing", "grpc-web", web(), Code.Internal, "status"],
  ["no trailers", "grpc-web", web(EMPTY), Code.Internal, "status"],
  [
    "trailers without a status",
    "grpc-web",
    web(EMPTY, webFrame(0x80, "x: y\r\n")),
    Code.Unknown,
    "grpc-status",
  ],
  [
    "trailers that are no fields",
    "grpc-web",
    web(webFrame(0x80, "\0\x01 no\r\n")),
    Code.Internal,
    "no fields",
  ],
  [
    "trailers with values of no field",
    "grpc-web",
    web(webFrame(0x80, "grpc-status: 0\r\nx: \0\r\n")),
    Code.Internal,
    "no fields",
  ],
  [
    "trailers twice",
    "grpc-web",
    web(EMPTY, OK_TRAILERS, OK_TRAILERS),
    Code.Internal,
    "behind the end",
  ],
  [
    "a message behind the trailers",
    "grpc-web",
    web(EMPTY, OK_TRAILERS, EMPTY),
    Code.Internal,
    "behind the end",
  ],
  [
    "an error, and more behind it",
    "grpc-web",
    web(webFrame(0x80, "grpc-status: 5\r\n"), EMPTY),
    Code.Internal,
    "behind the end",
  ],
  [
    "half a prefix behind the trailers",
    "grpc-web",
    web(OK_TRAILERS, Uint8Array.of(0)),
    Code.Internal,
    "inside a message",
  ],
  ["unknown flags", "grpc-web", web(webFrame(4, "")), Code.Internal, "flags"],
  ["the flag of Connect's end", "grpc-web", web(webFrame(2, "{}")), Code.Internal, "flags"],
  [
    "a message that is too large",
    "grpc-web",
    web(Uint8Array.of(0, 255, 255, 255, 255)),
    Code.ResourceExhausted,
    "4294967295",
  ],
  [
    "trailers that are too large",
    "grpc-web",
    web(Uint8Array.of(0x80, 0, 255, 255, 255)),
    Code.ResourceExhausted,
    "end of stream",
  ],
  [
    "a compressed message of no encoding",
    "grpc-web",
    web(webFrame(1, "abc")),
    Code.Internal,
    "grpc-encoding",
  ],
  [
    "corrupt gzip",
    "grpc-web",
    response(200, [...WEB, "grpc-encoding: gzip"], webFrame(1, "abc")),
    Code.Internal,
    "corrupt",
  ],
  [
    "an unknown encoding",
    "grpc-web",
    response(200, [...WEB, "grpc-encoding: rot13"], webFrame(1, "abc")),
    Code.Internal,
    "rot13",
  ],
  [
    "a bomb",
    "grpc-web",
    response(200, [...WEB, "grpc-encoding: gzip"], webFrame(1, BOMB)),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "trailers that are a bomb",
    "grpc-web",
    response(200, [...WEB, "grpc-encoding: gzip"], webFrame(0x81, BOMB)),
    Code.ResourceExhausted,
    "larger than max",
  ],
  ["a message that is none", "grpc-web", web(webFrame(0, "\xff\xff")), Code.Internal, "decode"],
  [
    "a status in the head alone",
    "grpc-web",
    response(200, [...WEB, "grpc-status: 5", "grpc-message: gone%20away"], joined("")),
    Code.NotFound,
    "gone away",
  ],
  [
    "an OK in the head, and a body",
    "grpc-web",
    response(200, [...WEB, "grpc-status: 0"], EMPTY),
    Code.Internal,
    "status",
  ],
  [
    "a status that is none",
    "grpc-web",
    web(webFrame(0x80, "grpc-status: 17\r\n")),
    Code.Unknown,
    "17",
  ],
  [
    "text that is no base64",
    "text",
    response(200, ["content-type: application/grpc-web-text"], joined("!!!!")),
    Code.Internal,
    "base64",
  ],
  [
    "text that is cut",
    "text",
    response(200, ["content-type: application/grpc-web-text"], joined("AAA")),
    Code.Internal,
    "base64",
  ],
  ["bytes instead of text, without a status", "text", web(EMPTY), Code.Internal, "status"],
  // ---- Connect's streams
  ["no end of stream", "connect", stream(EMPTY), Code.Internal, "status"],
  ["an empty stream", "connect", stream(), Code.Internal, "status"],
  ["an end that is no JSON", "connect", stream(webFrame(2, "{")), Code.Unknown, "end of stream"],
  ["an end that is no object", "connect", stream(webFrame(2, "[]")), Code.Unknown, "end of stream"],
  [
    "metadata that are none",
    "connect",
    stream(webFrame(2, '{"metadata":{"x":"y"}}')),
    Code.Unknown,
    "end of stream",
  ],
  [
    "metadata that no field can hold",
    "connect",
    stream(webFrame(2, '{"metadata":{"x":["a\\u0000b"]}}')),
    Code.Unknown,
    "end of stream",
  ],
  [
    "metadata with a name that is none",
    "connect",
    stream(webFrame(2, '{"metadata":{"a b":["c"]}}')),
    Code.Unknown,
    "end of stream",
  ],
  ["an error that is none", "connect", stream(webFrame(2, '{"error":7}')), Code.Unknown, "error"],
  [
    "an error without a code",
    "connect",
    stream(webFrame(2, '{"error":{"message":"m"}}')),
    Code.Unknown,
    "m",
  ],
  [
    "an error with a number for a code",
    "connect",
    stream(webFrame(2, '{"error":{"code":5}}')),
    Code.Unknown,
    "",
  ],
  [
    "an error of an object's own names",
    "connect",
    stream(webFrame(2, '{"error":{"code":"constructor"}}')),
    Code.Unknown,
    "",
  ],
  ["an end nested deep", "connect", stream(webFrame(2, DEEP)), Code.Unknown, "end of stream"],
  ["an end twice", "connect", stream(OK_END, OK_END), Code.Internal, "behind the end"],
  ["a message behind the end", "connect", stream(OK_END, EMPTY), Code.Internal, "behind the end"],
  ["unknown flags", "connect", stream(webFrame(0x80, "")), Code.Internal, "flags"],
  [
    "an end that is too large",
    "connect",
    stream(Uint8Array.of(2, 1, 0, 0, 0)),
    Code.ResourceExhausted,
    "end of stream",
  ],
  [
    "an end that is a bomb",
    "connect",
    response(200, [...STREAM, "connect-content-encoding: gzip"], webFrame(3, BOMB)),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "one response's content-type",
    "connect",
    response(200, ["content-type: application/proto"], EMPTY),
    Code.Unknown,
    "content-type",
  ],
  [
    "another codec",
    "connect",
    response(200, ["content-type: application/connect+json"], EMPTY),
    Code.Internal,
    "json",
  ],
  ["an error of HTTP", "connect", failed(404, '{"code":"not_found"}'), Code.Unimplemented, "404"],
  [
    "a message that is no JSON",
    "connect json",
    response(200, ["content-type: application/connect+json"], webFrame(0, "{")),
    Code.Internal,
    "JSON",
  ],
  [
    "a message of other types",
    "connect json",
    response(200, ["content-type: application/connect+json"], webFrame(0, '{"message":7}')),
    Code.Internal,
    "message",
  ],
  [
    "a message nested deep",
    "connect json",
    response(200, ["content-type: application/connect+json"], webFrame(0, `{"x":${DEEP}}`)),
    Code.Internal,
    "status",
  ],
  [
    "a message in a charset that is not UTF-8",
    "connect json",
    response(
      200,
      ["content-type: application/connect+json"],
      webFrame(0, Uint8Array.of(0x22, 0xff, 0x22)),
    ),
    Code.Internal,
    "JSON",
  ],
  // ---- Connect's single responses
  [
    "a web page",
    "connect unary",
    response(200, ["content-type: text/html"], joined("<html>")),
    Code.Unknown,
    '"<html>"',
  ],
  [
    "another codec",
    "connect unary",
    response(200, ["content-type: application/json"], joined("{}")),
    Code.Internal,
    "json",
  ],
  ["a stream", "connect unary", stream(EMPTY, OK_END), Code.Unknown, "content-type"],
  ["a message that is none", "connect unary", unary("\xff\xff"), Code.Internal, "decode"],
  [
    "a message that is too large",
    "connect unary",
    unary(new Uint8Array((4 << 20) + 1)),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "a length that is too large",
    "connect unary",
    joined(responseHead(200, "content-type: application/proto", "content-length: 99999999999")),
    Code.ResourceExhausted,
    "99999999999",
  ],
  [
    "an unknown encoding",
    "connect unary",
    unary("x", "content-encoding: rot13"),
    Code.Internal,
    "rot13",
  ],
  ["corrupt gzip", "connect unary", unary("x", "content-encoding: gzip"), Code.Internal, "corrupt"],
  [
    "a bomb",
    "connect unary",
    unary(BOMB, "content-encoding: gzip"),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "an error that is a bomb",
    "connect unary",
    failed(500, BOMB, "content-encoding: gzip"),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "a huge error",
    "connect unary",
    failed(500, `{"message":"${"x".repeat(300_000)}"}`),
    Code.ResourceExhausted,
    "larger than max",
  ],
  [
    "an error in deflate",
    "connect unary",
    failed(404, deflateSync('{"code":"not_found"}'), "content-encoding: deflate"),
    Code.NotFound,
    "",
  ],
  ["an error without a body", "connect unary", failed(503, ""), Code.Unavailable, "503"],
  ["an error that is no JSON", "connect unary", failed(401, "no"), Code.Unauthenticated, "401"],
  ["an error nested deep", "connect unary", failed(403, DEEP), Code.PermissionDenied, "403"],
  [
    "an error of another type",
    "connect unary",
    response(429, ["content-type: text/plain"], joined("slow down")),
    Code.Unavailable,
    "slow down",
  ],
  [
    "a code that is none",
    "connect unary",
    failed(502, '{"code":"OK","message":"?"}'),
    Code.Unavailable,
    "?",
  ],
  [
    "a message that is no text",
    "connect unary",
    failed(400, '{"code":"aborted","message":{}}'),
    Code.Internal,
    "400",
  ],
  [
    "details that are no list",
    "connect unary",
    failed(400, '{"code":"aborted","details":{}}'),
    Code.Internal,
    "400",
  ],
  [
    "details that are no base64",
    "connect unary",
    failed(400, '{"code":"aborted","details":[{"type":"a","value":"!"}]}'),
    Code.Internal,
    "400",
  ],
  [
    "a message that is no JSON",
    "unary json",
    response(200, JSON_ERROR, joined("")),
    Code.Internal,
    "JSON",
  ],
  ["no HTTP", "connect unary", joined("SSH-2.0-OpenSSH_9.2\r\n\r\n"), Code.Unavailable, ""],
  [
    "a switch of protocols",
    "connect unary",
    joined(responseHead(101, "upgrade: x")),
    Code.Unavailable,
    "",
  ],
];

async function call(conn: grpc.Conn, client: Client): Promise<unknown> {
  const service = grpc.newService(conn, GREETER);
  if (client.includes("unary")) return await service.SayHello({}, 30_000);
  const stream = await service.ListReplies({}, 30_000);
  for await (const _ of stream);
  return "ok";
}

for (const [what, client, bytes, code, says] of CASES) {
  Deno.test(`a server of ${client} that sends ${what} fails the call, and the next goes on`, async () => {
    let answers = 0;
    await using server = cannedServer(() => ({
      bytes: answers++ === 0 ? bytes : good(client),
      end: true,
    }));
    await using conn = grpc.newClient({ targets: [server.url], ...OPTIONS[client] });
    const error = await call(conn, client).then(() => null, (reason: unknown) => reason);
    assertInstanceOf(error, ConnectError, String(error));
    assertEquals(Code[error.code], Code[code], error.message);
    assertStringIncludes(error.rawMessage, says);
    assert(error.message.length < 2000);
    await call(conn, client);
  });
}

function good(client: Client): Uint8Array {
  switch (client) {
    case "grpc-web":
    case "text":
      return web(EMPTY, OK_TRAILERS);
    case "connect":
      return stream(EMPTY, OK_END);
    case "connect json":
      return response(
        200,
        ["content-type: application/connect+json"],
        joined(webFrame(0, "{}"), OK_END),
      );
    case "connect unary":
      return unary("");
    case "unary json":
      return response(200, JSON_ERROR, joined("{}"));
  }
}

Deno.test("a server that sends its status and never ends the body keeps a call for five seconds", async () => {
  const sent = Promise.withResolvers<void>();
  await using server = new RawServer(async (conn) => {
    await readRequest(conn);
    const body = joined(EMPTY, webFrame(0x80, "grpc-status: 5\r\n"));
    await conn.write(joined(
      responseHead(200, ...WEB, "transfer-encoding: chunked"),
      `${body.length.toString(16)}\r\n`,
      body,
      "\r\n",
    ));
    sent.resolve();
    await conn.read(new Uint8Array(1));
  });
  const clock = new FakeClock(OVER_SOCKETS);
  const conn = newClientAt(clock.time, { targets: [server.url], protocol: "grpc-web" });
  const started = clock.now();
  const ended = call(conn, "grpc-web").then(() => null, (reason: unknown) => reason);
  await sent.promise;
  await clock.until(ended);
  const error = await ended;
  assertInstanceOf(error, ConnectError);
  assertEquals(error.code, Code.NotFound);
  const took = clock.now() - started;
  assert(took >= 5000 && took < 5100, `it took ${took} ms`);
  await clock.until(conn.close());
});

Deno.test("trailers may hold any character, and those of HTTP that have no name are left out", async () => {
  const trailers = new Headers();
  const onTrailer = (headers: Headers) =>
    headers.forEach((value, name) => trailers.set(name, value));
  const bodies = [
    web(EMPTY, webFrame(0x80, "Grpc-Status:0\nX-Latin: gr\u00fcn\n")),
    unary("", "trailer-: x", "trailer-x-b: y"),
  ];
  await using server = cannedServer(() => ({ bytes: bodies.shift()!, end: false }));
  for (const protocol of ["grpc-web", "connect"] as const) {
    await using conn = grpc.newClient({ targets: [server.url], protocol });
    await grpc.newService(conn, GREETER).SayHello({}, { timeout: 30_000, onTrailer });
  }
  assertEquals([...trailers], [["x-b", "y"], ["x-latin", "gr\u00c3\u00bcn"]]);
});

Deno.test("details of an error come as they are, with or without a URL before their type", async () => {
  const value = Buffer.from("\x0a\x01x").toString("base64");
  const details = [
    { type: "test.Request", value },
    {
      type: "type.googleapis.com/test.Request",
      value: value.replaceAll("=", ""),
      debug: { name: 7 },
    },
  ];
  await using server = cannedServer(() => ({
    bytes: failed(
      409,
      JSON.stringify({ code: "aborted", details, other: 1 }),
      "x-a: b",
      "trailer-x-c: d",
    ),
    end: false,
  }));
  await using conn = grpc.newClient({ targets: [server.url], protocol: "connect" });
  const error = await call(conn, "connect unary").then(() => null, (reason: unknown) => reason);
  assertInstanceOf(error, ConnectError);
  assertEquals(error.code, Code.Aborted);
  const Request = GREETER.messages.find(({ name }) => name === "Request")!;
  assertEquals(error.findDetails(Request).map((one) => (one as unknown as { name: string }).name), [
    "x",
    "x",
  ]);
  assertEquals([error.metadata.get("x-a"), error.metadata.get("x-c")], ["b", "d"]);
});
