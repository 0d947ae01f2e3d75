// deno-lint-ignore-file no-console
/**
 * Makes every attack at three sizes on this module's server and, in the same run, on its peers.
 * Prints for each the longest wait of another client and the memory it took; fails where this
 * module's figures pass the bars.
 *
 * deno task attack [--only TEXT] [--sizes 1,4,16] [--peers sluice,deno,node,go] [--peer-sizes 16]
 */
import { parseArgs } from "node:util";
import { newClient } from "../../http/mod.ts";
import { newClient as newGrpcClient, newService } from "../../grpc/mod.ts";
import { echoFile } from "../interop/echo.ts";
import { inPeers } from "../../support/peers.ts";
import { Process } from "../../support/process.ts";
import { ATTACKS } from "./attacks.ts";
import { type Cost, watch } from "./measure.ts";
import type { Attack, Protocol } from "./shape.ts";

/** Longest wait of another client, ms. */
const MAX_WAIT = 50;
/** Memory one attacking connection may take, bytes. */
const MAX_MEMORY = 64 << 20;
/** Probing goes on this long behind an attack, ms. */
const AFTER = 1500;

const here = new URL("./", import.meta.url).pathname;
const deno = Deno.execPath();

interface Peer {
  readonly name: string;
  /** Command line, or undefined where the peer is not installed. */
  command(protocol: Protocol): string[] | undefined;
  readonly port: RegExp;
}

const PEERS: readonly Peer[] = [
  {
    name: "sluice",
    command: () => [deno, "run", "-A", "--no-check", `${here}peers/sluice.ts`],
    port: /port=(\d+)/,
  },
  {
    name: "deno",
    command: (protocol) =>
      protocol === "gRPC"
        ? undefined
        : [deno, "run", "-A", "--no-check", `${here}peers/deno_serve.ts`],
    port: /port=(\d+)/,
  },
  {
    name: "node",
    command: (protocol) =>
      protocol === "HTTP/1.1" || protocol === "HTTP/2"
        ? ["node", `${here}peers/node.mjs`, protocol === "HTTP/2" ? "h2" : "h1"]
        : undefined,
    port: /port=(\d+)/,
  },
  {
    name: "go",
    command: (protocol) => {
      const program = inPeers("bin/grpc_go_peer");
      return protocol === "gRPC" && program !== undefined ? [program, "server"] : undefined;
    },
    port: /port=(\d+)/,
  },
];

/** A client that asks for little, again and again. */
function prober(protocol: Protocol, port: number): { probe(): Promise<void>; close(): unknown } {
  if (protocol === "gRPC") {
    const conn = newGrpcClient({ targets: [`127.0.0.1:${port}`] });
    const echo = newService(conn, echoFile, "Echo");
    return {
      probe: async () => void await echo.Unary({ text: "probe" }),
      close: () => conn.close(),
    };
  }
  const client = newClient({ alpnProtos: [protocol === "HTTP/2" ? "h2" : "http/1.1"] });
  return {
    async probe() {
      const { status } = await client.get(`http://127.0.0.1:${port}/`);
      if (status !== 200) throw new Error(`status ${status}`);
    },
    close: () => client.close(),
  };
}

async function attackOn(peer: Peer, attack: Attack, units: number): Promise<Cost | undefined> {
  const command = peer.command(attack.protocol);
  if (command === undefined) return undefined;
  await using server = new Process({ command: command[0]!, args: command.slice(1) });
  const port = Number((await server.waitFor(peer.port))[1]);
  const client = prober(attack.protocol, port);
  const name = `${attack.protocol} ${attack.name}`;
  const cost = await watch(server.pid, client.probe, async () => {
    await using attacker = new Process({
      command: deno,
      args: ["run", "-A", "--no-check", `${here}attacker.ts`, name, String(port), String(units)],
    });
    await attacker.waitFor(/done/, 60_000);
  }, AFTER);
  if (!cost.alive) console.error(`${name} ended ${peer.name}: ${server.stderr.slice(-2000)}`);
  await client.close();
  return cost;
}

const mib = (bytes: number) => `${Math.round(bytes / (1 << 20))}`;

function cell(cost: Cost | undefined): string {
  if (cost === undefined) return "–";
  const failed = cost.failed > 0 ? ` (${cost.failed} failed)` : "";
  if (!cost.alive) return `ENDED${failed}`;
  return `${Math.round(cost.longestWait)} ms, ${mib(cost.peak)} → ${mib(cost.kept)} MiB${failed}`;
}

const { values } = parseArgs({
  args: Deno.args,
  options: {
    only: { type: "string", default: "" },
    sizes: { type: "string", default: "1,4,16" },
    peers: { type: "string", default: PEERS.map((peer) => peer.name).join(",") },
    "peer-sizes": { type: "string" },
    json: { type: "string" },
  },
});
const sizes = values.sizes.split(",").map(Number);
const peerSizes = values["peer-sizes"]?.split(",").map(Number) ?? sizes;
const peers = PEERS.filter((peer) => values.peers.split(",").includes(peer.name));

console.log(`| attack | units | ${peers.map((peer) => peer.name).join(" | ")} |`);
console.log(`|---|---|${peers.map(() => "---").join("|")}|`);
const breaches: string[] = [];
const rows: unknown[] = [];
for (const attack of ATTACKS) {
  const name = `${attack.protocol}: ${attack.name}`;
  if (!name.includes(values.only)) continue;
  for (const size of sizes) {
    const units = attack.size * size;
    const cells: string[] = [];
    for (const peer of peers) {
      if (peer.name !== "sluice" && !peerSizes.includes(size)) {
        cells.push("");
        continue;
      }
      let cost = await attackOn(peer, attack, units);
      // A wait that comes from this machine does not come again.
      if (
        peer.name === "sluice" && cost !== undefined && cost.longestWait > MAX_WAIT && cost.alive
      ) {
        const again = await attackOn(peer, attack, units);
        if (again !== undefined && again.longestWait < cost.longestWait) cost = again;
      }
      cells.push(cell(cost));
      rows.push({ attack: name, units, peer: peer.name, ...cost });
      if (peer.name !== "sluice" || cost === undefined) continue;
      const faults = [
        cost.alive ? "" : "the process ended",
        cost.failed > 0 ? `${cost.failed} requests of another client failed` : "",
        cost.longestWait > MAX_WAIT
          ? `another client waited ${Math.round(cost.longestWait)} ms`
          : "",
        cost.peak > MAX_MEMORY * Math.max(1, attack.connections ?? 1)
          ? `memory grew by ${mib(cost.peak)} MiB`
          : "",
      ].filter((fault) => fault !== "");
      if (faults.length > 0) breaches.push(`${name} × ${units}: ${faults.join(", ")}`);
    }
    console.log(`| ${name} | ${units} | ${cells.join(" | ")} |`);
  }
}
if (values.json !== undefined) await Deno.writeTextFile(values.json, JSON.stringify(rows, null, 1));
console.log(
  breaches.length === 0 ? "\nall within the bars" : `\nover the bars:\n${breaches.join("\n")}`,
);
Deno.exit(breaches.length === 0 ? 0 : 1);
