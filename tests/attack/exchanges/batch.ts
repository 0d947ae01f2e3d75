/**
 * The exchanges of one connection, by version, protocol and role.
 *
 * @module
 */
import { grpc, http, protoc } from "@sluice/sluice";
import { concat } from "../../../support/frames.ts";
import type { Random } from "../../../support/random.ts";
import { RawServer } from "../../../support/raw_server.ts";
import { H1Wire, isChunked } from "./h1_wire.ts";
import { H2Wire, type H2WireStream } from "./h2_wire.ts";
import {
  content,
  Expectation,
  fault,
  type Flow,
  pause,
  type Plan,
  planOf,
  type Seen,
  sendFlow,
} from "./plan.ts";

/** Who is this module; `control` is bytes by hand on both sides, to know what the machine does. */
export const KINDS = [
  "control",
  "server/h1",
  "server/h2",
  "client/h1",
  "client/h2",
  "grpc-server",
  "grpc-client",
] as const;

/** Exchanges that share a connection where they can. */
export interface Batch {
  readonly kind: typeof KINDS[number];
  readonly plans: readonly Plan[];
  readonly random: Random;
}

/** Runs a batch; resolves to what was wrong. */
export async function runBatch(batch: Batch): Promise<string[]> {
  switch (batch.kind) {
    case "control":
      return await rawServer(batch.plans, "h1", (server) => rawH1(batch.plans, server.port));
    case "server/h1":
      return await ourServer((port) => rawH1(batch.plans, port));
    case "server/h2":
      return await ourServer((port) => rawH2(batch, port));
    case "client/h1":
    case "client/h2": {
      const version = batch.kind === "client/h1" ? "h1" : "h2";
      return await rawServer(batch.plans, version, (server) => ourClient(batch, server, version));
    }
    case "grpc-server":
      return await grpcServer(batch);
    case "grpc-client":
      return await grpcClient(batch);
  }
}

const LOST: Seen = { bytes: 0, complete: false, trailer: null };
const seedOf = (path: string) => Number(path.slice(1));
const stopOf = (plan: Plan, by: "client" | "server") =>
  plan.cancel?.by === by ? plan.cancel.after : null;

/** What must hold of an exchange: what the server saw of `up`, and the client of `down`. */
function verdict(plan: Plan, up: Seen, down: Seen, rawSender: boolean): string[] {
  const { cancel } = plan;
  const of = (flow: Flow, seen: Seen, by: "client" | "server", raw: boolean) => {
    // All bytes of an announced length may have been sent before it was given up.
    const surely = cancel?.by === by && (!raw || isChunked(flow, plan));
    const found = fault(flow, seen, cancel === null ? "no" : surely ? "yes" : "maybe");
    return found === null
      ? []
      : [`exchange ${plan.seed} ${flow === plan.up ? "up" : "down"}: ${found}`];
  };
  return [...of(plan.up, up, "client", rawSender), ...of(plan.down, down, "server", !rawSender)];
}

/** Reads a body of this module's by the plan. */
async function readOurs(
  flow: Flow,
  body: { read(): Promise<Uint8Array | null>; readBytes(): Promise<Uint8Array> },
  trailer: () => string | undefined,
): Promise<Seen> {
  const expected = new Expectation(flow);
  try {
    if (flow.whole) {
      expected.push(await body.readBytes());
    } else {
      for (let piece = await body.read(); piece !== null; piece = await body.read()) {
        expected.push(piece);
        await expected.rest();
      }
    }
  } catch (error) {
    if (
      /byte|bytes came/.test(String((error as Error).message)) && !("code" in (error as object))
    ) {
      if ((error as Error).constructor === Error) throw error;
    }
    return { bytes: expected.at, complete: false, trailer: null };
  }
  return { bytes: expected.at, complete: true, trailer: trailer() ?? null };
}

const trailersOf = (flow: Flow) => flow.trailer === null ? undefined : { "x-check": flow.trailer };

// ---- this module serves --------------------------------------------------------------------------

/** What our server saw, by seed; the handler may end after the client did. */
type Reports = Map<number, PromiseWithResolvers<Seen>>;

function reportOf(reports: Reports, seed: number): PromiseWithResolvers<Seen> {
  let report = reports.get(seed);
  if (report === undefined) {
    reports.set(seed, report = Promise.withResolvers());
    // Looked at only when the other side is over.
    report.promise.catch(() => {});
  }
  return report;
}

let reports: Reports = new Map();

async function ourServer(client: (port: number) => Promise<string[]>): Promise<string[]> {
  reports = new Map();
  await using server = http.listen({
    addr: "127.0.0.1:0",
    onError: null,
    limits: { drainTimeout: 2000 },
    handler: async (stream) => {
      const plan = planOf(seedOf(stream.path));
      const report = reportOf(reports, plan.seed);
      const reading = readOurs(plan.up, stream, () => stream.trailers["x-check"]);
      reading.then(report.resolve, report.reject);
      if (plan.answersLast) await reading;
      const stop = stopOf(plan, "server");
      await stream.respond(200);
      await sendFlow(plan.down, stop, (piece) => stream.write(piece));
      if (stop !== null) return stream.abort();
      stream.closeWrite(null, trailersOf(plan.down));
      await reading;
    },
  });
  return await client(server.port);
}

/** Requests by hand, one behind the other. */
async function rawH1(plans: readonly Plan[], port: number): Promise<string[]> {
  const faults: string[] = [];
  let wire: H1Wire | null = null;
  for (const plan of plans) {
    wire ??= new H1Wire(await Deno.connect({ port, hostname: "127.0.0.1" }));
    const one: H1Wire = wire;
    const stop = stopOf(plan, "client");
    const sending = one.send(`POST /${plan.seed} HTTP/1.1\r\nhost: x\r\n`, plan.up, plan, stop)
      .catch(() => false).then((whole) => {
        if (!whole && stop !== null) one.close();
      });
    const head = await one.head();
    const down = head === null ? LOST : await one.body(head, plan.down);
    await sending;
    // The server sees nothing of a request that was given up with its head.
    const up = head === null && plan.cancel !== null
      ? LOST
      : await reportOf(reports, plan.seed).promise;
    faults.push(...verdict(plan, up, down, true));
    if (plan.cancel !== null || head!.includes("connection: close")) {
      one.close();
      wire = null;
    }
  }
  wire?.close();
  return faults;
}

/** Requests by hand, all at once. */
async function rawH2({ plans, random }: Batch, port: number): Promise<string[]> {
  const conn = await Deno.connect({ port, hostname: "127.0.0.1" });
  const wire = new H2Wire(conn, windowFor(random, plans.map(({ down }) => down)));
  const all = await Promise.all(plans.map(async (plan, i) => {
    const stream = wire.open(i * 2 + 1);
    const down = takeRaw(stream, plan.down);
    const fields = [":method", "POST", ":scheme", "http", ":path", `/${plan.seed}`];
    await stream.head([...fields, ":authority", "x"]);
    await sendRaw(stream, plan.up, plan, stopOf(plan, "client"));
    await stream.finished();
    const seen = down(stream.heads[1]);
    const up = stream.heads.length === 0 && plan.cancel !== null
      ? LOST
      : await reportOf(reports, plan.seed).promise;
    return verdict({ ...plan, up: plan.up }, up, seen, false);
  }));
  wire.close();
  await wire.running;
  return all.flat();
}

/** A window that is small at times, but not so small that a body takes thousands of rounds. */
function windowFor(random: Random, flows: readonly Flow[]): number {
  const most = Math.max(...flows.map(({ total }) => total));
  return Math.max(Math.ceil(most / 50), random.pick([1, 100, 3000, 65_535, 1 << 20]));
}

/** Compares what comes on a stream; call it when the stream is finished. */
function takeRaw(stream: H2WireStream, flow: Flow): (trailers?: Map<string, string>) => Seen {
  const expected = new Expectation(flow);
  stream.onData = (bytes) => {
    expected.push(bytes);
    return expected.rest();
  };
  return (trailers) => ({
    bytes: expected.at,
    complete: stream.ended && stream.reset === null,
    trailer: trailers?.get("x-check") ?? null,
  });
}

/** Sends a flow as frames, and its end not before `hold`. */
async function sendRaw(
  stream: H2WireStream,
  flow: Flow,
  plan: Plan,
  stop: number | null,
  hold?: Promise<unknown>,
): Promise<void> {
  const { padding } = plan;
  await sendFlow(flow, stop, (piece) => stream.data(piece, false, piece.length % 3 ? padding : 0));
  if (stop !== null) return await stream.cancel();
  await hold;
  if (stream.reset !== null) return;
  if (flow.trailer === null) await stream.data(new Uint8Array(0), true);
  else await stream.head(["x-check", flow.trailer], true);
}

// ---- this module asks ----------------------------------------------------------------------------

async function rawServer(
  plans: readonly Plan[],
  version: "h1" | "h2",
  client: (server: RawServer) => Promise<string[]>,
): Promise<string[]> {
  reports = new Map();
  for (const { seed } of plans) reportOf(reports, seed);
  const h1 = async (conn: Deno.TcpConn) => {
    const wire = new H1Wire(conn);
    for (let head = await wire.head(); head !== null; head = await wire.head()) {
      const plan = planOf(Number(/^post \/(\d+) /.exec(head)![1]));
      const report = reportOf(reports, plan.seed);
      const reading = wire.body(head, plan.up);
      reading.then(report.resolve, report.reject);
      if (plan.answersLast) await reading;
      const stop = stopOf(plan, "server");
      // A client stops sending when it has the whole answer: that has to wait for the request.
      if (!await wire.send("HTTP/1.1 200 OK\r\n", plan.down, plan, stop, reading)) return;
      if (!(await reading).complete) return;
    }
  };
  const h2 = async (conn: Deno.TcpConn) => {
    const wire = new H2Wire(conn, plans[0]!.seed % 2 === 0 ? 65_535 : 3000, async (stream) => {
      const plan = planOf(seedOf(stream.heads[0]!.get(":path")!));
      const up = takeRaw(stream, plan.up);
      const report = reportOf(reports, plan.seed);
      const reading = stream.finished();
      reading.then(() => report.resolve(up(stream.heads[1])), report.reject);
      const settled = reading.catch(() => {});
      if (plan.answersLast) await settled;
      await stream.head([":status", "200"]);
      await sendRaw(stream, plan.down, plan, stopOf(plan, "server"), settled);
    });
    await wire.running;
  };
  await using server = new RawServer(version === "h1" ? h1 : h2);
  return await client(server);
}

async function ourClient(
  { plans }: Batch,
  server: RawServer,
  version: "h1" | "h2",
): Promise<string[]> {
  await using client = http.newClient({ alpnProtos: [version === "h1" ? "http/1.1" : "h2"] });
  const all = await Promise.all(plans.map(async (plan) => {
    const stream = await client.request("POST", `${server.url}${plan.seed}`);
    const stop = stopOf(plan, "client");
    // It may fail before the answer is read to its end.
    const sending = (async () => {
      await sendFlow(plan.up, stop, (piece) => stream.write(piece));
      if (stop !== null) stream.close();
      else stream.closeWrite(null, trailersOf(plan.up));
    })().then(() => null, (error: unknown) => ({ error }));
    const down = await stream.waitResponse().then(
      () => readOurs(plan.down, stream, () => stream.trailers["x-check"]),
      () => LOST,
    );
    const failed = await sending;
    if (failed !== null && plan.cancel === null) throw failed.error;
    stream.close();
    if (plan.cancel !== null) return verdict(plan, LOST, down, false);
    return verdict(plan, await reportOf(reports, plan.seed).promise, down, false);
  }));
  return all.flat();
}

// ---- gRPC ----------------------------------------------------------------------------------------

const file = new protoc.Loader().load(
  `syntax = "proto3"; package attack; message M { bytes payload = 1; }
   service Echo { rpc Unary(M) returns (M); rpc Bidi(stream M) returns (stream M); }`,
  "attack.proto",
);

interface Message {
  payload: Uint8Array;
}

/** Messages of a call: as many as the flow has pieces, or one with all bytes. */
function messagesOf(plan: Plan): Uint8Array[] {
  const { up } = plan;
  if (isUnary(plan)) return [content(up.seed, 0, up.total)];
  let at = 0;
  return up.pieces.slice(0, 200).map((n) => content(up.seed, (at += n) - n, n));
}

const isUnary = (plan: Plan) => plan.seed % 3 === 0;
const pathOf = (plan: Plan) => `/attack.Echo/${isUnary(plan) ? "Unary" : "Bidi"}`;

/** A message as it goes over the wire. */
function encoded(payload: Uint8Array): Uint8Array {
  const size: number[] = [];
  for (let n = payload.length; n > 0; n >>>= 7) size.push(n > 127 ? n & 127 | 128 : n);
  const body = payload.length === 0 ? payload : concat(Uint8Array.of(0x0a, ...size), payload);
  const prefix = new Uint8Array(5);
  new DataView(prefix.buffer).setUint32(1, body.length);
  return concat(prefix, body);
}

async function grpcServer({ plans, random }: Batch): Promise<string[]> {
  const registrar = new grpc.Registrar();
  registrar.register(file, {
    Unary: (message: Message) => message,
    async *Bidi(messages: AsyncIterable<Message>) {
      for await (const message of messages) yield message;
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const wire = new H2Wire(
    await Deno.connect({ port: server.port, hostname: "127.0.0.1" }),
    windowFor(random, plans.map(({ up }) => up)),
  );
  const all = await Promise.all(plans.map(async (plan, i) => {
    const bytes = concat(...messagesOf(plan).map(encoded));
    const stream = wire.open(i * 2 + 1);
    let at = 0;
    stream.onData = (piece) => {
      for (const byte of piece) if (bytes[at++] !== byte) throw new Error(`byte ${at} is wrong`);
      return plan.down.slow && at % 5 === 0 ? pause(1) : undefined;
    };
    const fields = [":method", "POST", ":scheme", "http", ":path", pathOf(plan), ":authority", "x"];
    await stream.head([...fields, "te", "trailers", "content-type", "application/grpc"]);
    const stop = stopOf(plan, "client");
    for (let from = 0, n = 0; from < bytes.length; n++) {
      if (n === stop) break;
      const size = 1 + random.below(random.pick([10, 1000, 60_000, 60_000]));
      if (!await stream.data(bytes.subarray(from, from + size), false, plan.padding)) break;
      from += size;
    }
    if (stop !== null) await stream.cancel();
    else await stream.data(new Uint8Array(0), true);
    await stream.finished();
    if (stop !== null) return [];
    const status = stream.heads.at(-1)?.get("grpc-status");
    return at === bytes.length && status === "0" ? [] : [
      `call ${plan.seed}: ${at} of ${bytes.length} bytes, status ${status}, reset ${stream.reset}`,
    ];
  }));
  wire.close();
  await wire.running;
  return all.flat();
}

async function grpcClient({ plans, random }: Batch): Promise<string[]> {
  const initial = windowFor(random, plans.map(({ up }) => up));
  const byPath = new Map(plans.map((plan) => [String(plan.seed), plan]));
  await using server = new RawServer(async (conn) => {
    const wire = new H2Wire(conn, initial, async (stream) => {
      const plan = byPath.get(stream.heads[0]!.get("x-seed")!)!;
      const stop = stopOf(plan, "server");
      let frames = 0;
      stream.onData = async (bytes) => {
        if (frames++ === stop) return await stream.cancel();
        const middle = random.below(bytes.length + 1);
        await stream.data(bytes.subarray(0, middle), false, plan.padding);
        await stream.data(bytes.subarray(middle), false);
      };
      await stream.head([":status", "200", "content-type", "application/grpc"]);
      await stream.finished().catch(() => {});
      if (stream.reset === null) await stream.head(["grpc-status", "0"], true);
    });
    await wire.running;
  });
  await using conn = grpc.newClient({ targets: [`127.0.0.1:${server.port}`] });
  // deno-lint-ignore no-explicit-any
  const echo: any = grpc.newService(conn, file);
  const all = await Promise.all(plans.map(async (plan) => {
    const messages = messagesOf(plan);
    const options = { headers: { "x-seed": String(plan.seed) } };
    const got: Message[] = [];
    let failure: unknown = null;
    try {
      if (isUnary(plan)) {
        got.push(await echo.Unary({ payload: messages[0] }, options));
      } else {
        const call = await echo.Bidi(options);
        const sending = (async () => {
          for (const payload of messages) await call.write({ payload });
          call.closeWrite();
        })();
        sending.catch(() => {});
        for await (const message of call) got.push(message);
        await sending;
      }
    } catch (error) {
      failure = error;
    }
    const same = got.every(({ payload }, i) =>
      payload.length === messages[i]?.length &&
      payload.every((byte, at) => byte === messages[i]![at])
    );
    if (!same) return [`call ${plan.seed}: a message is wrong`];
    if (stopOf(plan, "server") !== null) return [];
    return failure === null && got.length === messages.length
      ? []
      : [`call ${plan.seed}: ${got.length} of ${messages.length} messages, ${failure}`];
  }));
  return all.flat();
}
