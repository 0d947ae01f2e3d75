/**
 * The etcd client beside npm's `etcd3`, each in a process of its own, against one etcd:
 * `deno run -A bench/kv.ts [seconds per cell]`. Prints a table and, last, one JSON line.
 *
 * Both clients and etcd share the machine's cores, so the figures are for comparison only.
 */
// deno-lint-ignore-file no-console
import { kv } from "@sluice/sluice";
import { Etcd } from "../support/etcd.ts";
import process from "node:process";
import { run } from "../support/process.ts";
import { Row, table } from "./grpc_report.ts";

const ROUNDS = 2;
const KEYS = 1_000;
const VALUE = "v".repeat(100);
const CONCURRENCIES = [1, 16, 100];
const LIVE_EVENTS = 5_000;
/** Revisions, and changes in each, of the history that is replayed: 5 MB in one response. */
const REPLAY = [400, 100] as const;
const LEASES = 500;

/** What a client has to be able to do. */
interface Subject {
  put(key: string): Promise<unknown>;
  get(key: string): Promise<unknown>;
  grant(): Promise<unknown>;
  /** Calls `onEvents` with numbers of events from `revision` on, or from now. */
  watch(
    prefix: string,
    revision: bigint | undefined,
    onEvents: (count: number) => void,
  ): Promise<() => unknown>;
  close(): unknown;
}

function sluice(endpoint: string): Subject {
  const client = kv.newClient({ endpoints: [endpoint] });
  return {
    put: (key) => client.put({ key, value: VALUE }),
    get: (key) => client.get({ key }),
    grant: () => client.grant({ TTL: 60 }),
    async watch(prefix, revision, onEvents) {
      const watch = await client.watch({ key: prefix, prefix: true, revision: revision ?? 0n });
      (async () => {
        for await (const { events } of watch) onEvents(events.length);
      })();
      return () => watch.close();
    },
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
    grant: () => client.lease(60).grant(),
    async watch(prefix, revision, onEvents) {
      const builder = client.watch().prefix(prefix);
      if (revision !== undefined) builder.startRevision(String(revision));
      const watcher = await builder.create();
      watcher.on("data", ({ events }: { events: unknown[] }) => onEvents(events.length));
      return () => watcher.cancel();
    },
    close: () => client.close(),
  };
}

// ---- one client's run, in its own process ------------------------------------------------------------

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

async function measure(subject: Subject, seconds: number, revision: bigint) {
  const figures: Record<string, number> = {};
  for (const [name, call] of [["put", subject.put], ["get", subject.get]] as const) {
    for (const concurrency of CONCURRENCIES) {
      const { rate, cpu } = await throughput(seconds, concurrency, call);
      figures[`${name}, ${concurrency} at once`] = rate;
      figures[`${name}, ${concurrency} at once, CPU`] = cpu;
    }
  }
  let next = 0;
  const putter = async () => {
    while (next < LIVE_EVENTS) await subject.put(`live/${next++}`);
  };
  figures["watch, live"] = await counted(
    subject,
    "live/",
    undefined,
    LIVE_EVENTS,
    () => Promise.all(Array.from({ length: 16 }, putter)),
  );
  figures["watch, replay"] = await counted(
    subject,
    "history/",
    revision,
    REPLAY[0] * REPLAY[1],
    () => Promise.resolve(),
  );
  const start = performance.now();
  await Promise.all(Array.from({ length: LEASES }, () => subject.grant()));
  figures["grant, kept alive"] = LEASES / (performance.now() - start) * 1_000;
  figures["memory at the end"] = Deno.memoryUsage().rss / 2 ** 20;
  return figures;
}

// ---- both clients --------------------------------------------------------------------------------

const UNITS: [RegExp, string, "more" | "less"][] = [
  [/CPU$/, "µs/call", "less"],
  [/^memory/, "MiB", "less"],
  [/^watch/, "events/s", "more"],
  [/./, "calls/s", "more"],
];

async function main(seconds: number): Promise<void> {
  await using etcd = await Etcd.start();
  await using client = kv.newClient({ endpoints: [etcd.endpoint] });
  const { header } = await client.get({ key: "history/" });
  const puts = Array.from({ length: REPLAY[1] }, (_, i) => ({
    put: { key: `history/${i}`, value: VALUE },
  }));
  for (let i = 0; i < REPLAY[0]; i++) await client.txn({ success: puts });
  const rows = new Map<string, Row>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ["sluice", "etcd3"]) {
      const { code, stdout, stderr } = await run({
        command: Deno.execPath(),
        args: [
          "run",
          "-A",
          "--no-lock",
          new URL(import.meta.url).pathname,
          name,
          etcd.endpoint,
          String(seconds),
          String(header.revision + 1n),
        ],
      }, 120_000);
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr}`);
      const figures: Record<string, number> = JSON.parse(stdout.trim().split("\n").at(-1)!);
      for (const [figure, value] of Object.entries(figures)) {
        const [, unit, better] = UNITS.find(([pattern]) => pattern.test(figure))!;
        if (!rows.has(figure)) rows.set(figure, new Row(figure, unit, better));
        rows.get(figure)!.add(name, value);
      }
    }
  }
  console.log(table([...rows.values()], "sluice", ["etcd3"]));
  console.log(JSON.stringify(Object.fromEntries(
    [...rows].map(([name, row]) => [
      name,
      { sluice: row.median("sluice"), etcd3: row.median("etcd3") },
    ]),
  )));
}

const [name, endpoint, seconds, revision] = Deno.args;
if (endpoint === undefined) await main(Number(name ?? 1.5));
else {
  const subject = name === "sluice" ? sluice(endpoint) : await etcd3(endpoint);
  const figures = await measure(subject, Number(seconds), BigInt(revision!));
  console.log(JSON.stringify(figures));
  await subject.close();
  // etcd3 keeps the leases' streams open.
  Deno.exit(0);
}
