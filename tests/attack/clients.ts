// deno-lint-ignore-file no-console
/**
 * Lets hostile servers answer this module's clients and, in the same run, their peers. Prints how
 * long each process stood still and the memory it took; fails where this module's figures pass the
 * bars.
 *
 * deno task attack:clients [--only TEXT] [--sizes 1,4,16]
 */
import { parseArgs } from "node:util";
import { Process } from "../../support/process.ts";
import { type Mode, type Response, RESPONSES } from "./hostile.ts";
import { residentBytes } from "./measure.ts";

/** Longest time a process may stand still, ms. */
const MAX_STALL = 50;
/** Memory it may take, bytes. */
const MAX_MEMORY = 64 << 20;

const here = new URL("./peers/", import.meta.url).pathname;
const deno = [Deno.execPath(), "run", "-A", "--no-check"];

const VICTIMS: readonly { name: string; command: readonly string[]; modes: readonly Mode[] }[] = [
  {
    name: "sluice",
    command: [...deno, `${here}victim_sluice.ts`],
    modes: ["HTTP/1.1", "HTTP/2", "gRPC"],
  },
  { name: "fetch", command: [...deno, `${here}victim_fetch.ts`], modes: ["HTTP/1.1", "HTTP/2"] },
  { name: "node", command: ["node", `${here}victim_node.mjs`], modes: ["HTTP/1.1", "HTTP/2"] },
];

interface Outcome {
  stall: number;
  peak: number;
  outcome: string;
}

async function attackOn(
  command: readonly string[],
  response: Response,
  n: number,
): Promise<Outcome> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    for await (const conn of listener) response.answer(conn, n).catch(() => {});
  })().catch(() => {});
  const { port } = listener.addr as Deno.NetAddr;
  await using victim = new Process({
    command: command[0]!,
    args: [...command.slice(1), response.mode, String(port), String(response.late ?? false)],
  });
  await victim.waitFor(/asking/);
  const before = residentBytes(victim.pid);
  let peak = 0;
  const timer = setInterval(() => peak = Math.max(peak, residentBytes(victim.pid) - before), 20);
  let told: { stall: number; outcome: string };
  try {
    told = JSON.parse((await victim.waitFor(/done (\{.*\})/, 60_000))[1]!);
  } catch {
    told = { stall: Infinity, outcome: victim.ended ? "ENDED" : "no end in 60 s" };
  }
  clearInterval(timer);
  listener.close();
  await served;
  return { ...told, peak };
}

const { values } = parseArgs({
  args: Deno.args,
  options: { only: { type: "string", default: "" }, sizes: { type: "string", default: "1,4,16" } },
});
console.log(`| attack | units | ${VICTIMS.map((victim) => victim.name).join(" | ")} |`);
console.log(`|---|---|${VICTIMS.map(() => "---").join("|")}|`);
const breaches: string[] = [];
for (const response of RESPONSES) {
  const name = `${response.mode}: ${response.name}`;
  if (!name.includes(values.only)) continue;
  for (const size of values.sizes.split(",").map(Number)) {
    const n = response.size * size;
    const cells: string[] = [];
    for (const { name: who, command, modes } of VICTIMS) {
      if (!modes.includes(response.mode)) {
        cells.push("–");
        continue;
      }
      let cost = await attackOn(command, response, n);
      if (who === "sluice" && cost.stall > MAX_STALL) {
        const again = await attackOn(command, response, n);
        if (again.stall < cost.stall) cost = again;
      }
      cells.push(
        `${Math.round(cost.stall)} ms, ${Math.round(cost.peak / (1 << 20))} MiB: ${cost.outcome}`,
      );
      if (who !== "sluice") continue;
      if (cost.stall > MAX_STALL) {
        breaches.push(`${name} × ${n}: stood still ${Math.round(cost.stall)} ms`);
      }
      if (cost.peak > MAX_MEMORY) breaches.push(`${name} × ${n}: ${cost.peak >> 20} MiB`);
    }
    console.log(`| ${name} | ${n} | ${cells.join(" | ")} |`);
  }
}
console.log(
  breaches.length === 0 ? "\nall within the bars" : `\nover the bars:\n${breaches.join("\n")}`,
);
Deno.exit(breaches.length === 0 ? 0 : 1);
