import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import { concat, data, headers, rstStream } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { type FrameConn, frames, RawServer } from "../../../support/raw_server.ts";
import { ErrorCode } from "../../../http/h2/mod.ts";

const RESPONSE = [":status", "200", "content-type", "application/grpc"];
const EMPTY = new Uint8Array(5);

/** Frames that answer a stream. */
type Answer = (id: number) => Uint8Array[];

const end = (id: number, ...fields: string[]) => headers(id, fields, { end: true });
const trailersOnly = (...fields: string[]): Answer => (id) => [end(id, ...RESPONSE, ...fields)];
const OK: Answer = (id) => [
  headers(id, RESPONSE),
  data(id, EMPTY),
  end(id, "grpc-status", "0"),
];

/** Answers that break a rule or stretch it, and what a unary call makes of them. */
const ANSWERS: readonly (readonly [what: string, answer: Answer, code: Code | "ok"])[] = [
  ["no status, no message", trailersOnly(), Code.Unknown],
  ["OK without a message", trailersOnly("grpc-status", "0"), Code.Unimplemented],
  ["a status with leading zeros", trailersOnly("grpc-status", "05"), Code.Unknown],
  ["a negative status", trailersOnly("grpc-status", "-1"), Code.Unknown],
  ["a status that is none", trailersOnly("grpc-status", "17"), Code.Unknown],
  ["a huge status", trailersOnly("grpc-status", "9".repeat(20_000)), Code.Unknown],
  ["a status that is no number", trailersOnly("grpc-status", "NOT_FOUND"), Code.Unknown],
  [
    "a long message",
    trailersOnly("grpc-status", "5", "grpc-message", "%F0%9F%98%80".repeat(1000)),
    Code.NotFound,
  ],
  [
    "a message that is badly encoded",
    trailersOnly("grpc-status", "5", "grpc-message", "%zz%ff%"),
    Code.NotFound,
  ],
  [
    "details that are none",
    trailersOnly("grpc-status", "5", "grpc-status-details-bin", "////"),
    Code.NotFound,
  ],
  [
    "metadata of every kind",
    trailersOnly("grpc-status", "5", "x-bin", "!!!", "x", "\x80\xff", "", ""),
    Code.Internal,
  ],
  ["a web page", (id) => [
    headers(id, [":status", "200", "content-type", "text/html"]),
    data(id, "<html>".repeat(1000), true),
  ], Code.Unknown],
  ["a gateway's error", (id) => [headers(id, [":status", "503"], { end: true })], Code.Unavailable],
  [
    "a status of HTTP that is none",
    (id) => [headers(id, [":status", "999"], { end: true })],
    Code.Unknown,
  ],
  ["another codec", (id) => [
    headers(id, [":status", "200", "content-type", "application/grpc+json"]),
    data(id, EMPTY),
    end(id, "grpc-status", "0"),
  ], Code.Internal],
  [
    "the end without trailers",
    (id) => [headers(id, RESPONSE), data(id, EMPTY, true)],
    Code.Internal,
  ],
  ["the end inside a message", (id) => [
    headers(id, RESPONSE),
    data(id, Uint8Array.of(0, 0, 0, 0, 9, 1)),
    end(id, "grpc-status", "0"),
  ], Code.Internal],
  ["a message that is too large", (id) => [
    headers(id, RESPONSE),
    data(id, Uint8Array.of(0, 255, 255, 255, 255)),
  ], Code.ResourceExhausted],
  ["a message with wrong flags", (id) => [
    headers(id, RESPONSE),
    data(id, Uint8Array.of(7, 0, 0, 0, 0)),
  ], Code.Internal],
  ["a compressed message of no encoding", (id) => [
    headers(id, RESPONSE),
    data(id, Uint8Array.of(1, 0, 0, 0, 1, 0)),
  ], Code.Internal],
  ["a message that is none", (id) => [
    headers(id, RESPONSE),
    data(id, Uint8Array.of(0, 0, 0, 0, 1, 255)),
  ], Code.Internal],
  ["a thousand messages", (id) => [
    headers(id, RESPONSE),
    data(id, concat(...Array.from({ length: 1000 }, () => EMPTY))),
  ], Code.Unimplemented],
  ["a hundred interim responses", (id) => [
    ...Array.from({ length: 100 }, () => headers(id, [":status", "103"])),
    ...OK(id),
  ], "ok"],
  ["a status in the header, another in the trailers", (id) => [
    headers(id, [...RESPONSE, "grpc-status", "8"]),
    end(id, "grpc-status", "9"),
  ], Code.FailedPrecondition],
  ["a message and an error", (id) => [
    headers(id, RESPONSE),
    data(id, EMPTY),
    end(id, "grpc-status", "10"),
  ], Code.Aborted],
  ["a reset after the header", (id) => [
    headers(id, RESPONSE),
    rstStream(id, ErrorCode.REFUSED_STREAM),
  ], Code.Unavailable],
  ["a reset with a code that is none", (id) => [rstStream(id, 0xffff_ffff)], Code.Internal],
  ["trailers twice", (id) => [
    headers(id, RESPONSE),
    headers(id, ["grpc-status", "0"]),
    end(id, "grpc-status", "0"),
  ], Code.Internal],
];

/** A server that gives each call the next answer, then good ones. */
function serve(answers: Answer[], seen: FrameConn[] = []): RawServer {
  return new RawServer(frames(async (conn) => {
    seen.push(conn);
    await conn.start();
    for (;;) {
      const id = await conn.request();
      await conn.send(...(answers.shift() ?? OK)(id));
    }
  }));
}

for (const [what, answer, code] of ANSWERS) {
  Deno.test(`a server that answers with ${what} hurts that call alone`, async () => {
    const connections: FrameConn[] = [];
    const answers: Answer[] = [];
    await using server = serve(answers, connections);
    await using conn = grpc.newClient({ targets: [`127.0.0.1:${server.port}`] });
    const greeter = grpc.newService(conn, GREETER);
    const outcome = async (call: Promise<unknown>): Promise<string> => {
      try {
        await call;
        return "ok";
      } catch (error) {
        assertInstanceOf(error, ConnectError);
        return Code[error.code]!;
      }
    };
    const wanted = code === "ok" ? code : Code[code];
    for (let i = 0; i < 3; i++) {
      answers.push(answer);
      assertEquals(await outcome(greeter.SayHello({}, 10_000)), wanted);
      answers.push(answer);
      // A stream has read what came before the error.
      const list = async () => {
        const stream = await greeter.ListReplies({}, 300);
        while (await stream.read() !== null);
      };
      await outcome(list());
      await greeter.SayHello({}, 10_000);
    }
    assertEquals(connections.length, 1);
  });
}

Deno.test("a stream nobody reads holds its server back, however small its messages are", async () => {
  let sent = 0;
  let stop = false;
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    async *ListReplies() {
      for (; !stop; sent++) yield {};
    },
    SayHello: () => ({ message: "alive" }),
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const greeter = grpc.newService(conn, GREETER);
  using stream = await greeter.ListReplies({});
  const first = stream.read();
  assertEquals((await first).message, "");
  for (let before = -1; before !== sent;) {
    before = sent;
    await delay(200);
    assert(sent < 4_000_000, `${sent} messages`);
  }
  assertEquals((await greeter.SayHello({}, 10_000)).message, "alive");
  stop = true;
});

Deno.test("a stream that never ends lets the reader's process live", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    async *ListReplies() {
      for (;;) yield { message: "x" };
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const stream = await grpc.newService(conn, GREETER).ListReplies({});
  let over = false;
  const reading = (async () => {
    while (!over) await stream.read();
  })();
  for (let i = 0; i < 20; i++) await delay(1);
  over = true;
  await reading;
  stream.close();
  await assertRejects(() => stream.read(), ConnectError);
});
