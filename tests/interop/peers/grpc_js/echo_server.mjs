// deno-lint-ignore-file camelcase no-console
// Serves echo.proto with grpc-js. Prints `port=N` when ready. Arguments: [cert.pem key.pem].
import { readFileSync } from "node:fs";
import { Echo, grpc, pick, sleep } from "./peer.mjs";

class Call {
  constructor(call) {
    this.call = call;
    this.header = pick(call.metadata, "x-echo-header-");
    this.trailer = pick(call.metadata, "x-echo-trailer-");
    this.headerSent = false;
    this.index = this.received = this.bytes = 0;
  }

  take(request) {
    this.received++;
    this.bytes += request.payload.length;
    if (request.header_first) this.sendHeader();
  }

  sendHeader() {
    if (this.headerSent) return;
    this.headerSent = true;
    this.call.sendMetadata(this.header);
  }

  async answer(request, text = request.text) {
    if (request.delay_ms > 0) await sleep(request.delay_ms);
    this.sendHeader();
    const deadline = this.call.getDeadline();
    return {
      text,
      payload: Buffer.alloc(request.response_size, "r"),
      index: this.index++,
      received: this.received,
      received_bytes: this.bytes,
      remaining_ms: Number.isFinite(Number(deadline)) ? Math.floor(deadline - Date.now()) : 0,
    };
  }

  /** The error a request asks for, or undefined. */
  error(request) {
    if (request.code === 0) return undefined;
    return { code: request.code, details: request.message, metadata: this.trailer };
  }
}

const handlers = {
  async Unary(call, done) {
    const echo = new Call(call);
    echo.take(call.request);
    const reply = await echo.answer(call.request);
    const error = echo.error(call.request);
    if (error) done(error);
    else done(null, reply, echo.trailer);
  },
  async ServerStream(call) {
    const echo = new Call(call);
    echo.take(call.request);
    for (let i = 0; i < call.request.response_count && !call.cancelled; i++) {
      const room = call.write(await echo.answer(call.request));
      if (!room && !call.cancelled) await drained(call);
    }
    finish(call, echo, call.request);
  },
  async ClientStream(call, done) {
    const echo = new Call(call);
    let text = "";
    let last = { text: "", response_size: 0, delay_ms: 0, code: 0 };
    try {
      for await (const request of call) {
        echo.take(last = request);
        text += request.text;
      }
    } catch {
      return; // cancelled
    }
    const error = echo.error(last);
    if (error) done(error);
    else done(null, await echo.answer(last, text), echo.trailer);
  },
  BidiStream(call) {
    const echo = new Call(call);
    let failed = false;
    // Events instead of `for await`, whose end destroys the whole stream, answers included.
    let work = Promise.resolve();
    call.on("data", (request) => {
      work = work.then(async () => {
        if (failed) return;
        echo.take(request);
        if (request.code !== 0) {
          failed = true;
          return finish(call, echo, request);
        }
        for (let i = 0; i < (request.response_count || 1) && !call.cancelled; i++) {
          const room = call.write(await echo.answer(request));
          if (!room && !call.cancelled) await drained(call);
        }
      });
    });
    call.on("end", () => work = work.then(() => failed || finish(call, echo)));
    call.on("error", () => {});
  },
};

function drained(call) {
  return new Promise((resolve) => {
    const settle = () => {
      call.off("drain", settle);
      call.off("cancelled", settle);
      resolve();
    };
    call.on("drain", settle);
    call.on("cancelled", settle);
  });
}

function finish(call, echo, request) {
  const error = request && echo.error(request);
  if (error) return call.emit("error", error);
  echo.sendHeader();
  call.end(echo.trailer);
}

const server = new grpc.Server();
server.addService(Echo.service, handlers);
const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path));
const credentials = cert === undefined
  ? grpc.ServerCredentials.createInsecure()
  : grpc.ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
server.bindAsync("127.0.0.1:0", credentials, (error, port) => {
  if (error) throw error;
  console.log(`port=${port}`);
});
process.on("SIGTERM", () => process.exit(0));
