// deno-lint-ignore-file camelcase -- cases have the names of their descriptions
/**
 * gRPC's interoperability service, as its test cases expect it of a server, and the test cases, as
 * a client runs them. Sizes, names and codes are those of grpc's interop-test-descriptions.
 *
 * @module
 */
import type { DescFile } from "@bufbuild/protobuf";
import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { delay } from "@std/async";
import { grpc, protoc } from "@sluice/sluice";

const NAME = "test_service.proto";

/** The loaded file. */
export const testServiceFile: DescFile = new protoc.Loader().load(
  Deno.readTextFileSync(new URL(NAME, import.meta.url)),
  NAME,
);

interface Payload {
  body: Uint8Array;
}

interface EchoStatus {
  code: number;
  message: string;
}

interface Flag {
  value: boolean;
}

interface SimpleRequest {
  responseSize: number;
  responseCompressed?: Flag;
  expectCompressed?: Flag;
  payload?: Payload;
  responseStatus?: EchoStatus;
  fillServerId: boolean;
}

interface OutputRequest {
  responseParameters: { size: number; intervalUs: number; compressed?: Flag }[];
  payload?: Payload;
  responseStatus?: EchoStatus;
}

interface InputRequest {
  payload?: Payload;
  expectCompressed?: Flag;
}

const ECHO_INITIAL = "x-grpc-test-echo-initial";
const ECHO_TRAILING = "x-grpc-test-echo-trailing-bin";

function echoMetadata(context: grpc.CallContext): void {
  const initial = context.requestHeader.get(ECHO_INITIAL);
  if (initial !== null) context.responseHeader.set(ECHO_INITIAL, initial);
  const trailing = context.requestHeader.get(ECHO_TRAILING);
  if (trailing !== null) context.responseTrailer.set(ECHO_TRAILING, trailing);
}

function echoStatus(status: EchoStatus | undefined): void {
  if (status !== undefined && status.code !== 0) {
    throw new ConnectError(status.message, status.code);
  }
}

async function* outputs(request: OutputRequest, signal: AbortSignal) {
  for (const { size, intervalUs, compressed } of request.responseParameters) {
    if (intervalUs > 0) await delay(intervalUs / 1000, { signal });
    yield reply(body(size), compressed);
  }
}

const body = (size: number) => ({ payload: { body: new Uint8Array(size) } });

/** A response that is compressed, if its call is, only where the request asks for it. */
function reply<T extends object>(message: T, compressed: Flag | undefined): T {
  return compressed?.value === true ? message : grpc.uncompressed(message);
}

function checkCompressed(request: object, expected: Flag | undefined): void {
  if (expected === undefined || expected.value === grpc.wasCompressed(request)) return;
  throw new ConnectError("the request is not compressed as it says", Code.InvalidArgument);
}

/** A registrar with the service. */
export function testService(): grpc.Registrar {
  const registrar = new grpc.Registrar();
  const serverId = crypto.randomUUID();
  registrar.register(testServiceFile, "TestService", {
    EmptyCall: () => ({}),
    UnaryCall(request: SimpleRequest, context) {
      echoMetadata(context);
      echoStatus(request.responseStatus);
      checkCompressed(request, request.expectCompressed);
      context.compress = request.responseCompressed?.value === true;
      const response = {
        ...body(request.responseSize),
        serverId: request.fillServerId ? serverId : "",
      };
      return reply(response, request.responseCompressed);
    },
    async *StreamingOutputCall(request: OutputRequest, context) {
      echoMetadata(context);
      context.compress = request.responseParameters.some(({ compressed }) => compressed?.value);
      yield* outputs(request, context.signal);
      echoStatus(request.responseStatus);
    },
    async StreamingInputCall(requests: AsyncIterable<InputRequest>) {
      let aggregatedPayloadSize = 0;
      for await (const request of requests) {
        checkCompressed(request, request.expectCompressed);
        aggregatedPayloadSize += request.payload?.body.length ?? 0;
      }
      return { aggregatedPayloadSize };
    },
    async *FullDuplexCall(requests: AsyncIterable<OutputRequest>, context) {
      echoMetadata(context);
      for await (const request of requests) {
        echoStatus(request.responseStatus);
        yield* outputs(request, context.signal);
      }
    },
  });
  return registrar;
}

// deno-lint-ignore no-explicit-any
type Stream = grpc.CallStream<object, any>;

/** Milliseconds that no case comes near unless something hangs. */
const ENOUGH = 10_000;

const REQUEST_SIZES = [27_182, 8, 1_828, 45_904];
const RESPONSE_SIZES = [31_415, 9, 2_653, 58_979];
const SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

async function fails(promise: Promise<unknown>, code: Code, message?: string): Promise<void> {
  const error = await assertRejects(() => promise);
  assertInstanceOf(error, ConnectError);
  assertEquals(Code[error.code], Code[code], error.message);
  if (message !== undefined) assertEquals(error.rawMessage, message);
}

async function largeUnary(service: grpc.DynamicService, options: grpc.CallOptions): Promise<void> {
  const request = { responseSize: 314_159, ...body(271_828) };
  const response = await service.UnaryCall!(request, options);
  assertEquals(response.payload.body.length, 314_159);
}

function checkCustomMetadata(header: Headers, trailer: Headers): void {
  assertEquals(header.get(ECHO_INITIAL), "test_initial_metadata_value");
  const trailing = decodeBinaryHeader(trailer.get(ECHO_TRAILING) ?? "");
  assertEquals([...trailing], [0xab, 0xab, 0xab]);
}

/** The test cases by name. */
export const CASES: Readonly<
  Record<string, (service: grpc.DynamicService, conn: grpc.Conn) => Promise<void>>
> = {
  async empty_unary(service) {
    const response = await service.EmptyCall!({}, ENOUGH);
    assertEquals(response.$typeName, "grpc.testing.Empty");
  },
  async large_unary(service) {
    await largeUnary(service, { timeout: ENOUGH });
  },
  async client_streaming(service) {
    const stream: Stream = await service.StreamingInputCall!(ENOUGH);
    for (const size of REQUEST_SIZES) await stream.write(body(size));
    stream.closeWrite();
    assertEquals((await stream.read()).aggregatedPayloadSize, 74_922);
    assertEquals(await stream.read(), null);
  },
  async server_streaming(service) {
    const stream: Stream = await service.StreamingOutputCall!(ENOUGH);
    await stream.write({ responseParameters: RESPONSE_SIZES.map((size) => ({ size })) });
    const sizes: number[] = [];
    for await (const { payload } of stream) sizes.push(payload.body.length);
    assertEquals(sizes, RESPONSE_SIZES);
  },
  async ping_pong(service) {
    const stream: Stream = await service.FullDuplexCall!(ENOUGH);
    for (const [i, size] of RESPONSE_SIZES.entries()) {
      await stream.write({ responseParameters: [{ size }], ...body(REQUEST_SIZES[i]!) });
      assertEquals((await stream.read()).payload.body.length, size);
    }
    stream.closeWrite();
    assertEquals(await stream.read(), null);
  },
  async empty_stream(service) {
    const stream: Stream = await service.FullDuplexCall!(ENOUGH);
    stream.closeWrite();
    assertEquals(await stream.read(), null);
  },
  async timeout_on_sleeping_server(service) {
    const call = (async () => {
      const stream: Stream = await service.FullDuplexCall!(1);
      await stream.write({ responseParameters: [{ size: 31_415, intervalUs: 100_000 }] });
      await stream.read();
    })();
    await fails(call, Code.DeadlineExceeded);
  },
  async cancel_after_begin(service) {
    const stream: Stream = await service.StreamingInputCall!(ENOUGH);
    stream.close();
    await fails(stream.read(), Code.Canceled);
  },
  async cancel_after_first_response(service) {
    const stream: Stream = await service.FullDuplexCall!(ENOUGH);
    await stream.write({ responseParameters: [{ size: 31_415 }], ...body(27_182) });
    assertEquals((await stream.read()).payload.body.length, 31_415);
    stream.close();
    await fails(stream.read(), Code.Canceled);
  },
  async status_code_and_message(service) {
    const responseStatus = { code: 2, message: "test status message" };
    await fails(
      service.UnaryCall!({ responseStatus }, ENOUGH),
      Code.Unknown,
      "test status message",
    );
    const stream: Stream = await service.FullDuplexCall!(ENOUGH);
    await stream.write({ responseStatus });
    stream.closeWrite();
    await fails(stream.read(), Code.Unknown, "test status message");
  },
  async special_status_message(service) {
    const responseStatus = { code: 2, message: SPECIAL };
    await fails(service.UnaryCall!({ responseStatus }, ENOUGH), Code.Unknown, SPECIAL);
  },
  async custom_metadata(service) {
    const headers = {
      [ECHO_INITIAL]: "test_initial_metadata_value",
      [ECHO_TRAILING]: encodeBinaryHeader(Uint8Array.of(0xab, 0xab, 0xab)),
    };
    let header = new Headers();
    let trailer = new Headers();
    await largeUnary(service, {
      timeout: ENOUGH,
      headers,
      onHeader: (value) => header = value,
      onTrailer: (value) => trailer = value,
    });
    checkCustomMetadata(header, trailer);
    const stream: Stream = await service.FullDuplexCall!({ timeout: ENOUGH, headers });
    await stream.write({ responseParameters: [{ size: 314_159 }], ...body(271_828) });
    stream.closeWrite();
    assertEquals((await stream.read()).payload.body.length, 314_159);
    assertEquals(await stream.read(), null);
    checkCustomMetadata(await stream.header, stream.trailer);
  },
  async unimplemented_method(service) {
    await fails(service.UnimplementedCall!({}, ENOUGH), Code.Unimplemented);
  },
  async unimplemented_service(_service, conn) {
    const absent = grpc.newService(conn, testServiceFile, "UnimplementedService");
    await fails(absent.UnimplementedCall!({}, ENOUGH), Code.Unimplemented);
  },
  async rpc_soak(service) {
    for (let i = 0; i < 20; i++) {
      const started = performance.now();
      await largeUnary(service, { timeout: ENOUGH });
      assert(performance.now() - started < 1000);
    }
  },
};

const YES = { value: true };
const NO = { value: false };

/** The cases with compressed messages, which grpc-go does not have. */
export const COMPRESSION_CASES: Readonly<
  Record<string, (service: grpc.DynamicService, encoding: grpc.CallOptions) => Promise<void>>
> = {
  async client_compressed_unary(service, encoding) {
    const request = (expectCompressed: Flag) => ({
      expectCompressed,
      responseSize: 314_159,
      ...body(271_828),
    });
    const options = { ...encoding, compress: true, timeout: ENOUGH };
    // A server that takes this does not know the field.
    await fails(
      service.UnaryCall!(grpc.uncompressed(request(YES)), options),
      Code.InvalidArgument,
    );
    for (const message of [request(YES), grpc.uncompressed(request(NO))]) {
      assertEquals((await service.UnaryCall!(message, options)).payload.body.length, 314_159);
    }
  },
  async server_compressed_unary(service) {
    for (const responseCompressed of [YES, NO]) {
      const request = { responseCompressed, responseSize: 314_159, ...body(271_828) };
      const response = await service.UnaryCall!(request, ENOUGH);
      assertEquals(grpc.wasCompressed(response), responseCompressed.value);
      assertEquals(response.payload.body.length, 314_159);
    }
  },
  async client_compressed_streaming(service, encoding) {
    const options = { ...encoding, compress: true, timeout: ENOUGH };
    const probe: Stream = await service.StreamingInputCall!(options);
    await probe.write(grpc.uncompressed({ expectCompressed: YES, ...body(27_182) }));
    probe.closeWrite();
    await fails(probe.read(), Code.InvalidArgument);
    const stream: Stream = await service.StreamingInputCall!(options);
    await stream.write({ expectCompressed: YES, ...body(27_182) });
    await stream.write(grpc.uncompressed({ expectCompressed: NO, ...body(45_904) }));
    stream.closeWrite();
    assertEquals((await stream.read()).aggregatedPayloadSize, 73_086);
  },
  async server_compressed_streaming(service) {
    const responseParameters = [{ size: 31_415, compressed: YES }, {
      size: 92_653,
      compressed: NO,
    }];
    const stream: Stream = await service.StreamingOutputCall!({ responseParameters }, ENOUGH);
    const seen: unknown[] = [];
    for await (const response of stream) {
      seen.push([response.payload.body.length, grpc.wasCompressed(response)]);
    }
    assertEquals(seen, [[31_415, true], [92_653, false]]);
  },
};
