/**
 * Random work of operators on both sides: alarms, sizes of requests, members, maintenance.
 *
 * @module
 */
import type { Random } from "../../../support/random.ts";
import { bytes, ProgramMaker, type Step } from "../../kv/server/programs.ts";
import { type Pair, SELF } from "./pair.ts";

/** Requests of a program. */
const STEPS = 800;

/** Bytes of a request both take at most. */
const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;

/** A member that is not there. */
const NOBODY = 5n;

const URLS = [
  [],
  ["http://127.0.0.1:1"],
  ["nonsense"],
  ["http://a:1/path"],
  ["ftp://a:1"],
  ["http://a"],
];

function large(random: Random): Step {
  // How many bytes etcd adds hangs on the number it gives the request.
  const size = MAX_REQUEST_BYTES + random.pick([-5_000, -200, 64, 5_000, 400_000, 600_000]);
  const put = (value: number) => ({ key: bytes("big"), value: new Uint8Array(value) });
  if (random.below(2) === 0) return { service: "KV", method: "Put", request: put(size) };
  const op = { request: { case: "requestPut", value: put(size) } };
  return { service: "KV", method: "Txn", request: { success: [op] } };
}

function operate(random: Random): Step {
  const maintenance = (method: string, request: Record<string, unknown>): Step => ({
    service: "Maintenance",
    method,
    request,
  });
  const cluster = (method: string, request: Record<string, unknown>): Step => ({
    service: "Cluster",
    method,
    request,
  });
  const ID = NOBODY;
  const r = random.below(100);
  if (r < 45) {
    const [action, alarm] = [random.pick([0, 1, 2, 2]), random.below(3)];
    return maintenance("Alarm", { action, alarm, memberID: SELF });
  }
  if (r < 52) return maintenance("Defragment", {});
  if (r < 58) return maintenance("HashKV", { revision: BigInt(random.below(200)) });
  if (r < 62) return maintenance("MoveLeader", { targetID: ID });
  if (r < 70) return cluster("MemberPromote", { ID: random.pick([ID, SELF]) });
  if (r < 76) return cluster("MemberRemove", { ID });
  if (r < 84) return cluster("MemberUpdate", { ID, peerURLs: random.pick(URLS) });
  if (r < 88) return cluster("MemberAdd", { peerURLs: random.pick([URLS[0], URLS[2], URLS[4]]) });
  return large(random);
}

/** Operators at work, among requests for keys. */
export async function playOperators(pair: Pair, random: Random): Promise<void> {
  const maker = new ProgramMaker(random);
  for (let i = 0; i < STEPS; i++) {
    const step = random.below(4) === 0 ? operate(random) : maker.step();
    const answer = await pair.ask(step);
    const told = /"header":\{"revision":"(\d+)"/.exec(answer)?.[1];
    if (told !== undefined) maker.revision = Math.max(maker.revision, Number(told));
  }
}
