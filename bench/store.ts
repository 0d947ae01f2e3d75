/**
 * The store of `@sluice/sluice/kv/server` beside a real etcd, each in a process of its own, kept in a
 * folder and synced before each answer; the same client in one run:
 * `deno task bench:store [--seconds 1.5] [--rounds 2] [--keys 1000000] [--etcd PROGRAM] [--memory FOLDER]
 * [--disk FOLDER]`.
 *
 * Puts and gets at 1, 16 and 100 at once on a folder in memory (tmpfs) and on disk; then, with very many
 * keys: memory, start-up, ranges, watches, and what a put costs with a thousand keys and with all of them.
 * Prints tables and, last, one JSON line. All share the machine's cores: the figures are for comparison.
 */
// deno-lint-ignore-file no-console
import { parseArgs } from "node:util";
import { kv } from "@sluice/sluice";
import { Etcd, etcdVersion, findEtcd, STORE } from "../support/etcd.ts";

const VALUE = "v".repeat(100);
const CONCURRENCIES = [1, 16, 100];
/** Keys that are put and read for rates. */
const KEYS = 1_000;
/** Operations of a transaction, as etcd takes them. */
const MOST_OPS = 128;
/** Milliseconds for a process to start, with a million keys on a busy machine. */
const START_MS = 300_000;
/** Requests whose latency is measured. */
const REQUESTS = 200;
/** Puts whose cost is measured. */
const PUTS = 5_000;
/** Kernel ticks in a second, as `/proc` counts them. */
const TICKS = 100;

const { values: args } = parseArgs({
  options: {
    seconds: { type: "string", default: "1.5" },
    rounds: { type: "string", default: "2" },
    keys: { type: "string", default: "1000000" },
    etcd: { type: "string" },
    memory: { type: "string", default: "/dev/shm" },
    disk: { type: "string", default: "." },
  },
});
const etcd = args.etcd ?? await findEtcd();
if (etcd === undefined) {
  console.error("No etcd: install etcd-server, or name the program with --etcd.");
  Deno.exit(2);
}
const seconds = Number(args.seconds);

/** Starts a server that syncs, with its data in a folder of its own below `parent`. */
function start(command: string, parent: string): Promise<Etcd> {
  return Etcd.start({
    command,
    parent,
    synced: true,
    startTimeout: START_MS,
    flags: ["--log-level=info", "--quota-backend-bytes=8589934592"],
  });
}

/** Megabytes of memory of a process. */
function memoryOf({ pid }: Etcd): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}

/** Milliseconds of the processor that a process has used. */
function cpuOf({ pid }: Etcd): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 1_000 / TICKS;
}

/** Milliseconds a server takes to start with what it has. */
async function restartTime(server: Etcd): Promise<number> {
  await server.halt("SIGTERM");
  const start = performance.now();
  await server.restart();
  return performance.now() - start;
}

type Figures = Record<string, number>;

/** Calls a second. */
async function rate(
  concurrency: number,
  call: (key: string) => Promise<unknown>,
  ms: number,
): Promise<number> {
  let done = 0;
  const start = performance.now();
  const loop = async (): Promise<void> => {
    while (performance.now() - start < ms) {
      await call(`bench/${done % KEYS}`);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return done / (performance.now() - start) * 1_000;
}

/** Rates of puts and gets. */
async function rates(server: Etcd): Promise<Figures> {
  await using client = kv.newClient({ endpoints: [server.endpoint] });
  const calls = {
    put: (key: string) => client.put({ key, value: VALUE }),
    get: (key: string) => client.get({ key }),
  };
  const figures: Figures = {};
  for (const [name, call] of Object.entries(calls)) {
    for (const concurrency of CONCURRENCIES) {
      await rate(concurrency, call, 300);
      figures[`${name}, ${concurrency} at once`] = await rate(concurrency, call, seconds * 1_000);
    }
  }
  return figures;
}

const nameOf = (i: number): string => `key/${String(i).padStart(9, "0")}`;

async function fill(client: kv.Client, from: number, to: number): Promise<void> {
  let next = from;
  await Promise.all(Array.from({ length: 16 }, async () => {
    while (next < to) {
      const first = next;
      next += MOST_OPS;
      const length = Math.min(MOST_OPS, to - first);
      const success = Array.from(
        { length },
        (_, i) => ({ put: { key: nameOf(first + i), value: VALUE } }),
      );
      await client.txn({ success });
    }
  }));
}

/** The median of what calls take, in milliseconds. */
async function median(call: (i: number) => Promise<unknown>, times = REQUESTS): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    await call(i);
    all.push(performance.now() - start);
  }
  return all.sort((a, b) => a - b)[times >> 1]!;
}

/** Milliseconds of the processor for a thousand puts of keys that are there. */
async function costOfPuts(server: Etcd, client: kv.Client, keys: number): Promise<number> {
  let left = PUTS;
  const before = cpuOf(server);
  await Promise.all(Array.from({ length: 16 }, async () => {
    while (left-- > 0) {
      await client.put({ key: nameOf(left * 7_919 % keys), value: VALUE });
    }
  }));
  return (cpuOf(server) - before) / PUTS * 1_000;
}

/** Figures with very many keys. */
async function large(server: Etcd, most: number): Promise<Figures> {
  const figures: Figures = {};
  await using client = kv.newClient({ endpoints: [server.endpoint], timeout: 60 });
  for (let keys = 1_000, filled = 0; keys <= most; keys *= 10) {
    await fill(client, filled, keys);
    filled = keys;
    await costOfPuts(server, client, keys);
    figures[`ms of CPU for 1,000 puts, ${keys.toLocaleString("en")} keys`] = await costOfPuts(
      server,
      client,
      keys,
    );
  }
  figures["MB of memory"] = memoryOf(server);
  const at = (i: number): string => nameOf(i * 7_919 % most);
  figures["ms for a get"] = await median((i) => client.get({ key: at(i) }));
  figures["ms for a range of 100 keys"] = await median(
    (i) =>
      client.get({
        key: at(i),
        rangeEnd: "key0",
        limit: 100,
        sortTarget: "KEY",
        sortOrder: "NONE",
      }),
    20,
  );
  figures["ms for a count of all"] = await median(
    () => client.get({ key: "key/", prefix: true, countOnly: true }),
    10,
  );
  const watch = await client.watch({ key: "key/", prefix: true });
  const events = watch[Symbol.asyncIterator]();
  figures["ms from a put to its event"] = await median(async (i) => {
    await Promise.all([events.next(), client.put({ key: at(i), value: VALUE })]);
  });
  await events.return?.();
  figures["ms to start again"] = await restartTime(server);
  return figures;
}

function table(head: string, columns: Readonly<Record<string, Figures>>): void {
  const names = Object.keys(columns);
  console.log(`\n| ${[head, ...names].join(" | ")} |\n|${"---|".repeat(names.length + 1)}`);
  for (const row of Object.keys(columns[names[0]!]!)) {
    const cells = names.map((name) => {
      const value = columns[name]![row]!;
      return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
    });
    console.log(`| ${[row, ...cells].join(" | ")} |`);
  }
}

const subjects = { store: STORE, etcd };
const places = { tmpfs: args.memory, disk: args.disk };
const columns: Record<string, Figures> = {};
for (let round = 0; round < Number(args.rounds); round++) {
  for (const [place, folder] of Object.entries(places)) {
    for (const [name, command] of Object.entries(subjects)) {
      await using server = await start(command, folder);
      const column = columns[`${name}, ${place}`] ??= {};
      // The best of all rounds: others want the machine, too.
      for (const [row, value] of Object.entries(await rates(server))) {
        column[row] = Math.max(column[row] ?? 0, value);
      }
    }
  }
}
console.log(`etcd ${await etcdVersion(etcd)}, calls a second`);
table("a second", columns);
const many: Record<string, Figures> = {};
const keys = Number(args.keys);
if (keys > 0) {
  for (const [name, command] of Object.entries(subjects)) {
    await using server = await start(command, args.memory);
    many[name] = await large(server, keys);
  }
  table(`${keys.toLocaleString("en")} keys`, many);
}
console.log(JSON.stringify({ columns, many }));
