// deno-lint-ignore-file camelcase -- cases have the names of their descriptions
/** gRPC's negative HTTP/2 cases (http2-interop-test-descriptions): our client, and servers that break off. */
import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { goAway, rstStream, settings } from "../../support/frames.ts";
import { ErrorCode } from "../../http/h2/mod.ts";
import { LARGE, type Reply, type Script, ScriptedServer } from "./scripted_server.ts";
import { CASES, testServiceFile } from "./test_service.ts";

const MAX_CONCURRENT_STREAMS = 3;

/** Milliseconds that no call comes near unless something hangs. */
const ENOUGH = 20_000;

const REQUEST = { responseSize: 314_159, payload: { body: new Uint8Array(271_828) } };

/** Runs calls against a server with a script. */
async function against(
  server: ScriptedServer,
  run: (service: grpc.DynamicService, largeUnary: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using served = server;
  await using conn = grpc.newClient({ targets: [served.addr] });
  const service = grpc.newService(conn, testServiceFile, "TestService");
  await run(service, () => CASES.large_unary!(service, conn));
}

/** When the server says GOAWAY: ahead of the first answer, inside it and behind it. */
const GOAWAYS: Readonly<Record<string, Script>> = {
  async "ahead of the answer"(reply) {
    if (reply.nth === 1) await reply.send(goAway(reply.id, ErrorCode.NO_ERROR));
    await reply.whole();
  },
  async "inside the answer"(reply) {
    await reply.header();
    if (reply.nth === 1) await reply.send(goAway(reply.id, ErrorCode.NO_ERROR));
    await reply.data(LARGE);
    await reply.end();
  },
  async "behind the answer"(reply) {
    await reply.whole();
    if (reply.nth === 1) await reply.send(goAway(reply.id, ErrorCode.NO_ERROR));
  },
};

for (const [when, script] of Object.entries(GOAWAYS)) {
  Deno.test(`goaway: the next call goes by another connection: ${when}`, async () => {
    const server = new ScriptedServer(script);
    await against(server, async (_service, largeUnary) => {
      await largeUnary();
      await largeUnary();
      assertEquals(server.connections, 2);
    });
  });
}

/** What comes before RST_STREAM. */
const BEFORE: Readonly<Record<string, (reply: Reply) => Promise<void>>> = {
  rst_after_header: (reply) => reply.header(),
  async rst_during_data(reply) {
    await reply.header();
    await reply.data(LARGE.subarray(0, LARGE.length / 2));
  },
  async rst_after_data(reply) {
    await reply.header();
    await reply.data(LARGE);
  },
};

for (const [name, before] of Object.entries(BEFORE)) {
  Deno.test(`${name}: the call fails, and the connection goes on`, async () => {
    const server = new ScriptedServer(async (reply) => {
      if (reply.nth % 2 === 0) return reply.whole();
      await before(reply);
      await reply.send(rstStream(reply.id, ErrorCode.NO_ERROR));
    });
    await against(server, async (service, largeUnary) => {
      const error = await assertRejects(() => service.UnaryCall!(REQUEST, ENOUGH));
      assertInstanceOf(error, ConnectError);
      assertEquals(Code[error.code], Code[Code.Internal], error.message);
      await largeUnary();
      assertEquals([server.requests, server.connections], [2, 1]);
    });
  });
}

Deno.test("ping: the client acknowledges all of the server's", async () => {
  const server = new ScriptedServer(async (reply) => {
    await reply.ping();
    await reply.header();
    await reply.ping();
    await reply.data(LARGE.subarray(0, 100_000));
    await reply.ping();
    await reply.data(LARGE.subarray(100_000));
    await reply.ping();
    await reply.end();
  });
  await against(server, async (_service, largeUnary) => {
    await largeUnary();
    await largeUnary();
  });
  assertEquals([server.pings, server.outstandingPings], [8, 0]);
});

for (const late of [false, true]) {
  const when = late ? "set later" : "set at once";
  Deno.test(`max_streams: the client keeps to a limit of one: ${when}`, async () => {
    const one = [MAX_CONCURRENT_STREAMS, 1] as const;
    const server = new ScriptedServer(async (reply) => {
      if (late && reply.nth === 1) await reply.send(settings([...one]));
      await reply.whole();
    }, ...(late ? [] : [[...one] as [number, number]]));
    await against(server, async (_service, largeUnary) => {
      await largeUnary();
      await Promise.all(Array.from({ length: 10 }, largeUnary));
      assertEquals([server.requests, server.most], [11, 1]);
    });
  });
}

for (
  const [name, padding] of [["data_frame_padding", 255], [
    "no_df_padding_sanity_test",
    null,
  ]] as const
) {
  Deno.test(`${name}: the answer may come in five bytes a frame`, async () => {
    const server = new ScriptedServer(async (reply) => {
      await reply.header();
      await reply.data(LARGE, 5, padding);
      await reply.end();
    });
    await against(server, async (_service, largeUnary) => {
      await largeUnary();
      assertEquals(server.connections, 1);
    });
  });
}
