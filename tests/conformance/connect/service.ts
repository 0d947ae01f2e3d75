/**
 * The conformance service: every answer is described by its request, and tells what was received.
 *
 * @module
 */
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import type { grpc } from "@sluice/sluice";
import {
  type ConformanceError,
  type ConformanceRequest,
  fromHeaders,
  type Header,
  messageType,
  registry,
  type StreamDefinition,
  type UnaryDefinition,
} from "./schema.ts";

type UnaryRequest = ConformanceRequest<UnaryDefinition>;
type StreamRequest = ConformanceRequest<StreamDefinition>;

/** Handlers of the service. `Unimplemented` has none. */
export const handlers: grpc.Handlers = {
  Unary: (request: UnaryRequest, context: grpc.CallContext) =>
    answer(request.responseDefinition, [request], context),

  IdempotentUnary: (request: UnaryRequest, context: grpc.CallContext) =>
    answer(request.responseDefinition, [request], context),

  async ClientStream(requests: AsyncIterable<UnaryRequest>, context: grpc.CallContext) {
    const received = await collect(requests);
    return answer(received[0]?.responseDefinition, received, context);
  },

  async *ServerStream(request: StreamRequest, context: grpc.CallContext) {
    const definition = request.responseDefinition;
    if (definition === undefined) return;
    announce(definition, context);
    yield* responses(definition, definition.responseData, [request], context);
    fail(definition, definition.responseData.length, [request], context);
  },

  async *BidiStream(requests: AsyncIterable<StreamRequest>, context: grpc.CallContext) {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done) return;
    const definition = first.value.responseDefinition;
    if (definition !== undefined) announce(definition, context);
    if (first.value.fullDuplex) {
      yield* converse(definition, first.value, iterator, context);
      return;
    }
    const received = [first.value];
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      received.push(next.value);
    }
    if (definition === undefined) return;
    yield* responses(definition, definition.responseData, received, context);
    fail(definition, definition.responseData.length, received, context);
  },
};

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

/** Full duplex: a response for each request, and what is left when the requests end. */
async function* converse(
  definition: StreamDefinition | undefined,
  first: StreamRequest,
  rest: AsyncIterator<StreamRequest>,
  context: grpc.CallContext,
): AsyncGenerator<object> {
  const data = definition?.responseData ?? [];
  let sent = 0;
  let request: StreamRequest | undefined = first;
  while (request !== undefined) {
    if (definition === undefined || sent === data.length) break;
    yield await streamResponse(
      definition,
      data[sent]!,
      sent === 0 ? info([request], context) : info([request], undefined),
      context,
    );
    sent++;
    const next: IteratorResult<StreamRequest> = await rest.next();
    request = next.done ? undefined : next.value;
  }
  if (definition === undefined) return;
  for (; sent < data.length; sent++) {
    yield await streamResponse(definition, data[sent]!, undefined, context);
  }
  fail(definition, sent, [first], context);
}

async function* responses(
  definition: StreamDefinition,
  data: readonly Uint8Array[],
  received: readonly Message[],
  context: grpc.CallContext,
): AsyncGenerator<object> {
  for (const [i, piece] of data.entries()) {
    yield await streamResponse(
      definition,
      piece,
      i === 0 ? info(received, context) : undefined,
      context,
    );
  }
}

async function streamResponse(
  definition: StreamDefinition,
  data: Uint8Array,
  requestInfo: object | undefined,
  context: grpc.CallContext,
): Promise<object> {
  await pause(definition.responseDelayMs, context);
  return { payload: { data, ...(requestInfo === undefined ? {} : { requestInfo }) } };
}

/** Sends the headers, so that the client may read them before the first message comes. */
function announce(definition: StreamDefinition, context: grpc.CallContext): void {
  append(context.responseHeader, definition.responseHeaders);
  append(context.responseTrailer, definition.responseTrailers);
  context.sendHeader();
}

/** Throws the error of a stream, if it has one. */
function fail(
  definition: StreamDefinition,
  sent: number,
  received: readonly Message[],
  context: grpc.CallContext,
): void {
  if (definition.error === undefined) return;
  throw toError(definition.error, sent === 0 ? [requestInfo(received, context)] : []);
}

async function answer(
  definition: UnaryDefinition | undefined,
  received: readonly Message[],
  context: grpc.CallContext,
): Promise<object> {
  append(context.responseHeader, definition?.responseHeaders ?? []);
  append(context.responseTrailer, definition?.responseTrailers ?? []);
  await pause(definition?.responseDelayMs ?? 0, context);
  const response = definition?.response;
  if (response?.case === "error") {
    throw toError(response.value, [requestInfo(received, context)]);
  }
  return {
    payload: {
      requestInfo: info(received, context),
      ...(response?.case === "responseData" ? { data: response.value } : {}),
    },
  };
}

async function pause(ms: number, context: grpc.CallContext): Promise<void> {
  if (ms > 0) await delay(ms, { signal: context.signal });
}

function append(headers: Headers, list: readonly Header[]): void {
  for (const { name, value } of list) for (const one of value) headers.append(name, one);
}

const RequestInfo = messageType("ConformancePayload.RequestInfo");

/** What was received; of later messages of a stream only the messages. */
function info(
  received: readonly Message[],
  context: grpc.CallContext | undefined,
): Record<string, unknown> {
  const requests = received.map((message) =>
    anyPack(registry.getMessage(message.$typeName) as DescMessage, message)
  );
  if (context === undefined) return { requests };
  const timeoutMs = context.timeoutMs();
  return {
    requests,
    requestHeaders: fromHeaders(context.requestHeader),
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(Math.ceil(timeoutMs)) }),
    ...(context.requestMethod === "GET"
      ? {
        connectGetInfo: {
          queryParams: [...new URL(context.url).searchParams]
            .map(([name, value]) => ({ name, value: [value] })),
        },
      }
      : {}),
  };
}

function requestInfo(received: readonly Message[], context: grpc.CallContext): Message {
  return create(RequestInfo, info(received, context));
}

/** The error a test describes, with more details. */
function toError(error: ConformanceError, more: readonly Message[]): ConnectError {
  const result = new ConnectError(error.message ?? "", error.code as Code);
  result.details = [...error.details, ...more.map((one) => anyPack(RequestInfo, one))]
    .map((any) => detail(any));
  return result;
}

function detail(any: Any): { desc: DescMessage; value: Message } {
  const value = anyUnpack(any, registry);
  if (value === undefined) throw new Error(`The conformance protos have no ${any.typeUrl}`);
  return { desc: registry.getMessage(value.$typeName)!, value };
}
