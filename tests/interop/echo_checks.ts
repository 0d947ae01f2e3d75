// deno-lint-ignore-file camelcase -- checks are named alike in every language
/**
 * What this module, as a client, must get from any server of Echo.
 *
 * @module
 */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { echoFile, type EchoRequest, type EchoResponse } from "./echo.ts";

type Stream = grpc.CallStream<Partial<EchoRequest>, EchoResponse>;

/** The client of Echo, typed. */
export interface EchoClient {
  Unary(request: Partial<EchoRequest>, options?: number | grpc.CallOptions): Promise<EchoResponse>;
  ServerStream(options?: number | grpc.CallOptions): Promise<Stream>;
  ClientStream(options?: number | grpc.CallOptions): Promise<Stream>;
  BidiStream(options?: number | grpc.CallOptions): Promise<Stream>;
  Missing(request: Partial<EchoRequest>, options?: number): Promise<EchoResponse>;
}

type Check = (echo: EchoClient, conn: grpc.Conn) => Promise<void>;

const SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

/** Milliseconds that no check comes near unless something hangs. */
const ENOUGH = 10_000;

async function collect(stream: Stream): Promise<EchoResponse[]> {
  const all: EchoResponse[] = [];
  for await (const response of stream) all.push(response);
  return all;
}

async function send(stream: Stream, requests: readonly Partial<EchoRequest>[]): Promise<Stream> {
  for (const request of requests) await stream.write(request);
  stream.closeWrite();
  return stream;
}

async function fails(promise: Promise<unknown>, code: Code, message?: string) {
  const error = await assertRejects(() => promise);
  assertInstanceOf(error, ConnectError);
  assertEquals(Code[error.code], Code[code], error.message);
  if (message !== undefined) assertEquals(error.rawMessage, message);
  return error;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i));

/** The checks by name. */
export const CHECKS: Readonly<Record<string, Check>> = {
  async unary(echo) {
    const payload = new TextEncoder().encode("abc");
    const response = await echo.Unary({ text: "hello ☺", payload, responseSize: 5 }, ENOUGH);
    assertEquals(response.text, "hello ☺");
    assertEquals(new TextDecoder().decode(response.payload), "rrrrr");
    assertEquals(response.receivedBytes, 3n);
  },
  async unary_empty(echo) {
    assertEquals((await echo.Unary({}, ENOUGH)).received, 1);
  },
  async unary_large(echo) {
    const payload = new Uint8Array(1 << 20).fill(7);
    const response = await echo.Unary({ payload, responseSize: 1 << 20 }, ENOUGH);
    assertEquals(response.receivedBytes, 1n << 20n);
    assertEquals(response.payload.length, 1 << 20);
    assert(response.payload.every((byte) => byte === 0x72));
  },
  async unary_largest(echo) {
    // The limit of 4 MiB is allowed: key and length of the field take 5 octets of it.
    const payload = new Uint8Array((4 << 20) - 5);
    assertEquals((await echo.Unary({ payload }, ENOUGH)).receivedBytes, BigInt(payload.length));
  },
  async server_stream(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ text: "s", responseCount: 10, responseSize: 1000 });
    const responses = await collect(stream);
    assertEquals(responses.map((one) => one.index), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert(responses.every((one) => one.payload.length === 1000));
  },
  async server_stream_empty(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({});
    assertEquals(await stream.read(), null);
  },
  async server_stream_many(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ responseCount: 5000, text: "x" });
    assertEquals((await collect(stream)).length, 5000);
  },
  async server_stream_large(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ responseCount: 20, responseSize: 1 << 20 });
    let bytes = 0;
    for await (const response of stream) bytes += response.payload.length;
    assertEquals(bytes, 20 << 20);
  },
  async client_stream(echo) {
    const stream = await echo.ClientStream(ENOUGH);
    const payload = new Uint8Array(2);
    await send(stream, [..."abcde"].map((text) => ({ text, payload })));
    const response = await stream.read();
    assertEquals([response?.text, response?.received, response?.receivedBytes], ["abcde", 5, 10n]);
    assertEquals(await stream.read(), null);
  },
  async client_stream_large(echo) {
    const stream = await echo.ClientStream(ENOUGH);
    const payload = new Uint8Array(1 << 20);
    await send(stream, Array.from({ length: 20 }, () => ({ payload })));
    assertEquals((await stream.read())?.receivedBytes, 20n << 20n);
    assertEquals(await stream.read(), null);
  },
  async client_stream_empty(echo) {
    const stream = await send(await echo.ClientStream(ENOUGH), []);
    assertEquals((await stream.read())?.received, 0);
    assertEquals(await stream.read(), null);
  },
  async bidi_ping_pong(echo) {
    const stream = await echo.BidiStream(ENOUGH);
    for (const text of numbers(20)) {
      await stream.write({ text });
      assertEquals((await stream.read(ENOUGH))?.text, text);
    }
    stream.closeWrite();
    assertEquals(await stream.read(), null);
  },
  async bidi_many(echo) {
    const stream = await echo.BidiStream(ENOUGH);
    const sending = send(stream, numbers(500).map((text) => ({ text })));
    assertEquals((await collect(stream)).map((one) => one.text), numbers(500));
    await sending;
  },
  async bidi_empty(echo) {
    const stream = await send(await echo.BidiStream(ENOUGH), []);
    assertEquals(await stream.read(), null);
  },
  async bidi_read_times_out_and_goes_on(echo) {
    const stream = await echo.BidiStream(ENOUGH);
    await stream.write({ text: "late", delayMs: 150 });
    await fails(stream.read(20), Code.DeadlineExceeded);
    assertEquals((await stream.read(ENOUGH))?.text, "late");
    stream.closeWrite();
    assertEquals(await stream.read(), null);
  },
  async every_code(echo) {
    for (let code = 1; code <= 16; code++) {
      await fails(echo.Unary({ code, message: `code ${code}` }, ENOUGH), code, `code ${code}`);
    }
  },
  async special_message(echo) {
    await fails(echo.Unary({ code: 2, message: SPECIAL }, ENOUGH), Code.Unknown, SPECIAL);
  },
  async status_after_messages(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ responseCount: 3, code: 9, message: "then no" });
    for (let i = 0; i < 3; i++) assertEquals((await stream.read())?.index, i);
    await fails(stream.read(), Code.FailedPrecondition, "then no");
  },
  async status_in_bidi(echo) {
    const stream = await echo.BidiStream(ENOUGH);
    await stream.write({ text: "a" });
    await stream.write({ code: 5, message: "not here" });
    assertEquals((await stream.read())?.text, "a");
    await fails(stream.read(), Code.NotFound, "not here");
  },
  async metadata(echo) {
    const every = Uint8Array.from({ length: 256 }, (_, i) => i);
    const headers = new Headers();
    headers.append("x-echo-header-a", "one");
    headers.append("x-echo-header-a", "two");
    headers.append("x-echo-header-b-bin", encodeBinaryHeader(every));
    headers.append("x-echo-trailer-c", "three");
    headers.append("x-echo-trailer-d-bin", encodeBinaryHeader(Uint8Array.of(0, 255)));
    headers.append("x-echo-trailer-d-bin", encodeBinaryHeader(Uint8Array.of(171)));
    let header = new Headers();
    let trailer = new Headers();
    await echo.Unary({}, {
      timeout: ENOUGH,
      headers,
      onHeader: (value) => header = value,
      onTrailer: (value) => trailer = value,
    });
    checkMetadata(header, trailer, every);
    const stream = await echo.BidiStream({ timeout: ENOUGH, headers });
    await send(stream, [{ text: "m" }]);
    assertEquals((await collect(stream)).length, 1);
    checkMetadata(await stream.header, stream.trailer, every);
  },
  async metadata_with_error(echo) {
    const headers = { "x-echo-trailer-c": "three" };
    const call = echo.Unary({ code: 10, message: "no" }, { timeout: ENOUGH, headers });
    const error = await fails(call, Code.Aborted, "no");
    assertEquals(error.metadata.get("x-echo-trailer-c"), "three");
  },
  async header_first(echo) {
    const headers = { "x-echo-header-a": "early" };
    const stream = await echo.ServerStream({ timeout: ENOUGH, headers });
    const started = performance.now();
    await stream.write({ responseCount: 1, delayMs: 1000, headerFirst: true });
    assertEquals((await stream.header).get("x-echo-header-a"), "early");
    assert(performance.now() - started < 900, "the header came with the first message");
    assertEquals((await collect(stream)).length, 1);
  },
  async deadline(echo) {
    const started = performance.now();
    await fails(echo.Unary({ delayMs: 3000 }, 150), Code.DeadlineExceeded);
    const waited = performance.now() - started;
    assert(waited > 140 && waited < 2000, `the deadline came after ${waited} ms`);
  },
  async deadline_of_a_stream(echo) {
    const stream = await echo.ServerStream(250);
    await stream.write({ responseCount: 1000, delayMs: 20 });
    await fails(collect(stream), Code.DeadlineExceeded);
  },
  async deadline_seen(echo) {
    const { remainingMs } = await echo.Unary({}, 7000);
    assert(remainingMs > 5000n && remainingMs <= 7100n, `the server saw ${remainingMs} of 7000 ms`);
    assertEquals((await echo.Unary({})).remainingMs, 0n);
  },
  async cancel(echo) {
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ responseCount: 1000, delayMs: 20 });
    assertEquals((await stream.read())?.index, 0);
    stream.close();
    await fails(stream.read(), Code.Canceled);
  },
  async cancel_by_signal(echo) {
    const controller = new AbortController();
    const call = echo.Unary({ delayMs: 3000 }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await fails(call, Code.Canceled);
  },
  async cancel_before_messages(echo) {
    const stream = await echo.ClientStream(ENOUGH);
    stream.close();
    await fails(stream.read(), Code.Canceled);
  },
  async unimplemented_method(echo) {
    await fails(echo.Missing({}, ENOUGH), Code.Unimplemented);
  },
  async unimplemented_service(_echo, conn) {
    const absent = grpc.newService(conn, echoFile, "Absent");
    await fails(absent.Unary!({}, ENOUGH), Code.Unimplemented);
  },
  async compressed_responses(echo) {
    const request = { text: "z", responseSize: 100_000, compress: true };
    assertEquals((await echo.Unary(request, ENOUGH)).payload.length, 100_000);
    const stream = await echo.ServerStream(ENOUGH);
    await stream.write({ ...request, responseCount: 5 });
    for (const one of await collect(stream)) assertEquals(one.payload.length, 100_000);
  },
  async request_too_large(echo) {
    const payload = new Uint8Array(4 << 20);
    await fails(echo.Unary({ payload }, ENOUGH), Code.ResourceExhausted);
    // The connection is none the worse for it.
    assertEquals((await echo.Unary({ text: "still here" }, ENOUGH)).text, "still here");
  },
  async response_too_large(echo) {
    await fails(echo.Unary({ responseSize: 4 << 20 }, ENOUGH), Code.ResourceExhausted);
    assertEquals((await echo.Unary({ text: "still here" }, ENOUGH)).text, "still here");
  },
  async wrong_type_sends_nothing(echo) {
    const call = echo.Unary({ responseSize: "many" as unknown as number }, ENOUGH);
    await assertRejects(() => call, TypeError, "responseSize");
  },
  async parallel(echo) {
    const texts = numbers(500);
    const responses = await Promise.all(texts.map((text) => echo.Unary({ text }, ENOUGH)));
    assertEquals(responses.map((one) => one.text), texts);
  },
  async slow_reader_beside_others(echo) {
    const slow = await echo.ServerStream(ENOUGH);
    await slow.write({ responseCount: 40, responseSize: 1 << 20 });
    await slow.read();
    for (const text of numbers(50)) assertEquals((await echo.Unary({ text }, ENOUGH)).text, text);
    let count = 1;
    while (await slow.read() !== null) count++;
    assertEquals(count, 40);
  },
};

/** Values of one name: a server may send them one by one or joined. */
function values(headers: Headers, name: string): string[] {
  return headers.get(name)?.split(/, */) ?? [];
}

function checkMetadata(header: Headers, trailer: Headers, every: Uint8Array): void {
  const bytes = (headers: Headers, name: string) =>
    values(headers, name).map((value) => [...decodeBinaryHeader(value)]);
  assertEquals(values(header, "x-echo-header-a"), ["one", "two"]);
  assertEquals(bytes(header, "x-echo-header-b-bin"), [[...every]]);
  assertEquals(values(trailer, "x-echo-trailer-c"), ["three"]);
  assertEquals(bytes(trailer, "x-echo-trailer-d-bin"), [[0, 255], [171]]);
}

/** Checks that read responses while they send requests. */
export const FULL_DUPLEX: readonly string[] = [
  "bidi_ping_pong",
  "bidi_many",
  "bidi_read_times_out_and_goes_on",
  "status_in_bidi",
];

/** Runs all checks against a server, each as a step, but those `without` names. */
export async function runChecks(
  t: Deno.TestContext,
  options: Omit<grpc.ClientOptions, "targets"> & { readonly target: string },
  without: readonly string[] = [],
): Promise<void> {
  const { target, ...rest } = options;
  await using conn = grpc.newClient({ targets: [target], ...rest });
  const echo = grpc.newService(conn, echoFile, "Echo") as unknown as EchoClient;
  for (const [name, check] of Object.entries(CHECKS)) {
    if (!without.includes(name)) await t.step(name, () => check(echo, conn));
  }
}
