/**
 * The validators of etcd's own robustness tests, as a program, and the etcds that it can judge.
 *
 * @module
 */
import { inPeers } from "../../../support/peers.ts";
import { run } from "../../../support/process.ts";

/** Milliseconds for one report. */
const TIMEOUT_MS = 8 * 60_000;

/** Versions of etcd that the judge reads, newest first; `fetch.sh` builds them. */
export const ETCDS = ["3.7.3", "3.6.16"] as const;

/** The judge, if it was built. */
export const JUDGE: string | undefined = Deno.env.get("KV_JUDGE") ?? inPeers("bin/kv_judge");

/** The newest etcd that it can judge, if one was built. */
export const JUDGED_ETCD: string | undefined = ETCDS
  .map((version) => inPeers(`bin/etcd-${version}`))
  .find((path) => path !== undefined);

/** What the judge found. */
export interface Verdict {
  /** Whether every guarantee held. */
  readonly held: boolean;
  /** How much was judged, and what broke. */
  readonly text: string;
}

/**
 * Judges a report.
 *
 * @throws {Error} If there was nothing to judge.
 */
export async function judge(program: string, folder: string): Promise<Verdict> {
  const { code, stdout, stderr } = await run({ command: program, args: [folder] }, TIMEOUT_MS);
  if (code !== 0 && code !== 1) throw new Error(`The judge ended with ${code}: ${stderr}`);
  const complaints = code === 0 ? "" : `\n${stderr.split("\n").slice(0, 12).join("\n")}`;
  return { held: code === 0, text: stdout.trim() + complaints };
}
