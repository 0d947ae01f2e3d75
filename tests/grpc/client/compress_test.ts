import { assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { data, headers } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { frames, RawServer } from "../../../support/raw_server.ts";
import { Flag, FrameType } from "../../../http/h2/frame.ts";
import { Decoder } from "../../../http/hpack/mod.ts";

const RESPONSE = [":status", "200", "content-type", "application/grpc"];
const SMALL = { name: "small" };
const LARGE = { name: "x".repeat(5000) };

/**
 * A server that knows no gzip: it refuses calls that announce it, as compression.md says, with `more`
 * fields. `calls` tells of each what was announced, and whether its message was compressed.
 */
function plainServer(calls: string[], more: string[]): RawServer {
  return new RawServer(frames(async (conn) => {
    await conn.start();
    const decoder = new Decoder({ maxHeaderListSize: 65_536, maxFields: 100 });
    const encodings = new Map<number, string>();
    const bodies = new Map<number, number[]>();
    for (;;) {
      const { type, id, payload, flags } = await conn.frame();
      if (type === FrameType.HEADERS) {
        const { fields } = decoder.decode(payload, 0, payload.length);
        const at = fields.indexOf("grpc-encoding");
        encodings.set(id, at < 0 ? "identity" : fields[at + 1]!);
        bodies.set(id, []);
      }
      if (type === FrameType.DATA) bodies.get(id)!.push(...payload);
      if (type > FrameType.HEADERS || (flags & Flag.END_STREAM) === 0) continue;
      const encoding = encodings.get(id)!;
      const body = Uint8Array.from(bodies.get(id)!);
      calls.push(`${encoding}${body[0] === 1 ? " compressed" : ""}`);
      if (encoding === "identity") {
        const ok = headers(id, ["grpc-status", "0"], { end: true });
        await conn.send(headers(id, RESPONSE), data(id, body), ok);
      } else {
        const refusal = [...RESPONSE, "grpc-status", "12", "grpc-message", "no gzip", ...more];
        await conn.send(headers(id, refusal, { end: true }));
      }
    }
  }));
}

function connect(server: RawServer) {
  const conn = grpc.newClient({ targets: [`127.0.0.1:${server.port}`], compress: true });
  return { conn, greeter: grpc.newService(conn, GREETER) };
}

/** Runs calls of all kinds with the same request, one after the other. */
async function callAll(greeter: grpc.DynamicService, request: object): Promise<void> {
  await greeter.SayHello(request, 10_000);
  const given = await greeter.ListReplies(request, 10_000);
  await given.read();
  for (const kind of ["ListReplies", "SumSizes", "Chat"]) {
    const stream = await greeter[kind](10_000);
    await stream.write(request);
    stream.closeWrite();
    await stream.read();
  }
}

for (const [size, request] of [["small", SMALL], ["large", LARGE]] as const) {
  for (const kind of ["SayHello", "ListReplies", "SumSizes", "Chat"]) {
    Deno.test(`a server without gzip gets a ${size} ${kind} once more, and all else, uncompressed`, async () => {
      const calls: string[] = [];
      await using server = plainServer(calls, ["grpc-accept-encoding", "identity, snappy"]);
      const { conn, greeter } = connect(server);
      await using _conn = conn;
      if (kind === "SayHello") {
        assertEquals((await greeter.SayHello(request, 10_000)).message, request.name);
      } else {
        const stream = await greeter[kind](10_000);
        await stream.write(request);
        stream.closeWrite();
        assertEquals((await stream.read()).message, request.name);
      }
      await callAll(greeter, LARGE);
      const first = size === "small" ? "gzip" : "gzip compressed";
      assertEquals(calls, [first, ...Array(6).fill("identity")]);
    });
  }
}

Deno.test("where a server does not list its encodings, the call fails, and later ones go uncompressed", async () => {
  const calls: string[] = [];
  await using server = plainServer(calls, []);
  const { conn, greeter } = connect(server);
  await using _conn = conn;
  const error = await assertRejects(() => greeter.SayHello(LARGE, 10_000), ConnectError);
  assertEquals((error as ConnectError).code, Code.Unimplemented);
  await callAll(greeter, LARGE);
  assertEquals(calls.slice(1), Array(5).fill("identity"));
});

Deno.test("UNIMPLEMENTED of a server with gzip means what it says", async () => {
  const registrar = new grpc.Registrar();
  let calls = 0;
  registrar.register(GREETER, {
    SayHello: () => {
      calls++;
      throw new ConnectError("later", Code.Unimplemented);
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr], compress: true });
  const greeter = grpc.newService(conn, GREETER);
  await assertRejects(() => greeter.SayHello(LARGE, 10_000), ConnectError, "later");
  assertEquals(calls, 1);
});
