/** What a server's frames make of calls with policies. */
import { assert, assertEquals } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { data, goAway, headers, rstStream } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { type FrameConn, frames, RawServer } from "../../../support/raw_server.ts";
import { codeOf } from "../../../support/with_greeter.ts";
import { FrameType } from "../../../http/h2/frame.ts";
import { ErrorCode } from "../../../http/h2/mod.ts";
import { Decoder } from "../../../http/hpack/mod.ts";

const RESPONSE = [":status", "200", "content-type", "application/grpc"];
const REPLY = new Uint8Array([0, 0, 0, 0, 4, 0x0a, 2, 0x6f, 0x6b]);

/** What becomes of one attempt. */
type Answer = (conn: FrameConn, id: number) => Promise<void>;

const ok: Answer = (conn, id) =>
  conn.send(
    headers(id, RESPONSE),
    data(id, REPLY),
    headers(id, ["grpc-status", "0"], { end: true }),
  );
/** Headers, a message if asked for, and then a failure. */
const late = (...body: Uint8Array[]): Answer => (conn, id) =>
  conn.send(
    headers(id, RESPONSE),
    ...body.map((bytes) => data(id, bytes)),
    headers(id, ["grpc-status", "14"], { end: true }),
  );
const fields = (...given: string[]): Answer => (conn, id) =>
  conn.send(headers(id, given, { end: true }));
const trailersOnly = (...given: string[]): Answer => fields(...RESPONSE, ...given);
const unavailable = trailersOnly("grpc-status", "14", "grpc-message", "busy");
const reset = (code: number): Answer => (conn, id) => conn.send(rstStream(id, code));
const refused = reset(ErrorCode.REFUSED_STREAM);
const drop: Answer = (conn) => Promise.resolve(conn.conn.close());
const leave: Answer = (conn, id) => conn.send(goAway(id - 1, ErrorCode.NO_ERROR));
const silence: Answer = () => Promise.resolve();

/** Runs a call on a server that answers its attempts in turn; the last answer goes for all others. */
async function attempts(
  answers: readonly Answer[],
  policy: Pick<grpc.MethodConfig, "retryPolicy" | "hedgingPolicy">,
  run: (greeter: grpc.DynamicService) => Promise<unknown>,
): Promise<{ previous: (string | undefined)[]; resets: number[]; code: Code | undefined }> {
  const previous: (string | undefined)[] = [];
  const resets: number[] = [];
  await using server = new RawServer(frames(async (conn) => {
    await conn.start();
    const decoder = new Decoder();
    for (;;) {
      const { type, id, payload } = await conn.frame();
      if (type === FrameType.RST_STREAM) resets.push(payload.at(-1)!);
      if (type !== FrameType.HEADERS) continue;
      const { fields } = decoder.decode(payload, 0, payload.length);
      const at = fields.indexOf("grpc-previous-rpc-attempts");
      const nth = previous.push(at < 0 ? undefined : fields[at + 1]) - 1;
      await answers[Math.min(nth, answers.length - 1)]!(conn, id);
    }
  }));
  await using conn = grpc.newClient({
    targets: [`127.0.0.1:${server.port}`],
    backoff: { initial: 5, max: 20 },
    serviceConfig: { methodConfig: [{ name: [{}], waitForReady: true, ...policy }] },
  });
  const code = await codeOf(run(grpc.newService(conn, GREETER)));
  return { previous, resets, code };
}

const retryPolicy: grpc.RetryPolicy = {
  maxAttempts: 3,
  initialBackoff: "0.001s",
  maxBackoff: "0.001s",
  backoffMultiplier: 1,
  retryableStatusCodes: ["UNAVAILABLE"],
};

const PATIENT = { timeout: 20_000 };
const unary = (greeter: grpc.DynamicService) => greeter.SayHello({ name: "a" }, PATIENT);
const chat = async (greeter: grpc.DynamicService) => {
  const stream = await greeter.Chat(PATIENT);
  await stream.write({ name: "a" });
  stream.closeWrite();
  assertEquals((await stream.read())?.message, "ok");
  assertEquals(await stream.read(), null);
};
const CALLS = { "a unary call": unary, "a stream": chat };

for (const [what, run] of Object.entries(CALLS)) {
  Deno.test(`${what} that is refused unseen is sent again without counting (TestRetryStats)`, async () => {
    const pushback = trailersOnly("grpc-status", "14", "grpc-retry-pushback-ms", "10");
    for (const unseen of [refused, leave]) {
      assertEquals((await attempts([unseen, pushback, ok], { retryPolicy }, run)).previous, [
        undefined,
        undefined,
        "1",
      ]);
    }
    // Between two attempts by the policy, too.
    assertEquals((await attempts([unavailable, refused, ok], { retryPolicy }, run)).previous, [
      undefined,
      "1",
      "1",
    ]);
  });

  Deno.test(`${what} that is refused for ever ends: five times without counting, then by the policy`, async () => {
    const { previous, code } = await attempts([refused], { retryPolicy }, run);
    assertEquals(previous, [...Array(6).fill(undefined), "1", "2"]);
    assertEquals(code, Code.Unavailable);
  });

  Deno.test(`${what} is sent again after whatever means a retryable code, before there is a header`, async () => {
    for (
      const failure of [
        unavailable,
        drop,
        fields(":status", "503", "content-type", "text/html"),
        fields(":status", "429"),
        trailersOnly("grpc-status", "14", "grpc-retry-pushback-ms", "0"),
      ]
    ) {
      const { previous, code } = await attempts([failure, failure, ok], { retryPolicy }, run);
      assertEquals([previous, code], [[undefined, "1", "2"], undefined]);
    }
  });

  Deno.test(`${what} is not sent again after other codes, or when there was a header`, async () => {
    for (
      const [failure, code] of [
        [reset(ErrorCode.INTERNAL_ERROR), Code.Internal],
        [reset(ErrorCode.CANCEL), Code.Canceled],
        [reset(ErrorCode.ENHANCE_YOUR_CALM), Code.ResourceExhausted],
        [fields(":status", "404"), Code.Unimplemented],
        [trailersOnly("grpc-status", "5"), Code.NotFound],
        [trailersOnly("grpc-status", "99"), Code.Unknown],
        [late(), Code.Unavailable],
        [trailersOnly("grpc-status", "14", "grpc-retry-pushback-ms", "-1"), Code.Unavailable],
        [
          trailersOnly(
            ...["grpc-status", "14"],
            ...["grpc-retry-pushback-ms", "1", "grpc-retry-pushback-ms", "2"],
          ),
          Code.Unavailable,
        ],
      ] as const
    ) {
      const seen = await attempts([failure, ok], { retryPolicy }, run);
      assertEquals([seen.previous, Code[seen.code!]], [[undefined], Code[code]]);
    }
  });
}

Deno.test("what came before a failure is given, and the call is not sent again", async () => {
  const seen = await attempts([late(REPLY), ok], { retryPolicy }, async (greeter) => {
    const stream = await greeter.ListReplies({ name: "a" }, PATIENT);
    assertEquals((await stream.read())?.message, "ok");
    await stream.read();
  });
  assertEquals([seen.previous, seen.code], [[undefined], Code.Unavailable]);
});

for (const [what, run] of Object.entries(CALLS)) {
  Deno.test(`${what}, hedged: attempts that are refused begin again, those that lose are reset`, async () => {
    const hedgingPolicy = {
      maxAttempts: 3,
      hedgingDelay: "0.02s",
      nonFatalStatusCodes: ["UNAVAILABLE"],
    };
    const again = await attempts([refused, ok], { hedgingPolicy }, run);
    assertEquals([again.previous, again.code], [[undefined, undefined], undefined]);
    const lost = await attempts([silence, ok], { hedgingPolicy }, run);
    assertEquals([lost.previous, lost.code], [[undefined, "1"], undefined]);
    assert(lost.resets.length <= 1);
    const broken = await attempts([silence, drop, ok], { hedgingPolicy }, run);
    // With the connection both are lost: the next begins at once.
    assertEquals([broken.previous, broken.code], [[undefined, "1", "2"], undefined]);
    const all = await attempts([unavailable], { hedgingPolicy }, run);
    assertEquals([all.previous, all.code], [[undefined, "1", "2"], Code.Unavailable]);
    const refusals = await attempts([refused], { hedgingPolicy }, run);
    assertEquals(refusals.code, Code.Unavailable);
    assertEquals(refusals.previous.length, 8);
  });
}
