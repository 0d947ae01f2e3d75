// deno-lint-ignore-file camelcase no-console
// Runs all checks of echo.proto with grpc-js against a server and prints the results as JSON.
// Arguments: host:port [ca.pem]. Each result is {name, ok, detail}.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Absent, Echo, grpc } from "./peer.mjs";

const [target, ca] = process.argv.slice(2);
const credentials = ca === undefined
  ? grpc.credentials.createInsecure()
  : grpc.credentials.createSsl(readFileSync(ca));
const options = { "grpc.enable_http_proxy": 0 };
const client = new Echo(target, credentials, options);
const absent = new Absent(target, credentials, options);
const gzipClient = new Echo(target, credentials, {
  ...options,
  "grpc.default_compression_algorithm": 2,
});
const deflateClient = new Echo(target, credentials, {
  ...options,
  "grpc.default_compression_algorithm": 1,
});

const SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

/** Runs a call with one response; resolves to it with the metadata, rejects with the status. */
function one(method, request, { on = client, timeout = 10000, metadata = [] } = {}) {
  return new Promise((resolve, reject) => {
    let header;
    const done = (error, value) => error ? reject(error) : result.value = value;
    const result = {};
    const args = [
      toMetadata(metadata),
      timeout === 0 ? {} : { deadline: Date.now() + timeout },
      done,
    ];
    const call = Array.isArray(request) ? on[method](...args) : on[method](request, ...args);
    call.on("metadata", (m) => header = m);
    call.on("status", (status) => {
      if (status.code === 0) resolve({ ...result.value, header, trailer: status.metadata });
    });
    if (Array.isArray(request)) {
      for (const message of request) call.write(message);
      call.end();
    }
  });
}

/** Opens a call with many responses. */
function many(method, request, { on = client, timeout = 10000, metadata = [] } = {}) {
  const rest = [toMetadata(metadata), { deadline: Date.now() + timeout }];
  return method === "BidiStream" ? on[method](...rest) : on[method](request, ...rest);
}

function toMetadata(pairs) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of pairs) metadata.add(name, value);
  return metadata;
}

async function collect(call) {
  const seen = [];
  for await (const message of call) seen.push(message);
  return seen;
}

async function fails(code, promise, message) {
  const error = await promise.then(
    (value) => assert.fail(`expected code ${code}, got ${JSON.stringify(value).slice(0, 200)}`),
    (error) => error,
  );
  assert.equal(error.code, code, `code of: ${error.stack}`);
  if (message !== undefined) assert.equal(error.details, message);
  return error;
}

const checks = {
  async unary() {
    const reply = await one("Unary", {
      text: "hello ☺",
      payload: Buffer.from("abc"),
      response_size: 5,
    });
    assert.equal(reply.text, "hello ☺");
    assert.equal(reply.payload.toString(), "rrrrr");
    assert.equal(reply.received_bytes, 3);
  },
  async unary_empty() {
    assert.equal((await one("Unary", {})).received, 1);
  },
  async unary_large() {
    const reply = await one("Unary", { payload: Buffer.alloc(1048576), response_size: 1048576 });
    assert.deepEqual([reply.payload.length, reply.received_bytes], [1048576, 1048576]);
  },
  async server_stream() {
    const call = many("ServerStream", { text: "s", response_count: 10, response_size: 1000 });
    const replies = await collect(call);
    assert.deepEqual(replies.map((r) => r.index), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.ok(replies.every((r) => r.payload.length === 1000));
  },
  async server_stream_empty() {
    assert.deepEqual(await collect(many("ServerStream", {})), []);
  },
  async server_stream_many() {
    assert.equal((await collect(many("ServerStream", { response_count: 5000 }))).length, 5000);
  },
  async client_stream() {
    const requests = [..."abcde"].map((text) => ({ text, payload: Buffer.from("12") }));
    const reply = await one("ClientStream", requests);
    assert.deepEqual([reply.text, reply.received, reply.received_bytes], ["abcde", 5, 10]);
  },
  async client_stream_empty() {
    assert.equal((await one("ClientStream", [])).received, 0);
  },
  async bidi_ping_pong() {
    const call = many("BidiStream");
    const seen = [];
    call.write({ text: "0" });
    for await (const reply of call) {
      seen.push(reply.text);
      if (seen.length < 20) call.write({ text: String(seen.length) });
      else call.end();
    }
    assert.deepEqual(seen, Array.from({ length: 20 }, (_, i) => String(i)));
  },
  async bidi_many() {
    const call = many("BidiStream");
    for (let i = 0; i < 500; i++) call.write({ text: String(i) });
    call.end();
    const seen = (await collect(call)).map((r) => r.text);
    assert.deepEqual(seen, Array.from({ length: 500 }, (_, i) => String(i)));
  },
  async bidi_empty() {
    const call = many("BidiStream");
    call.end();
    assert.deepEqual(await collect(call), []);
  },
  async every_code() {
    for (let code = 1; code <= 16; code++) {
      await fails(code, one("Unary", { code, message: `code ${code}` }), `code ${code}`);
    }
  },
  async special_message() {
    await fails(2, one("Unary", { code: 2, message: SPECIAL }), SPECIAL);
  },
  async status_after_messages() {
    const call = many("ServerStream", { response_count: 3, code: 9, message: "then no" });
    const seen = [];
    const ended = (async () => {
      for await (const reply of call) seen.push(reply.index);
    })();
    await fails(9, ended, "then no");
    assert.deepEqual(seen, [0, 1, 2]);
  },
  async metadata() {
    const metadata = [
      ["x-echo-header-a", "one"],
      ["x-echo-header-a", "two"],
      ["x-echo-header-b-bin", Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
      ["x-echo-trailer-c", "three"],
      ["x-echo-trailer-d-bin", Buffer.from([0, 255])],
      ["x-echo-trailer-d-bin", Buffer.from([171])],
    ];
    const { header, trailer } = await one("Unary", {}, { metadata });
    const list = (m, name) =>
      m.get(name).flatMap((v) => typeof v === "string" ? v.split(/, */) : [v]);
    assert.deepEqual(list(header, "x-echo-header-a"), ["one", "two"]);
    assert.deepEqual(list(header, "x-echo-header-b-bin"), [metadata[2][1]]);
    assert.deepEqual(list(trailer, "x-echo-trailer-c"), ["three"]);
    assert.deepEqual(list(trailer, "x-echo-trailer-d-bin"), [metadata[4][1], metadata[5][1]]);
  },
  async metadata_with_error() {
    const metadata = [["x-echo-trailer-c", "three"]];
    const error = await fails(10, one("Unary", { code: 10, message: "no" }, { metadata }));
    assert.deepEqual(error.metadata.get("x-echo-trailer-c"), ["three"]);
  },
  async header_first() {
    const started = performance.now();
    const call = many("ServerStream", { response_count: 1, delay_ms: 1000, header_first: true }, {
      metadata: [["x-echo-header-a", "early"]],
    });
    const replies = collect(call);
    const header = await new Promise((resolve) => call.on("metadata", resolve));
    assert.deepEqual(header.get("x-echo-header-a"), ["early"]);
    assert.ok(performance.now() - started < 900, "the header came with the first message");
    assert.equal((await replies).length, 1);
  },
  async deadline() {
    const started = performance.now();
    await fails(4, one("Unary", { delay_ms: 3000 }, { timeout: 200 }));
    assert.ok(performance.now() - started < 2000, "the deadline came late");
  },
  async deadline_seen() {
    const { remaining_ms } = await one("Unary", {}, { timeout: 7000 });
    assert.ok(remaining_ms > 5000 && remaining_ms <= 7000, `server saw ${remaining_ms} ms`);
    assert.equal((await one("Unary", {}, { timeout: 0 })).remaining_ms, 0);
  },
  async cancel() {
    const call = many("ServerStream", { response_count: 1000, delay_ms: 20 });
    const ended = (async () => {
      for await (const _ of call) call.cancel();
    })();
    await fails(1, ended);
  },
  async cancel_bidi() {
    const call = many("BidiStream");
    call.write({ text: "first" });
    const ended = (async () => {
      for await (const _ of call) call.cancel();
    })();
    await fails(1, ended);
  },
  async unimplemented_method() {
    await fails(12, one("Missing", {}));
  },
  async unimplemented_service() {
    await fails(12, one("Unary", {}, { on: absent }));
  },
  async gzip() {
    const request = { payload: Buffer.alloc(100000), response_size: 100000, compress: true };
    const reply = await one("Unary", request, { on: gzipClient });
    assert.deepEqual([reply.received_bytes, reply.payload.length], [100000, 100000]);
    const call = many("BidiStream", undefined, { on: gzipClient });
    for (let i = 0; i < 5; i++) {
      call.write({ payload: Buffer.alloc(5000), response_size: 5000, compress: true });
    }
    call.end();
    assert.deepEqual((await collect(call)).map((r) => r.payload.length), [
      5000,
      5000,
      5000,
      5000,
      5000,
    ]);
  },
  async deflate() {
    const reply = await one("Unary", { payload: Buffer.alloc(100000) }, { on: deflateClient });
    assert.equal(reply.received_bytes, 100000);
  },
  async request_too_large() {
    await fails(8, one("Unary", { payload: Buffer.alloc(4194304) }));
  },
  async response_too_large() {
    await fails(8, one("Unary", { response_size: 4194304 }));
  },
  async parallel() {
    const texts = Array.from({ length: 200 }, (_, i) => String(i));
    const replies = await Promise.all(texts.map((text) => one("Unary", { text })));
    assert.deepEqual(replies.map((r) => r.text), texts);
  },
};

const results = [];
for (const [name, check] of Object.entries(checks)) {
  const result = { name, ok: true, detail: "" };
  try {
    await check();
  } catch (error) {
    result.ok = false;
    result.detail = error.stack;
  }
  results.push(result);
}
for (const each of [client, absent, gzipClient, deflateClient]) each.close();
console.log(JSON.stringify(results));
