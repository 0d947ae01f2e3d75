// deno-lint-ignore-file no-console
// Answers as the request's `x-script` says, with grpc-js; see go/scripted.go.
import { grpc, sleep } from "./peer.mjs";

/** What becomes of an attempt: its trailer, and a code if it fails. */
async function outcome({ metadata }) {
  const previous = Number(metadata.get("grpc-previous-rpc-attempts")[0] ?? 0);
  const script = String(metadata.get("x-script")[0]).split(",");
  const [part, delay] = script[Math.min(previous, script.length - 1)].split("~");
  const [code, pushback] = part.split("@");
  if (delay !== undefined) await sleep(Number(delay));
  const trailer = new grpc.Metadata();
  trailer.set("x-attempt", String(previous));
  for (const value of pushback?.split("&") ?? []) trailer.add("grpc-retry-pushback-ms", value);
  return { code: Number(code), trailer };
}

const failure = ({ code, trailer }) => ({
  code,
  details: "as the script says",
  metadata: trailer,
});

async function requestsOf(call) {
  const requests = [];
  try {
    for await (const request of call) requests.push(request);
  } catch {
    // cancelled
  }
  return requests;
}

async function unary(call, done) {
  const end = await outcome(call);
  const [first] = call.request === undefined ? await requestsOf(call) : [call.request];
  if (end.code !== 0) done(failure(end));
  else done(null, first, end.trailer);
}

async function stream(call) {
  // Events instead of `for await`, whose end destroys the whole stream, answers included.
  const requests = call.request === undefined ? [] : [call.request];
  if (call.request === undefined) {
    call.on("error", () => {});
    call.on("data", (request) => requests.push(request));
    await new Promise((resolve) => call.on("end", resolve));
  }
  const end = await outcome(call);
  if (end.code !== 0) return call.emit("error", failure(end));
  for (const request of requests) call.write(request);
  call.end(end.trailer);
}

const same = (bytes) => bytes;
const method = (name, requestStream, responseStream) => ({
  path: `/test.Greeter/${name}`,
  requestStream,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});

const server = new grpc.Server();
server.addService({
  SayHello: method("SayHello", false, false),
  ListReplies: method("ListReplies", false, true),
  SumSizes: method("SumSizes", true, false),
  Chat: method("Chat", true, true),
}, { SayHello: unary, ListReplies: stream, SumSizes: unary, Chat: stream });
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(`port=${port}`);
});
process.on("SIGTERM", () => process.exit(0));
