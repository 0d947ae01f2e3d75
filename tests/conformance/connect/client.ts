/**
 * The client under test: makes the calls described on standard input, side by side, and writes how
 * each went.
 *
 * @module
 */
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import { readFrames, writeFrame } from "./frame.ts";
import {
  type ClientCompatRequest,
  Codec,
  Compression,
  fromHeaders,
  type Header,
  HttpVersion,
  messageType,
  Protocol,
  registry,
  SERVICE,
  StreamType,
  toHeaders,
} from "./schema.ts";

/** What became of a call. */
interface Result {
  responseHeaders: Header[];
  responseTrailers: Header[];
  payloads: object[];
  error?: object;
  numUnsentRequests: number;
}

type Stream = grpc.CallStream<object, { payload?: object }>;

const decoder = new TextDecoder();
const connections = new Map<string, grpc.Conn>();

function compressionOf(compression: number): Pick<grpc.ClientOptions, "compress" | "encoding"> {
  switch (compression) {
    case Compression.GZIP:
      return { compress: true };
    case Compression.DEFLATE:
      return { compress: true, encoding: "deflate" };
    case Compression.ZSTD:
      return { compress: true, encoding: "zstd" };
    default:
      return {};
  }
}

/** Calls of one configuration share a connection, as they would in a program. */
function connection(request: ClientCompatRequest): grpc.Conn {
  const { host, port, serverTlsCert, clientTlsCreds, compression, messageReceiveLimit } = request;
  const { protocol, codec, httpVersion, useGetHttpMethod } = request;
  const key = [
    host,
    port,
    compression,
    messageReceiveLimit,
    clientTlsCreds !== undefined,
    protocol,
    codec,
    httpVersion,
    useGetHttpMethod,
  ].join();
  let conn = connections.get(key);
  if (conn === undefined) {
    conn = grpc.newClient({
      targets: [`${host}:${port}`],
      ...compressionOf(compression),
      // Cases look at what they get, however little it is.
      compressMinSize: 0,
      ...(protocol === Protocol.GRPC ? {} : {
        protocol: protocol === Protocol.CONNECT ? "connect" : "grpc-web",
        format: codec === Codec.JSON ? "json" : "binary",
        httpVersion: httpVersion === HttpVersion.ONE ? "1.1" : "2",
        httpGet: useGetHttpMethod,
      }),
      ...(messageReceiveLimit === 0 ? {} : { maxReceiveSize: messageReceiveLimit }),
      ...(serverTlsCert.length === 0 ? {} : {
        tls: {
          caCerts: [decoder.decode(serverTlsCert)],
          ...(clientTlsCreds === undefined ? {} : {
            cert: decoder.decode(clientTlsCreds.cert),
            key: decoder.decode(clientTlsCreds.key),
          }),
        },
      }),
    });
    connections.set(key, conn);
  }
  return conn;
}

function requestMessages(request: ClientCompatRequest): Message[] {
  return request.requestMessages.map((any) => {
    const message = anyUnpack(any, registry);
    if (message === undefined) throw new Error(`The conformance protos have no ${any.typeUrl}`);
    return message;
  });
}

async function run(request: ClientCompatRequest): Promise<Result> {
  const result: Result = {
    responseHeaders: [],
    responseTrailers: [],
    payloads: [],
    numUnsentRequests: 0,
  };
  const cancel = new AbortController();
  const options: grpc.CallOptions = {
    signal: cancel.signal,
    headers: toHeaders(request.requestHeaders),
    onHeader: (headers) => result.responseHeaders = fromHeaders(headers),
    onTrailer: (headers) => result.responseTrailers = fromHeaders(headers),
    ...(request.timeoutMs === undefined ? {} : { timeout: request.timeoutMs }),
  };
  const service = grpc.newService(connection(request), SERVICE.file);
  const messages = requestMessages(request);
  const method = request.method ?? "";
  try {
    if (request.streamType === StreamType.UNARY) {
      const timing = request.cancel?.cancelTiming;
      if (request.cancel !== undefined) {
        cancelLater(cancel, timing?.case === "afterCloseSendMs" ? timing.value : 0);
      }
      const response = await service[method](messages[0], options);
      result.payloads.push(response.payload ?? {});
    } else {
      const stream: Stream = await service[method](options);
      await exchange(request, messages, stream, cancel, result);
    }
  } catch (error) {
    result.error = toError(error);
    // What came with the head of a response that is an error, or before the first of its messages,
    // stands in the error alone.
    if (result.responseHeaders.length === 0 && request.protocol !== Protocol.GRPC) {
      result.responseHeaders = fromHeaders(ConnectError.from(error).metadata);
    }
    // A call that yields one message yields none if it fails.
    if (request.streamType === StreamType.CLIENT_STREAM) result.payloads = [];
  }
  return result;
}

function cancelLater(cancel: AbortController, ms: number): void {
  setTimeout(() => cancel.abort(), ms);
}

/** Writes and reads in the order the test asks for. */
async function exchange(
  request: ClientCompatRequest,
  messages: readonly Message[],
  stream: Stream,
  cancel: AbortController,
  result: Result,
): Promise<void> {
  const timing = request.cancel?.cancelTiming;
  const read = async (): Promise<boolean> => {
    const response = await stream.read();
    if (response === null) return false;
    result.payloads.push(response.payload ?? {});
    if (timing?.case === "afterNumResponses" && timing.value === result.payloads.length) {
      cancel.abort();
    }
    return true;
  };
  const fullDuplex = request.streamType === StreamType.FULL_DUPLEX;
  let more = true;
  for (const [i, message] of messages.entries()) {
    if (request.streamType !== StreamType.SERVER_STREAM) await delay(request.requestDelayMs);
    result.numUnsentRequests = messages.length - i;
    try {
      await stream.write(message);
    } catch (error) {
      // Why nothing can be written is said where one reads.
      while (await read());
      throw error;
    }
    result.numUnsentRequests = messages.length - i - 1;
    if (fullDuplex && more) more = await read();
  }
  if (timing?.case === "beforeCloseSend") cancel.abort();
  else stream.closeWrite();
  if (request.cancel !== undefined && timing?.case === "afterCloseSendMs") {
    await delay(timing.value);
    cancel.abort();
  } else if (request.cancel !== undefined && timing?.case === undefined) cancel.abort();
  while (await read());
}

/** The suite's description of an error. */
function toError(reason: unknown): object {
  const error = ConnectError.from(reason);
  return {
    code: error.code,
    message: error.rawMessage,
    details: error.details.map((one) => {
      if ("desc" in one) throw new Error("A received error has details that were not received");
      return { typeUrl: `type.googleapis.com/${one.type}`, value: one.value };
    }),
  };
}

const response = messageType("ClientCompatResponse");

function report(testName: string, result: object): void {
  writeFrame(toBinary(response, create(response, { testName, result })));
}

/** Calls at a time: over HTTP/1.1 each has a connection of its own, and deadlines are short. */
const MAX_RUNNING = 64;

const running = new Set<Promise<void>>();
for await (const frame of readFrames()) {
  const request = fromBinary(messageType("ClientCompatRequest"), frame) as ClientCompatRequest;
  const call: Promise<void> = run(request).then(
    (value) => report(request.testName, { case: "response", value }),
    (error) =>
      report(request.testName, {
        case: "error",
        value: { message: String(error?.stack ?? error) },
      }),
  ).finally(() => running.delete(call));
  running.add(call);
  if (running.size >= MAX_RUNNING) await Promise.race(running);
}
await Promise.all(running);
for (const conn of connections.values()) await conn.close();
