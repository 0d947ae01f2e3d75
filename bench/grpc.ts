// deno-lint-ignore-file no-console
/**
 * gRPC beside its peers: servers and clients in processes of their own, the peers' turns interleaved
 * (the machine's noise hits all of them), medians of the rounds. Prints a table and, last, one line
 * of JSON. Peers that are not installed are named and left out. Needs Linux, for `/proc`.
 *
 * Run it with `deno task bench:grpc`; `SLUICE_PEERS` names the folder that `.ci/run` fills.
 *
 * @module
 */
import {
  foreignPeers,
  type Peer,
  type Program,
  sluice,
  startClient,
  startServer,
  traced,
} from "./peers/program.ts";
import { listen } from "../http/mod.ts";
import { Row, summary, table } from "./grpc_report.ts";
import { makeCertificate } from "../support/certificate.ts";
import { which } from "../support/process.ts";

/** Rounds that count; one more goes before them to warm everything up. */
const ROUNDS = 3;

/** Seconds of one measurement. */
const SECONDS = 1;

/** Seconds of one measurement of large messages. */
const LARGE_SECONDS = 0.6;

const CONCURRENCIES = [1, 16, 100, 1000];
const MIB = 1 << 20;
/** 4 MiB is the usual limit of a message; what is around the body must fit too. */
const LARGE_SIZES = [MIB, 4 * MIB - 64];
const IDLE_STREAMS = 10_000;
const IDLE_CONNECTIONS = 1000;
const STREAM_MESSAGES: Readonly<Record<string, number>> = { sluice: 200_000, "grpc-js": 50_000 };
const BIDI_WINDOW = 100;

interface Figures {
  count: number;
  seconds: number;
  p50Micros: number;
  p99Micros: number;
}

const rows: Row[] = [];

function newRow(name: string, unit: string, better?: "more" | "less"): Row {
  const row = new Row(name, unit, better);
  rows.push(row);
  return row;
}

/** Runs `measure` for each peer in turn, again and again; the first round is not counted. */
async function interleave(
  peers: readonly Peer[],
  measure: (peer: Peer, counted: boolean) => Promise<void>,
): Promise<void> {
  for (let round = 0; round <= ROUNDS; round++) {
    for (const peer of peers) await measure(peer, round > 0);
  }
}

/** What `work` returns, with the CPU seconds each program used meanwhile. */
async function withCpu<T>(programs: readonly Program[], work: () => Promise<T>) {
  const before = programs.map((program) => program.cpuSeconds());
  const result = await work();
  const used = programs.map((program, i) => program.cpuSeconds() - before[i]!);
  return { result, used };
}

/** Starts one program for each peer. */
async function startAll<T extends { program: Program } | Program>(
  stack: AsyncDisposableStack,
  peers: readonly Peer[],
  start: (peer: Peer) => Promise<T>,
): Promise<Map<Peer, T>> {
  const all = new Map<Peer, T>();
  for (const peer of peers) {
    const one = await start(peer);
    stack.use("program" in one ? one.program : one as Program);
    all.set(peer, one);
  }
  return all;
}

/** Servers, unary, loaded by h2load. */
async function serverUnary(peers: readonly Peer[]): Promise<void> {
  if (await which("h2load") === undefined) {
    console.log("Left out: server, unary (h2load is missing: install nghttp2-client)");
    return;
  }
  const speed = newRow("server, unary, h2load -c4 -m16", "calls/s");
  const cost = newRow("server, unary, CPU of the server", "µs/call", "less");
  await using stack = new AsyncDisposableStack();
  const servers = await startAll(stack, peers, (peer) => startServer(peer));
  const request = await Deno.makeTempFile();
  stack.defer(() => Deno.remove(request));
  // Prefix of a message of 10 octets; Item { text: "12345678" }.
  const message = [0, 0, 0, 0, 10, 0x0a, 8, ...new TextEncoder().encode("12345678")];
  await Deno.writeFile(request, Uint8Array.from(message));
  await interleave(peers, async (peer, counted) => {
    const { program, target } = servers.get(peer)!;
    const { result, used } = await withCpu([program], () => h2load(target, request));
    if (!counted) return;
    speed.add(peer.name, result.perSecond);
    cost.add(peer.name, used[0]! * 1e6 / result.count);
  });
}

async function h2load(target: string, request: string) {
  const { stdout } = await new Deno.Command("h2load", {
    args: [
      ...[`-D${SECONDS * 2}`, "-c4", "-m16", "-d", request],
      ...["-H", "content-type: application/grpc", "-H", "te: trailers"],
      `http://${target}/sluice.bench.v1.Bench/Unary`,
    ],
  }).output();
  const text = new TextDecoder().decode(stdout);
  const match = text.match(/, ([\d.]+) req\/s/);
  const counts = text.match(/(\d+) succeeded, (\d+) failed, (\d+) errored/);
  if (match === null || counts === null || counts[2] !== "0" || counts[3] !== "0") {
    throw new Error(`h2load did not succeed: ${text}`);
  }
  return { perSecond: Number(match[1]), count: Number(counts[1]) };
}

/** Clients, unary, all of them against the same server. */
async function clientUnary(peers: readonly Peer[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { program, target } = await startServer(sluice);
  stack.use(program);
  const clients = await startAll(stack, peers, (peer) => startClient(peer, target));
  for (const concurrency of CONCURRENCIES) {
    const name = `client, unary, ${concurrency} at a time`;
    const speed = newRow(name, "calls/s");
    const cost = newRow(name, "CPU µs/call", "less");
    const p50 = newRow(name, "p50 µs", "less");
    await interleave(peers, async (peer, counted) => {
      const client = clients.get(peer)!;
      const { result, used } = await withCpu(
        [client],
        () => client.ask<Figures>({ mode: "unary", concurrency, seconds: SECONDS }),
      );
      if (!counted) return;
      speed.add(peer.name, result.count / result.seconds);
      cost.add(peer.name, used[0]! * 1e6 / result.count);
      p50.add(peer.name, result.p50Micros);
    });
  }
}

/** Each peer with itself: messages of streams, and large messages. */
async function bothEnds(peers: readonly Peer[], files: readonly string[], ca: readonly string[]) {
  const how = files.length > 0 ? "TLS" : "plain";
  await using stack = new AsyncDisposableStack();
  const servers = await startAll(stack, peers, (peer) => startServer(peer, files));
  const clients = await startAll(
    stack,
    peers,
    (peer) => startClient(peer, servers.get(peer)!.target, ca),
  );
  const ask = async (peer: Peer, command: object) => {
    const programs = [servers.get(peer)!.program, clients.get(peer)!];
    const { result, used } = await withCpu(programs, () => programs[1]!.ask<Figures>(command));
    return { ...result, cpuSeconds: used[0]! + used[1]! };
  };
  const kinds: [name: string, command: { mode: string; window?: number }][] = [
    [`server stream, ${how}`, { mode: "serverStream" }],
    [`bidi stream, ${BIDI_WINDOW} on their way, ${how}`, { mode: "bidi", window: BIDI_WINDOW }],
  ];
  for (const [name, command] of kinds) {
    const speed = newRow(name, "messages/s");
    const cost = newRow(name, "CPU µs/message, both ends", "less");
    await interleave(peers, async (peer, counted) => {
      const messages = STREAM_MESSAGES[peer.name]!;
      const { count, seconds, cpuSeconds } = await ask(peer, { ...command, messages });
      if (!counted) return;
      speed.add(peer.name, count / seconds);
      cost.add(peer.name, cpuSeconds * 1e6 / count);
    });
  }
  for (const size of LARGE_SIZES) {
    for (const mode of ["upload", "download"]) {
      const name = `${mode}, ${Math.round(size / MIB)} MiB messages, ${how}`;
      const speed = newRow(name, "MB/s");
      const cost = newRow(name, "CPU ms/MB, both ends", "less");
      await interleave(peers, async (peer, counted) => {
        const command = { mode, size, concurrency: 4, seconds: LARGE_SECONDS };
        const { count, seconds, cpuSeconds } = await ask(peer, command);
        if (!counted) return;
        speed.add(peer.name, count * size / 1e6 / seconds);
        cost.add(peer.name, cpuSeconds * 1e9 / (count * size));
      });
    }
  }
}

/** Both ends without telemetry, and with spans and metrics that are exported. */
async function telemetry(): Promise<Row[]> {
  await using sink = listen({
    addr: "127.0.0.1:0",
    telemetry: false,
    handler: async (stream) => {
      await stream.readBytes();
      return new Response(null, { headers: { "content-type": "application/x-protobuf" } });
    },
  });
  const variants = [sluice, traced(`http://${sink.addr}`)];
  await using stack = new AsyncDisposableStack();
  const servers = await startAll(stack, variants, (peer) => startServer(peer));
  const clients = await startAll(
    stack,
    variants,
    (peer) => startClient(peer, servers.get(peer)!.target),
  );
  const name = "unary, 100 at a time, both ends";
  const speed = new Row(name, "calls/s");
  const cost = new Row(name, "CPU µs/call", "less");
  await interleave(variants, async (peer, counted) => {
    const client = clients.get(peer)!;
    const { result, used } = await withCpu(
      [servers.get(peer)!.program, client],
      () => client.ask<Figures>({ mode: "unary", concurrency: 100, seconds: SECONDS }),
    );
    if (!counted) return;
    speed.add(peer.name, result.count / result.seconds);
    cost.add(peer.name, (used[0]! + used[1]!) * 1e6 / result.count);
  });
  return [speed, cost];
}

/** What idle streams and connections cost a server; our client opens them. */
async function idle(peers: readonly Peer[]): Promise<void> {
  for (
    const [kind, count] of [["streams", IDLE_STREAMS], ["connections", IDLE_CONNECTIONS]] as const
  ) {
    const server = newRow(`server, ${count} idle ${kind}`, "KiB each", "less");
    const own = newRow(`client, ${count} idle ${kind}`, "KiB each", "less");
    for (const peer of peers) {
      await using stack = new AsyncDisposableStack();
      const { program, target } = await startServer(peer);
      stack.use(program);
      const client = stack.use(await startClient(sluice, target));
      await client.ask({ mode: "unary", concurrency: 4, seconds: 0.5 });
      const before = [program.residentBytes(), client.residentBytes()] as const;
      await client.ask({ mode: "idle", kind, count });
      server.add(peer.name, (program.residentBytes() - before[0]) / 1024 / count);
      if (peer === sluice) own.add(peer.name, (client.residentBytes() - before[1]) / 1024 / count);
    }
  }
}

const started = performance.now();
const load = Deno.loadavg()[0]!;
console.log(`Load before: ${load.toFixed(2)} on ${navigator.hardwareConcurrency} cores`);
if (load > 0.5) console.log("Something else is at work here: figures will be low, ratios unsteady");
const { found, missing } = await foreignPeers();
for (const peer of missing) console.log(`Left out: ${peer}`);
const all = [sluice, ...found];
const withStreams = all.filter((peer) => peer.streams);

/** Says what is being measured, since a silent minute looks like a hang. */
async function section(name: string, work: () => Promise<void>): Promise<void> {
  console.error(`${name} …`);
  await work();
}

await section("servers, unary", () => serverUnary(all));
await section("clients, unary", () => clientUnary(all));
await section("streams and large messages", () => bothEnds(withStreams, [], []));
if (await which("openssl") === undefined) console.log("Left out: TLS (openssl is missing)");
else {
  await using files = await makeCertificate();
  await section(
    "streams and large messages over TLS",
    () => bothEnds(withStreams, [files.certFile, files.keyFile], [files.caFile]),
  );
}
await section("idle streams and connections", () => idle(all));

const seen: Row[] = [];
await section("telemetry", async () => void seen.push(...await telemetry()));

const others = found.map((peer) => peer.name);
console.log(table(rows, sluice.name, others));
console.log("With OTEL_DENO=true, its spans and metrics exported:");
console.log(table(seen, sluice.name, ["traced"]));
console.log(`${Math.round((performance.now() - started) / 1000)} s`);
console.log(JSON.stringify(summary(rows, sluice.name, others)));
