// deno-lint-ignore-file no-console
// Calls Echo with connect-node's gRPC transport and prints what came as JSON.
// Arguments: base URL, FileDescriptorProto of echo.proto in base64.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.SLUICE_PEERS}/package.json`);
const { createFileRegistry, fromBinary } = require("@bufbuild/protobuf");
const { FileDescriptorProtoSchema } = require("@bufbuild/protobuf/wkt");
const { createClient } = require("@connectrpc/connect");
const { createGrpcTransport, Http2SessionManager } = require("@connectrpc/connect-node");

const [baseUrl, descriptor] = process.argv.slice(2);
const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(descriptor, "base64"));
const registry = createFileRegistry(file, () => undefined);
const sessionManager = new Http2SessionManager(baseUrl);
const transport = createGrpcTransport({ baseUrl, sessionManager });
const client = createClient(registry.getService("sluice.test.v1.Echo"), transport);

async function* requests(...texts) {
  for (const text of texts) yield { text };
}

async function collect(responses, name) {
  const all = [];
  for await (const response of responses) all.push(response[name]);
  return all;
}

const failed = (call) => call.then(() => ({ code: 0 }), (error) => error);

const result = {
  unary: (await client.unary({ text: "hello" })).text,
  serverStream: await collect(client.serverStream({ responseCount: 3 }), "index"),
  clientStream: (await client.clientStream(requests("a", "b", "c"))).text,
  bidiStream: await collect(client.bidiStream(requests("a", "b", "c")), "text"),
};
const error = await failed(client.unary({ code: 5, message: "no such thing" }));
result.code = error.code;
result.message = error.rawMessage;
result.deadline = (await failed(client.unary({ delayMs: 3000 }, { timeoutMs: 50 }))).code;
console.log(JSON.stringify(result));
sessionManager.abort();
