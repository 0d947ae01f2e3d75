import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { data, goAway, headers, rstStream } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { type FrameConn, frames, RawServer } from "../../../support/raw_server.ts";
import { Flag, FrameType } from "../../../http/h2/frame.ts";
import { ErrorCode } from "../../../http/h2/mod.ts";

const RESPONSE = [":status", "200", "content-type", "application/grpc"];
const OK = ["grpc-status", "0"];

/** What becomes of a stream: true if the fault has ended it. */
type Fault = (conn: FrameConn, id: number, nth: number) => Promise<boolean>;

/** How a server shows that it has not begun a call. */
const REFUSALS: Readonly<Record<string, (conn: FrameConn, id: number) => Promise<void>>> = {
  "RST_STREAM(REFUSED_STREAM)": (conn, id) => conn.send(rstStream(id, ErrorCode.REFUSED_STREAM)),
  "GOAWAY with a lower stream": (conn, id) => conn.send(goAway(id - 1, ErrorCode.NO_ERROR)),
};

/**
 * A server that sends back what it got, once it got all of it: a request is read as a reply. Of
 * client streams it sends back the first message. `bodies` are those it has answered.
 */
function echo(fault: Fault, bodies: Uint8Array[] = []): RawServer {
  let calls = 0;
  return new RawServer(frames(async (conn) => {
    await conn.start();
    const streams = new Map<number, { path: string; body: number[] }>();
    for (;;) {
      const frame = await conn.frame();
      const { id } = frame;
      if (frame.type === FrameType.HEADERS) {
        streams.set(id, { path: "", body: [] });
        if (await fault(conn, id, ++calls)) streams.delete(id);
      }
      const stream = streams.get(id);
      if (stream === undefined) continue;
      if (frame.type === FrameType.DATA) stream.body.push(...frame.payload);
      if (frame.type === FrameType.RST_STREAM) streams.delete(id);
      if (frame.type > FrameType.HEADERS || (frame.flags & Flag.END_STREAM) === 0) continue;
      const body = Uint8Array.from(stream.body);
      bodies.push(body);
      const first = body.subarray(0, 5 + (body[4] ?? 0));
      await conn.send(headers(id, RESPONSE), data(id, first), headers(id, OK, { end: true }));
    }
  }));
}

/** Messages in a body. */
function count(body: Uint8Array): number {
  let messages = 0;
  for (let at = 0; at < body.length; at += 5 + body[at + 4]!) messages++;
  return messages;
}

function connect(server: RawServer, options: Partial<grpc.ClientOptions> = {}) {
  const conn = grpc.newClient({
    targets: [`127.0.0.1:${server.port}`],
    backoff: { initial: 10, max: 20 },
    ...options,
  });
  return { conn, greeter: grpc.newService(conn, GREETER) };
}

const SERVICE = GREETER.services[0] as DescService;

async function* requests(...names: string[]): AsyncGenerator<{ name: string }> {
  for (const name of names) yield { name };
}

/** Calls of all kinds; each gives how many messages the server has to have got, and the reply. */
// deno-lint-ignore no-explicit-any
type Run = (greeter: any, conn: grpc.Conn) => Promise<{ sent: number; text: string }>;

/** An interceptor that does nothing. */
const pass: Interceptor = (next) => (request) => next(request);

const PATIENT = { timeout: 20_000 };

const RUNS: Readonly<Record<string, Run>> = {
  "a unary call": async (greeter) => ({
    sent: 1,
    text: (await greeter.SayHello({ name: "one" }, PATIENT)).message,
  }),
  "a server stream, request written": async (greeter) => {
    const stream = await greeter.ListReplies(PATIENT);
    await stream.write({ name: "one" });
    return { sent: 1, text: (await stream.read()).message };
  },
  "a server stream, request given": async (greeter) => {
    const stream = await greeter.ListReplies({ name: "one" }, PATIENT);
    return { sent: 1, text: (await stream.read()).message };
  },
  "a client stream, closed": async (greeter) => {
    const stream = await greeter.SumSizes(PATIENT);
    for (const name of ["one", "two", "three"]) await stream.write({ name });
    stream.closeWrite();
    return { sent: 3, text: (await stream.read()).message };
  },
  "a client stream, written slowly": async (greeter) => {
    const stream = await greeter.SumSizes(PATIENT);
    for (const name of ["one", "two", "three"]) {
      await stream.write({ name });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    stream.closeWrite();
    return { sent: 3, text: (await stream.read()).message };
  },
  "a bidirectional stream": async (greeter) => {
    const stream = await greeter.Chat(PATIENT);
    await Promise.all([stream.write({ name: "one" }), stream.write({ name: "two" })]);
    stream.closeWrite();
    return { sent: 2, text: (await stream.read()).message };
  },
  "a bidirectional stream of createClient": async (_, conn) => {
    // deno-lint-ignore no-explicit-any
    const client = createClient(SERVICE, conn) as any;
    const stream = client.chat(requests("one", "two"), { timeoutMs: 20_000 });
    for await (const reply of stream) return { sent: 2, text: reply.message };
    throw new Error("no reply");
  },
  "a client stream of createClient": async (_, conn) => {
    // deno-lint-ignore no-explicit-any
    const client = createClient(SERVICE, conn) as any;
    const reply = await client.sumSizes(requests("one", "two", "three"), { timeoutMs: 20_000 });
    return { sent: 3, text: reply.message };
  },
};

for (const [how, refuse] of Object.entries(REFUSALS)) {
  for (const [what, run] of Object.entries(RUNS)) {
    for (const interceptors of [[], [pass]]) {
      const through = interceptors.length > 0 ? " through interceptors" : "";
      Deno.test(`${what}${through} is sent again whole after ${how}`, async () => {
        for (const later of [false, true]) {
          const bodies: Uint8Array[] = [];
          await using server = echo(async (conn, id, nth) => {
            if (nth > 2) return false;
            // At once, or when everything was sent.
            if (later) await new Promise((resolve) => setTimeout(resolve, 50));
            await refuse(conn, id);
            return true;
          }, bodies);
          const { conn, greeter } = connect(server, { interceptors });
          await using _conn = conn;
          const { sent, text } = await run(greeter, conn);
          assertEquals(text, "one");
          assertEquals(bodies.map(count), [sent]);
        }
      });
    }
  }
}

Deno.test("a request side that was closed without a request is closed again", async () => {
  const bodies: Uint8Array[] = [];
  await using server = echo(async (conn, id, nth) => {
    if (nth > 1) return false;
    await conn.send(rstStream(id, ErrorCode.REFUSED_STREAM));
    return true;
  }, bodies);
  const { conn, greeter } = connect(server);
  await using _conn = conn;
  const stream = await greeter.Chat(PATIENT);
  stream.closeWrite();
  assertEquals(await stream.read(), null);
  assertEquals(bodies.map(count), [0]);
});

Deno.test("a call whose connection breaks before the response fails at once and is not sent again", async () => {
  for (const [what, run] of Object.entries(RUNS)) {
    let calls = 0;
    await using server = echo((conn, _, nth) => {
      calls = nth;
      conn.conn.close();
      return Promise.resolve(true);
    });
    const { conn, greeter } = connect(server);
    await using _conn = conn;
    const before = performance.now();
    const error = await assertRejects(() => run(greeter, conn), Error, undefined, what);
    assertInstanceOf(error, ConnectError, what);
    assertEquals(Code[error.code], Code[Code.Unavailable], what);
    assert(performance.now() - before < 10_000, what);
    assertEquals(calls, 1, what);
  }
});

Deno.test("a server that refuses for ever is asked a few times", async () => {
  for (const what of ["a unary call", "a bidirectional stream"]) {
    let calls = 0;
    await using server = echo(async (conn, id, nth) => {
      calls = nth;
      await conn.send(rstStream(id, ErrorCode.REFUSED_STREAM));
      return true;
    });
    const { conn, greeter } = connect(server);
    await using _conn = conn;
    const error = await assertRejects(() => RUNS[what]!(greeter, conn), ConnectError);
    assertEquals((error as ConnectError).code, Code.Unavailable);
    assertEquals(calls, 6);
  }
});

Deno.test("what was sent is not kept beyond its limit: the call then fails instead", async () => {
  let calls = 0;
  await using server = echo(async (conn, id, nth) => {
    calls = nth;
    for (let got = 0; got < 60_000;) got += (await conn.next(FrameType.DATA)).payload.length;
    await conn.send(rstStream(id, ErrorCode.REFUSED_STREAM));
    return true;
  });
  const { conn, greeter } = connect(server);
  await using _conn = conn;
  const stream = await greeter.Chat(PATIENT);
  // Nobody waits for them: what a server has not read is 64 KiB.
  for (let i = 0; i < 20; i++) stream.write({ payload: new Uint8Array(20_000) });
  const error = await assertRejects(() => stream.read(), ConnectError);
  assertEquals((error as ConnectError).code, Code.Unavailable);
  assertEquals(calls, 1);
});
