/** Responses that come in pieces of every size, and that end at every byte. */
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { toBinary } from "@bufbuild/protobuf";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import {
  cannedServer,
  chunked,
  joined,
  responseHead,
  webFrame,
} from "../../../support/canned_http.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

const REPLY = GREETER.messages.find(({ name }) => name === "Reply")!;
const TEXTS = ["first", "second"];
const messages = TEXTS.map((message) =>
  toBinary(REPLY, { $typeName: "test.Reply", message, payload: new Uint8Array(3) } as never)
);
const jsons = TEXTS.map((message) => JSON.stringify({ message }));
const base64 = (bytes: Uint8Array) => joined(Buffer.from(bytes).toString("base64"));

/** A response of a kind: the body is the same however it is cut. */
interface Response {
  readonly what: string;
  readonly options: Partial<grpc.ClientOptions>;
  readonly unary: boolean;
  readonly fields: readonly string[];
  readonly body: Uint8Array;
  /** Whether a part of the body may look like a whole. */
  readonly open?: boolean;
}

const TRAILERS = "grpc-status: 0\r\nx-trailer: yes\r\n";
const END = JSON.stringify({ metadata: { "x-trailer": ["yes"] } });
const webBody = joined(...messages.map((one) => webFrame(0, one)), webFrame(0x80, TRAILERS));

const RESPONSES: readonly Response[] = [
  {
    what: "gRPC-Web",
    options: { protocol: "grpc-web" },
    unary: false,
    fields: ["content-type: application/grpc-web+proto"],
    body: webBody,
  },
  {
    what: "gRPC-Web, compressed",
    options: { protocol: "grpc-web" },
    unary: false,
    fields: ["content-type: application/grpc-web+proto", "grpc-encoding: gzip"],
    body: joined(
      ...messages.map((one) => webFrame(1, gzipSync(one))),
      webFrame(0x81, gzipSync(TRAILERS)),
    ),
  },
  {
    what: "gRPC-Web in text",
    options: { protocol: "grpc-web", format: "text" },
    unary: false,
    fields: ["content-type: application/grpc-web-text+proto"],
    body: base64(webBody),
  },
  {
    what: "gRPC-Web in text, frame by frame",
    options: { protocol: "grpc-web", format: "text" },
    unary: false,
    fields: ["content-type: application/grpc-web-text"],
    body: joined(
      ...messages.map((one) => base64(webFrame(0, one))),
      base64(webFrame(0x80, TRAILERS)),
    ),
  },
  {
    what: "a stream of Connect",
    options: { protocol: "connect" },
    unary: false,
    fields: ["content-type: application/connect+proto"],
    body: joined(...messages.map((one) => webFrame(0, one)), webFrame(2, END)),
  },
  {
    what: "a stream of Connect in JSON",
    options: { protocol: "connect", format: "json" },
    unary: false,
    fields: ["content-type: application/connect+json", "connect-content-encoding: gzip"],
    body: joined(...jsons.map((one) => webFrame(0, one)), webFrame(3, gzipSync(END))),
  },
  {
    what: "one response of Connect",
    options: { protocol: "connect" },
    unary: true,
    fields: ["content-type: application/proto", "trailer-x-trailer: yes"],
    body: messages[0]!,
    // Where a field ends a message may end.
    open: true,
  },
  {
    what: "one response of Connect in JSON",
    options: { protocol: "connect", format: "json" },
    unary: true,
    fields: ["content-type: application/json; charset=utf-8", "trailer-x-trailer: yes"],
    body: joined(jsons[0]!),
  },
];

interface Outcome {
  readonly texts: readonly string[];
  readonly trailer: string | null;
  readonly error: ConnectError | null;
}

async function call(conn: grpc.Conn, unary: boolean): Promise<Outcome> {
  const service = grpc.newService(conn, GREETER);
  const texts: string[] = [];
  let trailer: string | null = null;
  const options: grpc.CallOptions = {
    timeout: 30_000,
    onTrailer: (headers) => trailer = headers.get("x-trailer"),
  };
  try {
    if (unary) texts.push((await service.SayHello({}, options)).message);
    else {
      for await (const { message } of await service.ListReplies({}, options)) texts.push(message);
    }
    return { texts, trailer, error: null };
  } catch (error) {
    assertInstanceOf(error, ConnectError, String(error));
    return { texts, trailer, error };
  }
}

for (const { what, options, unary, fields, body, open = false } of RESPONSES) {
  const head = responseHead(200, ...fields, "transfer-encoding: chunked");
  const whole = { texts: unary ? TEXTS.slice(0, 1) : TEXTS, trailer: "yes", error: null };

  Deno.test(`${what} is read however it is cut`, async () => {
    let sizes: number[] = [];
    await using server = cannedServer(() => ({
      bytes: joined(head, chunked(body, ...sizes)),
      end: false,
    }));
    await using conn = grpc.newClient({ targets: [server.url], ...options });
    for (let at = 1; at < body.length; at++) {
      sizes = [at];
      assertEquals(await call(conn, unary), whole, `cut at ${at}`);
    }
    sizes = Array.from({ length: body.length }, () => 1);
    assertEquals(await call(conn, unary), whole, "byte by byte");
    const random = new Random(7);
    for (let i = 0; i < 30; i++) {
      sizes = Array.from({ length: body.length }, () => 1 + random.below(9));
      assertEquals(await call(conn, unary), whole, `random ${i}`);
    }
    // Each response was read to its end: its connection took the next.
    assertEquals(server.connections, 1);
  });

  Deno.test(`${what} that ends before its end is an error`, async () => {
    let length = 0;
    let isLost = false;
    await using server = cannedServer(() => {
      const all = joined(head, chunked(body.subarray(0, length)));
      return { bytes: isLost ? all.subarray(0, all.length - 5) : all, end: isLost };
    });
    await using conn = grpc.newClient({ targets: [server.url], ...options });
    for (length = 0; length < body.length; length++) {
      for (isLost of [false, true]) {
        const { error, texts } = await call(conn, unary);
        assert(open && !isLost || error !== null, `${length} bytes, ${isLost ? "lost" : "ended"}`);
        // The messages that came whole are there.
        assert(texts.length <= TEXTS.length && texts.every((text, i) => text === TEXTS[i]) || open);
      }
    }
  });
}
