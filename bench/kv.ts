/**
 * The etcd client beside etcd's Go client and npm's `etcd3`, each in a process of its own, against one
 * etcd and against the newest one there is:
 * `deno task bench:kv [--seconds 1.5] [--rounds 2] [--many 10000] [--keys 1000000] [--etcd PROGRAM]`.
 * Prints a table for each etcd and, last, one JSON line. `--many 0` and `--keys 0` leave the watches and
 * leases, and the cache, out.
 *
 * All of them and etcd share the machine's cores, so the figures are for comparison only.
 */
// deno-lint-ignore-file no-console
import { kv } from "@sluice/sluice";
import process from "node:process";
import { parseArgs } from "node:util";
import { Etcd, etcdVersion, findEtcd } from "../support/etcd.ts";
import { inPeers } from "../support/peers.ts";
import { run, which } from "../support/process.ts";
import { Row, table } from "./grpc_report.ts";

const KEYS = 1_000;
const VALUE = "v".repeat(100);
const CONCURRENCIES = [1, 16, 100];
const LIVE_EVENTS = 5_000;
const PUTTERS = 16;
/** Revisions, and changes in each, of the history that is replayed: 5 MB in one response. */
const REPLAY = [400, 100] as const;
/** Milliseconds one client may take for all of it. */
const TIMEOUT_MS = 600_000;
/** Reads of a cache. */
const CACHE_READS = 100_000;
/** Operations of a transaction, as etcd takes them. */
const MOST_OPS = 128;

/** What a client has to be able to do. */
interface Subject {
  put(key: string): Promise<unknown>;
  get(key: string): Promise<unknown>;
  /** Puts a key that exists, and reads one that does not. */
  txn(key: string): Promise<unknown>;
  grant(): Promise<unknown>;
  /** Calls `onEvents` with numbers of events from `revision` on, or from now. */
  watch(
    prefix: string,
    revision: bigint | undefined,
    onEvents: (count: number) => void,
  ): Promise<() => unknown>;
  /** Watches one key. */
  watchKey(key: string): Promise<unknown>;
  close(): unknown;
}

function sluice(client: kv.Client): Subject {
  return {
    put: (key) => client.put({ key, value: VALUE }),
    get: (key) => client.get({ key }),
    txn: (key) =>
      client.txn({
        compare: [{ key, version: 0, result: "GREATER" }],
        success: [{ put: { key, value: VALUE } }],
        failure: [{ get: { key } }],
      }),
    grant: () => client.grant({ TTL: 60 }),
    async watch(prefix, revision, onEvents) {
      const watch = await client.watch({ key: prefix, prefix: true, revision: revision ?? 0n });
      (async () => {
        for await (const { events } of watch) onEvents(events.length);
      })();
      return () => watch.close();
    },
    watchKey: (key) => client.watch({ key }),
    close: () => client.close(),
  };
}

async function etcd3(endpoint: string): Promise<Subject> {
  const specifier = "npm:etcd3@1.1.2";
  const { Etcd3 } = await import(specifier);
  const client = new Etcd3({ hosts: [`http://${endpoint}`] });
  return {
    put: (key) => client.put(key).value(VALUE),
    get: (key) => client.get(key).string(),
    txn: (key) =>
      client.if(key, "Version", ">", 0).then(client.put(key).value(VALUE)).else(client.get(key))
        .commit(),
    grant: () => client.lease(60).grant(),
    async watch(prefix, revision, onEvents) {
      const builder = client.watch().prefix(prefix);
      if (revision !== undefined) builder.startRevision(String(revision));
      const watcher = await builder.create();
      watcher.on("data", ({ events }: { events: unknown[] }) => onEvents(events.length));
      return () => watcher.cancel();
    },
    watchKey: (key) => client.watch().key(key).create(),
    close: () => client.close(),
  };
}

// ---- one client's run, in its own process ------------------------------------------------------------

type Figures = Record<string, number>;

async function throughput(
  seconds: number,
  concurrency: number,
  call: (key: string) => Promise<unknown>,
): Promise<{ rate: number; cpu: number }> {
  let done = 0;
  let key = 0;
  const loop = async (end: number) => {
    while (performance.now() < end) {
      await call(`bench/${key++ % KEYS}`);
      done++;
    }
  };
  const all = (ms: number) => {
    const end = performance.now() + ms;
    return Promise.all(Array.from({ length: concurrency }, () => loop(end)));
  };
  await all(300);
  done = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  await all(seconds * 1_000);
  const took = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { rate: done / took * 1_000, cpu: (user + system) / done };
}

async function counted(
  subject: Subject,
  prefix: string,
  revision: bigint | undefined,
  count: number,
  work: () => Promise<unknown>,
): Promise<number> {
  const all = Promise.withResolvers<void>();
  let seen = 0;
  const start = performance.now();
  const stop = await subject.watch(prefix, revision, (n) => {
    seen += n;
    if (seen >= count) all.resolve();
  });
  const timer = setTimeout(() => all.resolve(), 10_000);
  await Promise.all([work(), all.promise]);
  clearTimeout(timer);
  const took = performance.now() - start;
  await stop();
  return seen < count ? 0 : count / took * 1_000;
}

/** Calls `one` `count` times, `width` at once. */
async function each(count: number, width: number, one: (i: number) => Promise<unknown>) {
  let next = 0;
  await Promise.all(Array.from({ length: width }, async () => {
    for (let i = next++; i < count; i = next++) await one(i);
  }));
}

const memory = () => Deno.memoryUsage().rss / 2 ** 20;

async function calls(subject: Subject, seconds: number): Promise<Figures> {
  const figures: Figures = {};
  for (const name of ["put", "get", "txn"] as const) {
    for (const concurrency of CONCURRENCIES) {
      const { rate, cpu } = await throughput(seconds, concurrency, subject[name]);
      figures[`${name}, ${concurrency} at once`] = rate;
      figures[`${name}, ${concurrency} at once, CPU`] = cpu;
    }
  }
  return figures;
}

async function watches(subject: Subject, revision: bigint): Promise<Figures> {
  const live = await counted(
    subject,
    "live/",
    undefined,
    LIVE_EVENTS,
    () => each(LIVE_EVENTS, PUTTERS, (i) => subject.put(`live/${i}`)),
  );
  const replay = await counted(
    subject,
    "history/",
    revision,
    REPLAY[0] * REPLAY[1],
    () => Promise.resolve(),
  );
  return { "watch, live": live, "watch, replay": replay };
}

/** Watches and leases in great numbers, all alive at once. */
async function many(subject: Subject, count: number): Promise<Figures> {
  const figures: Figures = {};
  for (
    const [name, one] of [
      ["many watches", (i: number) => subject.watchKey(`many/${i}`)],
      ["many leases", () => subject.grant()],
    ] as const
  ) {
    const before = memory();
    const start = performance.now();
    await each(count, CONCURRENCIES.at(-1)!, one);
    figures[name] = (performance.now() - start) / 1_000;
    figures[`${name}, memory`] = memory() - before;
  }
  return figures;
}

/** A cache of a great number of keys: until it is ready, and for one change that it shows. */
async function cached(client: kv.Client, count: number): Promise<Figures> {
  const before = memory();
  const start = performance.now();
  await using cache = client.cache({ prefix: "cached/", maxBytes: 2 ** 33 });
  await cache.ready();
  if (cache.size !== count) throw new Error(`The cache has ${cache.size} of ${count} keys`);
  const ready = (performance.now() - start) / 1_000;
  const changed = performance.now();
  const { header } = await client.put({ key: "cached/0", value: "changed" });
  await cache.waitForRevision(header.revision);
  const shown = (performance.now() - changed) / 1_000;
  const reading = performance.now();
  for (let i = 0; i < CACHE_READS; i++) cache.get(`cached/${i * 7919 % count}`);
  const read = (performance.now() - reading) * 1_000 / CACHE_READS;
  return {
    "cache, ready": ready,
    "cache, change shown": shown,
    "cache, read": read,
    "cache, memory": memory() - before,
  };
}

// ---- all clients -------------------------------------------------------------------------------------

const UNITS: [RegExp, string, "more" | "less"][] = [
  [/CPU$/, "µs/call", "less"],
  [/memory/, "MiB", "less"],
  [/^cache, read$/, "µs/call", "less"],
  [/^many|^cache/, "s", "less"],
  [/^watch/, "events/s", "more"],
  [/./, "calls/s", "more"],
];

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly many: number;
  readonly keys: number;
}

/** A client's program with its arguments, which all are called with. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

const HERE = new URL(import.meta.url).pathname;

function ours(name: string): Program {
  const flags = ["run", "-A", "--no-lock", "--v8-flags=--max-old-space-size=8192"];
  return { command: Deno.execPath(), args: [...flags, HERE, name] };
}

/** The Go client's program, built where its sources are newer; undefined without Go. */
async function goProgram(): Promise<Program | undefined> {
  const go = await which("go");
  if (go === undefined) return undefined;
  const folder = inPeers("bin") ?? await Deno.makeTempDir({ prefix: "sluice-bench" });
  const { code, stderr } = await run({
    command: go,
    args: ["build", "-o", `${folder}/kv_go_bench`, "."],
    cwd: new URL("peers/kv_go", import.meta.url).pathname,
  }, TIMEOUT_MS);
  if (code !== 0) throw new Error(`go build ended with ${code}: ${stderr}`);
  return { command: `${folder}/kv_go_bench`, args: [] };
}

async function measured(program: Program, args: readonly string[]): Promise<Figures> {
  const { code, stdout, stderr } = await run(
    { command: program.command, args: [...program.args, ...args] },
    TIMEOUT_MS,
  );
  if (code !== 0) throw new Error(`${program.command} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

/** All clients against one etcd. */
async function against(
  command: string,
  programs: ReadonlyMap<string, Program>,
  options: Options,
): Promise<Row[]> {
  const rows = new Map<string, Row>();
  const add = (name: string, figures: Figures) => {
    for (const [figure, value] of Object.entries(figures)) {
      const [, unit, better] = UNITS.find(([pattern]) => pattern.test(figure))!;
      if (!rows.has(figure)) rows.set(figure, new Row(figure, unit, better));
      rows.get(figure)!.add(name, value);
    }
  };
  await using etcd = await Etcd.start({ command, flags: ["--quota-backend-bytes=8589934592"] });
  await using client = kv.newClient({ endpoints: [etcd.endpoint] });
  await client.put({ key: "history-size", value: String(REPLAY[0] * REPLAY[1]) });
  const { header } = await client.get({ key: "history/" });
  const puts = Array.from({ length: REPLAY[1] }, (_, i) => ({
    put: { key: `history/${i}`, value: VALUE },
  }));
  for (let i = 0; i < REPLAY[0]; i++) await client.txn({ success: puts });
  const revision = String(header.revision + 1n);
  const seconds = String(options.seconds);
  for (let round = 0; round < options.rounds; round++) {
    for (const [name, program] of programs) {
      add(name, await measured(program, [etcd.endpoint, seconds, revision, "calls,watch"]));
    }
  }
  if (options.many > 0) {
    for (const [name, program] of programs) {
      const args = [etcd.endpoint, seconds, revision, "many", String(options.many)];
      const { "memory at the end": _, ...figures } = await measured(program, args);
      add(name, figures);
    }
  }
  if (options.keys > 0) {
    await each(Math.ceil(options.keys / MOST_OPS), CONCURRENCIES[1]!, (i) =>
      client.txn({
        success: Array.from(
          { length: Math.min(MOST_OPS, options.keys - i * MOST_OPS) },
          (_, n) => ({
            put: { key: `cached/${i * MOST_OPS + n}`, value: VALUE },
          }),
        ),
      }));
    const args = [etcd.endpoint, seconds, revision, "cache", String(options.keys)];
    const { "memory at the end": _, ...figures } = await measured(ours("sluice"), args);
    add("sluice", figures);
  }
  return [...rows.values()];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seconds: { type: "string", default: "1.5" },
      rounds: { type: "string", default: "2" },
      many: { type: "string", default: "10000" },
      keys: { type: "string", default: "1000000" },
      etcd: { type: "string" },
    },
  });
  const options = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    many: Number(values.many),
    keys: Number(values.keys),
  };
  const programs = new Map<string, Program>([["sluice", ours("sluice")]]);
  const go = await goProgram();
  if (go !== undefined) programs.set("Go", go);
  programs.set("etcd3", ours("etcd3"));
  const etcds = values.etcd === undefined
    ? [...new Set([await findEtcd(), inPeers("bin/etcd-3.7.3")])].filter((one) => one !== undefined)
    : [values.etcd];
  if (etcds.length === 0) throw new Error("Cannot find etcd: put it on PATH or set ETCD");
  const all: Record<string, unknown> = {};
  for (const etcd of etcds) {
    const version = await etcdVersion(etcd);
    const rows = await against(etcd, programs, options);
    const peers = [...programs.keys()].slice(1);
    console.log(`etcd ${version}\n${table(rows, "sluice", peers)}`);
    all[version] = Object.fromEntries(rows.map((row) => [
      row.name,
      Object.fromEntries([...programs.keys()].map((name) => [name, row.median(name)])),
    ]));
  }
  console.log(JSON.stringify(all));
}

const [name, endpoint, seconds, revision, parts, count] = Deno.args;
if (name !== "sluice" && name !== "etcd3") await main();
else {
  const client = kv.newClient({ endpoints: [endpoint!] });
  const subject = name === "sluice" ? sluice(client) : await etcd3(endpoint!);
  const figures: Figures = {};
  if (parts!.includes("calls")) Object.assign(figures, await calls(subject, Number(seconds)));
  if (parts!.includes("watch")) Object.assign(figures, await watches(subject, BigInt(revision!)));
  if (parts!.includes("many")) Object.assign(figures, await many(subject, Number(count)));
  if (parts!.includes("cache")) Object.assign(figures, await cached(client, Number(count)));
  figures["memory at the end"] = memory();
  console.log(JSON.stringify(figures));
  await subject.close();
  // etcd3 keeps the leases' streams open.
  Deno.exit(0);
}
