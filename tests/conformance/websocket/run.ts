// deno-lint-ignore-file no-console
/**
 * Runs the fuzzing client of Autobahn's test suite (517 cases) against an echo server of this module,
 * and prints a table. The exit code is 0 when every case ran and none failed.
 *
 * ```sh
 * deno task conformance:websocket [--cases "1.*,7.*"] [--tls]
 * ```
 *
 * `WSTEST` names its program; `tests/conformance/websocket/fetch.sh FOLDER` installs it.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { listen } from "../../../http/mod.ts";
import { sharedAuthority } from "../../../support/authority.ts";
import { inPeers } from "../../../support/peers.ts";
import { Process, which } from "../../../support/process.ts";

/** Cases of all: fewer would mean that it stopped early. */
const ALL_CASES = 517;
/** For all of them; the cases of compression alone send a million messages. */
const TIMEOUT_MS = 45 * 60_000;
/** What a case may end with: informational ones show a choice that the standard leaves. */
const PASSED = ["OK", "INFORMATIONAL", "NON-STRICT"];

const GROUPS: Readonly<Record<string, string>> = {
  1: "framing",
  2: "pings and pongs",
  3: "reserved bits",
  4: "opcodes",
  5: "fragmentation",
  6: "UTF-8",
  7: "closing",
  9: "limits and performance",
  10: "miscellaneous",
  12: "compression",
  13: "compression, with parameters",
};

interface Verdict {
  readonly behavior: string;
  readonly behaviorClose: string;
  readonly duration: number;
}

const { values: args } = parseArgs({
  args: Deno.args,
  options: { cases: { type: "string", default: "*" }, tls: { type: "boolean", default: false } },
});

const wstest = Deno.env.get("WSTEST") ?? inPeers("autobahn/bin/wstest") ?? await which("wstest");
if (wstest === undefined) {
  console.error("No wstest: run tests/conformance/websocket/fetch.sh FOLDER, and set WSTEST.");
  Deno.exit(2);
}

const server = listen({
  addr: "127.0.0.1:0",
  ...(args.tls ? { tls: true, certs: [await (await sharedAuthority()).leaf()] } : {}),
  handler: async (stream) => {
    const socket = await stream.upgradeWebSocket({
      compress: true,
      maxMessageBytes: 32 << 20,
      maxBufferedBytes: 64 << 20,
    });
    socket.onmessage = ({ data }) => socket.send(data);
  },
});

const folder = await Deno.makeTempDir();
const spec = `${folder}/spec.json`;
await Deno.writeTextFile(
  spec,
  JSON.stringify({
    outdir: `${folder}/report`,
    servers: [{ agent: "sluice", url: `${args.tls ? "wss" : "ws"}://127.0.0.1:${server.port}` }],
    cases: args.cases.split(","),
    "exclude-cases": [],
    "exclude-agent-cases": {},
  }),
);
const verdicts: Record<string, Verdict> = await (async () => {
  await using client = new Process({
    command: wstest,
    args: ["-m", "fuzzingclient", "-s", spec],
    cwd: folder,
  });
  const { code, stderr } = await client.finished(TIMEOUT_MS);
  if (code !== 0) throw new Error(`wstest ended with ${code}: ${stderr}`);
  return JSON.parse(await Deno.readTextFile(`${folder}/report/index.json`))["sluice"];
})();
await server.close();
await Deno.remove(folder, { recursive: true });

const rows = new Map<string, { cases: number; passed: number; ms: number }>();
const failures: string[] = [];
const kinds: Record<string, number> = {};
for (const [name, { behavior, behaviorClose, duration }] of Object.entries(verdicts)) {
  const group = name.slice(0, name.indexOf("."));
  const row = rows.get(group) ?? { cases: 0, passed: 0, ms: 0 };
  rows.set(group, row);
  const passed = PASSED.includes(behavior) && PASSED.includes(behaviorClose);
  row.cases++;
  row.ms += duration;
  if (passed) row.passed++;
  else failures.push(`${name}: ${behavior}, closing ${behaviorClose}`);
  kinds[behavior] = (kinds[behavior] ?? 0) + 1;
}
console.log("group  cases  passed       ms");
for (const [group, { cases, passed, ms }] of [...rows].sort(([a], [b]) => Number(a) - Number(b))) {
  console.log(
    `${group.padStart(5)} ${String(cases).padStart(6)} ${String(passed).padStart(7)} ${
      String(ms).padStart(8)
    }  ${GROUPS[group] ?? ""}`,
  );
}
for (const failure of failures) console.log(`FAILED ${failure}`);
const cases = Object.keys(verdicts).length;
console.log(JSON.stringify({ cases, failed: failures.length, kinds }));
const all = args.cases !== "*" || cases === ALL_CASES;
if (!all) console.error(`Only ${cases} of ${ALL_CASES} cases ran.`);
Deno.exit(failures.length === 0 && cases > 0 && all ? 0 : 1);
