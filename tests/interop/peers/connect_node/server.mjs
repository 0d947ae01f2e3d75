// deno-lint-ignore-file no-console
// Serves Echo with connect-node: gRPC-Web and Connect over HTTP/1.1 or HTTP/2. Prints `port=N`.
// Arguments: 1.1 or 2, FileDescriptorProto of echo.proto in base64.
import { createRequire } from "node:module";
import http from "node:http";
import http2 from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(`${process.env.SLUICE_PEERS}/package.json`);
const { createFileRegistry, fromBinary } = require("@bufbuild/protobuf");
const { FileDescriptorProtoSchema } = require("@bufbuild/protobuf/wkt");
const { ConnectError } = require("@connectrpc/connect");
const { connectNodeAdapter } = require("@connectrpc/connect-node");

const [version, descriptor] = process.argv.slice(2);
const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(descriptor, "base64"));
const Echo = createFileRegistry(file, () => undefined).getService("sluice.test.v1.Echo");

class Call {
  index = 0;
  received = 0;
  bytes = 0;

  constructor(context) {
    this.context = context;
    for (const [name, value] of context.requestHeader) {
      if (name.startsWith("x-echo-header-")) context.responseHeader.append(name, value);
      if (name.startsWith("x-echo-trailer-")) context.responseTrailer.append(name, value);
    }
  }

  take(request) {
    this.received++;
    this.bytes += request.payload.length;
  }

  async answer(request, text = request.text) {
    const { signal } = this.context;
    if (request.delayMs > 0) {
      await sleep(request.delayMs, null, { signal }).catch(() => Promise.reject(signal.reason));
    }
    return {
      text,
      payload: new Uint8Array(request.responseSize).fill(0x72),
      index: this.index++,
      received: this.received,
      receivedBytes: BigInt(this.bytes),
      remainingMs: BigInt(Math.floor(this.context.timeoutMs() ?? 0)),
    };
  }

  finish(request) {
    if (request.code !== 0) throw new ConnectError(request.message, request.code);
  }
}

const handlers = {
  async unary(request, context) {
    const call = new Call(context);
    call.take(request);
    const response = await call.answer(request);
    call.finish(request);
    return response;
  },
  async *serverStream(request, context) {
    const call = new Call(context);
    call.take(request);
    for (let i = 0; i < request.responseCount; i++) yield await call.answer(request);
    call.finish(request);
  },
  async clientStream(requests, context) {
    const call = new Call(context);
    let text = "";
    let last;
    for await (const request of requests) {
      call.take(last = request);
      text += request.text;
    }
    if (last === undefined) return {};
    call.finish(last);
    return await call.answer(last, text);
  },
  async *bidiStream(requests, context) {
    const call = new Call(context);
    for await (const request of requests) {
      call.take(request);
      call.finish(request);
      for (let i = 0; i < (request.responseCount || 1); i++) yield await call.answer(request);
    }
  },
};

const adapter = connectNodeAdapter({
  routes: (router) => router.service(Echo, handlers),
  grpc: false,
  readMaxBytes: 4 << 20,
});
const server = version === "2" ? http2.createServer(adapter) : http.createServer(adapter);
server.listen(0, "127.0.0.1", () => console.log(`port=${server.address().port}`));
