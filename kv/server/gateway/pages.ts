// Pages about a member, by GET: its version, whether it is well, and figures.

import type { Node } from "../node.ts";
import { metricsOf } from "./metrics.ts";

/** An answer. */
interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Type of Prometheus's text form. */
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

const TEXT = "text/plain; charset=utf-8";

/** Names of alarms by their numbers. */
const ALARMS = ["NONE", "NOSPACE", "CORRUPT"];
const CORRUPT = 2;

/** A check of a member: what is wrong, or nothing. */
type Check = readonly [name: string, run: (node: Node) => string | undefined];

const leader: Check[1] = (node) => node.hasLeader ? undefined : "etcdserver: no leader";

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  "/livez": [["serializable_read", () => undefined]],
  "/readyz": [
    ["data_corruption", ({ state }) => state.alarms.has(CORRUPT) ? "alarm activated" : undefined],
    ["serializable_read", () => undefined],
    ["linearizable_read", leader],
    ["non_learner", () => undefined],
  ],
};

/** The answer to a GET; undefined if there is none under that path. */
export function pageOf(node: Node, path: string, query: URLSearchParams): Page | undefined {
  if (path === "/version") return { status: 200, type: "application/json", body: version(node) };
  if (path === "/health") return health(node, query);
  if (path === "/metrics") return { status: 200, type: PROMETHEUS, body: metricsOf(node) };
  const checks = CHECKS[path];
  return checks && checked(path, checks, node, query);
}

function version({ version }: Node): string {
  const line = version.replace(/\.\d+$/, ".0");
  return JSON.stringify({ etcdserver: version, etcdcluster: line, storage: line });
}

function health(node: Node, query: URLSearchParams): Page {
  const excluded = query.getAll("exclude");
  const alarm = [...node.state.alarms].find((one) => !excluded.includes(ALARMS[one]!));
  const reason = alarm !== undefined
    ? `ALARM ${ALARMS[alarm]}`
    : node.hasLeader || query.get("serializable") === "true"
    ? ""
    : "RAFT NO LEADER";
  const body = JSON.stringify({ health: reason === "" ? "true" : "false", reason });
  return { status: reason === "" ? 200 : 503, type: TEXT, body };
}

function checked(
  path: string,
  checks: readonly Check[],
  node: Node,
  query: URLSearchParams,
): Page {
  const results = checks.filter(([name]) => !query.getAll("exclude").includes(name))
    .map(([name, run]) => ({ name, fault: run(node) }));
  const well = results.every(({ fault }) => fault === undefined);
  const lines = results.map(({ name, fault }) =>
    fault === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${fault}\n`
  ).join("");
  const body = well
    ? `${query.has("verbose") ? lines : ""}ok\n`
    : `${lines}${path.slice(1)} check failed\n`;
  return { status: well ? 200 : 503, type: TEXT, body };
}
