import { assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { protoc } from "@sluice/sluice";
import { GREETER_PROTO, type Request } from "../../../support/greeter.ts";
import { codeOf, withGreeter } from "../../../support/with_greeter.ts";

/** The same methods, but each sends any number of responses: the wire cannot tell the difference. */
const LOOSE = new protoc.Loader().load(
  GREETER_PROTO.replaceAll("returns (Reply)", "returns (stream Reply)"),
  "loose.proto",
);

Deno.test("a client-streaming call whose server sends no or two responses is UNIMPLEMENTED", async () => {
  for (const count of [0, 2]) {
    await withGreeter({
      async *SumSizes() {
        for (let i = 0; i < count; i++) yield { message: String(i) };
      },
    }, async (greeter) => {
      const sums = await greeter.SumSizes();
      sums.closeWrite();
      assertEquals(await codeOf(sums.read()), Code.Unimplemented);
    }, { file: LOOSE });
  }
});

Deno.test("the response of a client-streaming call counts only with its status", async () => {
  await withGreeter({
    async *SumSizes() {
      yield { message: "too early" };
      throw new ConnectError("no", Code.Aborted);
    },
  }, async (greeter) => {
    const sums = await greeter.SumSizes();
    sums.closeWrite();
    assertEquals(await codeOf(sums.read()), Code.Aborted);
  }, { file: LOOSE });
});

Deno.test("responses nobody has read are dropped when the call is given up", async () => {
  await withGreeter({
    async *ListReplies({ count }: Request) {
      for (let i = 0; i < count; i++) yield { message: String(i) };
    },
  }, async (greeter) => {
    const cancel = new AbortController();
    const aborted = await greeter.ListReplies({ signal: cancel.signal });
    await aborted.write({ count: 3 });
    assertEquals((await aborted.read()).message, "0");
    // The rest and the status are here by now.
    await delay(50);
    cancel.abort();
    assertEquals(await codeOf(aborted.read()), Code.Canceled);

    const closed = await greeter.ListReplies();
    await closed.write({ count: 3 });
    assertEquals((await closed.read()).message, "0");
    await delay(50);
    closed.close();
    assertEquals(await codeOf(closed.read()), Code.Canceled);
  });
});

Deno.test("giving up a call that was read to its end changes nothing", async () => {
  await withGreeter({
    async *ListReplies() {
      yield { message: "only" };
    },
  }, async (greeter) => {
    const cancel = new AbortController();
    const replies = await greeter.ListReplies({ signal: cancel.signal });
    await replies.write({});
    assertEquals((await replies.read()).message, "only");
    assertEquals(await replies.read(), null);
    cancel.abort();
    assertEquals(await replies.read(), null);
  });
});

Deno.test("a client with compress sends large requests in gzip", async () => {
  const payload = new Uint8Array(1 << 20);
  const limit = 1 << 16;
  await withGreeter(
    { SayHello: ({ payload }: Request) => ({ message: String(payload.length) }) },
    async (greeter) => {
      assertEquals(
        (await greeter.SayHello({ payload: payload.subarray(0, limit - 16) })).message,
        "65520",
      );
      // The limit also holds for what comes out: only a compressed message gets as far as that.
      const error = await assertRejects(() => greeter.SayHello({ payload }), ConnectError);
      assertEquals(error.code, Code.ResourceExhausted);
      assertEquals(error.rawMessage, "grpc: decompressed message is larger than max (65536 bytes)");
    },
    { server: { maxReceiveSize: limit }, client: { compress: true } },
  );
});
