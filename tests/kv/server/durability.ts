/**
 * A store's process under load that is killed, and what is there afterwards.
 *
 * @module
 */
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { Process } from "../../../support/process.ts";
import type { Random } from "../../../support/random.ts";

const COMMAND = new URL("../../../kv/server/mod.ts", import.meta.url).pathname;

/** Clients that write at the same time, each its own keys. */
const WRITERS = 6;

/** Milliseconds for the process to start, on a machine that has much to do. */
export const START_MS = 120_000;

/** The command line of a store on a folder. */
export const storeCommand = (path: string): string =>
  `deno run -A --no-check ${COMMAND} --path ${path} --addr 127.0.0.1:0`;

/** A store in a process of its own. */
export class StoreProcess implements AsyncDisposable {
  readonly process: Process;
  readonly endpoint: string;

  private constructor(process: Process, endpoint: string) {
    this.process = process;
    this.endpoint = endpoint;
  }

  /** Starts one on a folder. `prefix` goes before the program, as a shell's limit of file sizes. */
  static async start(path: string, shell = ""): Promise<StoreProcess> {
    const line = `${shell} exec ${storeCommand(path)}`;
    const process = new Process({ command: "sh", args: ["-c", line] });
    try {
      await process.waitFor(/http:\/\/\S+/, START_MS);
    } catch (error) {
      await process.stop("SIGKILL");
      throw error;
    }
    return new StoreProcess(process, /http:\/\/(\S+)/.exec(process.stderr)![1]!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.stop("SIGKILL");
  }
}

/** What a writer knows of its keys: what was acknowledged, and what may have happened since. */
interface Known {
  /** The number both keys of the writer have; 0 is none. */
  acknowledged: number;
  /** The last number that was asked for. */
  asked: number;
  /** Whether a lease that was acknowledged has to be there. */
  readonly leases: bigint[];
}

/**
 * What is known of a store over all its lives. Each writer puts the same growing number into two keys by
 * one transaction, so that half of it would show; single puts and leases go between.
 */
export class DurabilityModel {
  readonly #known: Known[] = Array.from(
    { length: WRITERS },
    () => ({ acknowledged: 0, asked: 0, leases: [] }),
  );
  /** The highest revision that was acknowledged. */
  #revision = 0n;
  #compacted = 0n;
  /** Writes that were acknowledged. */
  writes = 0;

  /** Writes until the store is gone. */
  async load(endpoint: string, random: Random): Promise<void> {
    await using client = kv.newClient({ endpoints: [endpoint], retry: 0, timeout: 5 });
    await Promise.all(this.#known.map((known, i) => this.#write(client, known, i, random)));
  }

  async #write(client: kv.Client, known: Known, i: number, random: Random): Promise<void> {
    for (;;) {
      const number = ++known.asked;
      const value = `${number}:${"x".repeat(random.below(random.below(20) === 0 ? 200_000 : 300))}`;
      const ops = ["a", "b"].map((part) => ({ put: { key: `${part}/${i}`, value } }));
      const [done] = await kv.attempt(client.txn({ success: ops }));
      if (done === undefined) return;
      known.acknowledged = number;
      this.writes++;
      if (done.header.revision > this.#revision) this.#revision = BigInt(done.header.revision);
      if (random.below(10) === 0) {
        const [granted] = await kv.attempt(client.grant({ TTL: 9_000 }));
        if (granted === undefined) return;
        known.leases.push(granted.ID);
      }
      if (i === 0 && random.below(40) === 0) {
        const revision = BigInt(done.header.revision);
        const [compacted] = await kv.attempt(client.compact({ revision }));
        if (compacted === undefined) return;
        this.#compacted = revision;
      }
    }
  }

  /** Compares what a store holds with what is known. Gives what is wrong. */
  async check(endpoint: string): Promise<string[]> {
    const wrong: string[] = [];
    await using client = kv.newClient({ endpoints: [endpoint] });
    const leases = new Set((await client.leases()).leases.map(({ ID }) => ID));
    for (const [i, known] of this.#known.entries()) {
      const [a, b] = await Promise.all(
        ["a", "b"].map((part) => client.get({ key: `${part}/${i}` })),
      );
      const [left, right] = [a!.kvs[0], b!.kvs[0]];
      if (left?.value !== right?.value || left?.modRevision !== right?.modRevision) {
        wrong.push(`writer ${i}: half of a transaction is there`);
      }
      const number = Number(left?.value.split(":")[0] ?? 0);
      if (number < known.acknowledged || number > known.asked) {
        wrong.push(`writer ${i}: ${number}, but ${known.acknowledged}…${known.asked} were written`);
      }
      known.acknowledged = number;
      for (const lease of known.leases) {
        if (!leases.has(lease)) wrong.push(`writer ${i}: lease ${lease} is gone`);
      }
      if (BigInt(a!.header.revision) < this.#revision) wrong.push("the revision went back");
    }
    if (this.#compacted > 1n) {
      const [, error] = await kv.attempt(
        client.get({ key: "a/0", revision: Number(this.#compacted - 1n) }),
      );
      if (error === undefined) wrong.push("what was compacted can be read");
    }
    return wrong;
  }
}

/** Kills a store under load `times` times, each after a random while, and looks what is left. */
export async function killAgainAndAgain(
  path: string,
  random: Random,
  times: number,
  most: number,
): Promise<{ readonly writes: number; readonly wrong: readonly string[] }> {
  const model = new DurabilityModel();
  for (let i = 0; i < times; i++) {
    await using store = await StoreProcess.start(path);
    const wrong = await model.check(store.endpoint);
    if (wrong.length > 0) return { writes: model.writes, wrong };
    const loading = model.load(store.endpoint, random);
    await delay(random.below(most));
    await store.process.stop("SIGKILL");
    await loading;
  }
  await using store = await StoreProcess.start(path);
  return { writes: model.writes, wrong: await model.check(store.endpoint) };
}
