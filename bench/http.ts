// deno-lint-ignore-file no-console
/**
 * HTTP beside its peers: `Deno.serve`, Node's http and http2, `fetch`, undici. Every program in a
 * process of its own, the peers' turns interleaved (the machine's noise hits all of them), medians
 * of the rounds. Servers are driven by wrk and h2load. Prints tables and, last, one line of JSON.
 * Peers that are not installed are named and left out. Needs Linux, for `/proc`.
 *
 * Run it with `deno task bench:http`; `SLUICE_PEERS` names a folder with `node_modules/undici`.
 *
 * @module
 */
import { makeCertificate } from "../support/certificate.ts";
import { run, which } from "../support/process.ts";
import { Program } from "./peers/program.ts";

/** Rounds that count; one more goes before them to warm everything up. */
const ROUNDS = 3;
/** Seconds of one measurement. */
const SECONDS = 2;
/** Connections that warm a server up before its memory is looked at. */
const WARM_CONNECTIONS = 500;
/** Connections for the memory figure: many, so that the heap's own ups and downs drown. */
const IDLE_CONNECTIONS = 4000;

const here = new URL("./peers/", import.meta.url).pathname;
const deno = (file: string, ...args: string[]) =>
  new Program(Deno.execPath(), ["run", "-A", "--no-check", "--no-lock", here + file, ...args]);
const node = (file: string, ...args: string[]) => new Program("node", [here + file, ...args]);

interface Ports {
  plain: number;
  tls: number;
  h2c?: number;
}

interface Row {
  name: string;
  unit: string;
  values: Map<string, number[]>;
}

const rows: Row[] = [];

function record(name: string, unit: string, peer: string, value: number): void {
  let row = rows.find((candidate) => candidate.name === name);
  if (row === undefined) rows.push(row = { name, unit, values: new Map() });
  const values = row.values.get(peer) ?? [];
  values.push(value);
  row.values.set(peer, values);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

async function output(command: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run({ command, args });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

async function wrk(url: string, connections: number): Promise<number> {
  const text = await output("wrk", ["-t1", `-c${connections}`, `-d${SECONDS}s`, url]);
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk found errors: ${text}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]);
}

async function h2load(url: string, connections: number, streams: number): Promise<number> {
  const text = await output("h2load", [
    ...["-t1", `-c${connections}`, `-m${streams}`, "-D", String(SECONDS), url],
  ]);
  // Requests under way when the time is up count as neither.
  const failed = Number(/(\d+) failed/.exec(text)![1]);
  if (failed > 0) throw new Error(`h2load found ${failed} failures`);
  return Number(/([\d.]+) req\/s/.exec(text)![1]);
}

/** What one more connection costs a server that has done some work, after one request on each. */
async function idleBytes(start: () => Program): Promise<number> {
  await using program = start();
  const { plain } = JSON.parse(await program.line()) as Ports;
  const request = new TextEncoder().encode("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const buf = new Uint8Array(4096);
  const conns: Deno.TcpConn[] = [];
  const open = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: plain });
      conns.push(conn);
      await conn.write(request);
      await conn.read(buf);
    }
  };
  try {
    await open(WARM_CONNECTIONS);
    const before = program.residentBytes();
    await open(IDLE_CONNECTIONS);
    return (program.residentBytes() - before) / IDLE_CONNECTIONS;
  } finally {
    for (const conn of conns) conn.close();
  }
}

interface Counted {
  count: number;
  bytes: number;
  seconds: number;
}

await using files = await makeCertificate();
const servers: [string, Program, Ports][] = [];
const starts: [string, () => Program][] = [];
const missing: string[] = [];

async function addServer(name: string, start: () => Program): Promise<void> {
  const program = start();
  starts.push([name, start]);
  servers.push([name, program, JSON.parse(await program.line())]);
}

const clients: { name: string; protocol: "h1" | "h2"; program: Program }[] = [];

async function addClient(name: string, protocol: "h1" | "h2", program: Program): Promise<void> {
  await program.line();
  clients.push({ name, protocol, program });
}

const pair = [files.certFile, files.keyFile];
await addServer("sluice", () => deno("http_sluice_server.ts", ...pair));
await addServer("Deno.serve", () => deno("http_deno_server.ts", ...pair));
if (await which("node")) await addServer("node", () => node("http_node_server.mjs", ...pair));
else missing.push("node");
for (const protocol of ["h1", "h2"] as const) {
  await addClient("sluice", protocol, deno("http_client.ts", "sluice", protocol, files.caFile));
  await addClient("fetch", protocol, deno("http_client.ts", "fetch", protocol, files.caFile));
}
const peers = Deno.env.get("SLUICE_PEERS");
const hasUndici = peers !== undefined &&
  await Deno.stat(`${peers}/node_modules/undici`).then(() => true, () => false);
if (hasUndici) await addClient("undici", "h1", node("http_undici_client.mjs", peers));
else missing.push("undici (set SLUICE_PEERS to a folder with node_modules/undici)");
for (const tool of ["wrk", "h2load"]) if (!await which(tool)) missing.push(tool);
for (const name of missing) console.warn(`left out, not installed: ${name}`);

try {
  for (let round = 0; round <= ROUNDS; round++) {
    const keep = (name: string, unit: string, peer: string, value: number) => {
      if (round > 0) record(name, unit, peer, value);
    };
    for (const [name, , { plain, tls, h2c }] of servers) {
      if (await which("wrk")) {
        const url = `http://127.0.0.1:${plain}`;
        keep("server h1, 64 connections", "req/s", name, await wrk(`${url}/a?x=1`, 64));
        keep("server h1, 1 MiB bodies", "MiB/s", name, await wrk(`${url}/big`, 8));
      }
      if (await which("h2load")) {
        const url = `http://127.0.0.1:${h2c ?? plain}`;
        const secure = `https://127.0.0.1:${tls}`;
        keep("server h2c, 8 x 8", "req/s", name, await h2load(`${url}/a?x=1`, 8, 8));
        keep("server h2 TLS, 8 x 8", "req/s", name, await h2load(`${secure}/a?x=1`, 8, 8));
        keep("server h2 TLS, 1 MiB bodies", "MiB/s", name, await h2load(`${secure}/big`, 4, 2));
      }
    }
    // All clients ask the same server: the first.
    const { plain, tls } = servers[0]![2];
    for (const { name, protocol, program } of clients) {
      const url = protocol === "h1" ? `http://127.0.0.1:${plain}` : `https://localhost:${tls}`;
      const kind = protocol === "h1" ? "h1" : "h2 TLS";
      for (const concurrency of [16, 64]) {
        const { count, seconds } = await program.ask<Counted>({
          url: `${url}/a?x=1`,
          concurrency,
          seconds: SECONDS,
        });
        keep(`client ${kind}, ${concurrency} at once`, "req/s", name, count / seconds);
      }
      const { bytes, seconds } = await program.ask<Counted>({
        url: `${url}/big`,
        concurrency: 8,
        seconds: SECONDS,
      });
      keep(`client ${kind}, 1 MiB downloads`, "MiB/s", name, bytes / seconds / (1 << 20));
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, start] of starts) {
      record("memory per idle connection", "KiB", name, await idleBytes(start) / 1024);
    }
  }
} finally {
  for (const [, program] of servers) await program[Symbol.asyncDispose]();
  for (const { program } of clients) await program[Symbol.asyncDispose]();
}

const summary: Record<string, Record<string, number>> = {};
for (const { name, unit, values } of rows) {
  const ours = median(values.get("sluice")!);
  const parts = [...values].map(([peer, list]) => {
    const value = median(list);
    (summary[name] ??= {})[peer] = Math.round(value * 10) / 10;
    const ratio = peer === "sluice" ? "" : ` (x${(ours / value).toFixed(2)})`;
    return `${peer} ${Math.round(value).toLocaleString("en")}${ratio}`;
  });
  console.log(`${name.padEnd(32)} ${unit.padEnd(6)} ${parts.join("   ")}`);
}
console.log(JSON.stringify(summary));
