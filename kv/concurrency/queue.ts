import {
  checkCount,
  checkOptions,
  optionNames,
  quietIterator,
  quietMethods,
} from "../../http/engine.ts";
import { type Clock, clockOf } from "../clock.ts";
import type { KeyValue } from "../key_value.ts";
import type { Keyspace } from "../keyspace.ts";
import type { Bytes, CallOptions, GetRequest } from "../types.ts";
import { untilEvent } from "./barrier.ts";
import { checkName, unique } from "./holder.ts";
import { waiting, type WaitOptions } from "../wait.ts";

/** The lowest priority there is. */
const MAX_PRIORITY = 65_535;

/** How something is put into a priority queue. */
export interface EnqueueOptions extends WaitOptions {
  /** From 0, which comes first, to 65,535. @default {0} */
  readonly priority?: number | undefined;
}

const ENQUEUE_NAMES = optionNames<EnqueueOptions>({ priority: true, signal: true, timeout: true });

let newQueue: (keyspace: Keyspace, name: string, clock?: Clock) => Queue;
let newPriorityQueue: (keyspace: Keyspace, name: string, clock?: Clock) => PriorityQueue;
export { newPriorityQueue, newQueue };

/**
 * A queue: what was put in first comes out first, once, to any of those who take. Keys are those of etcd's
 * recipes.
 */
export class Queue implements AsyncIterable<KeyValue> {
  /** Its name. */
  readonly name: string;
  readonly #keyspace: Keyspace;
  readonly #clock: Clock;

  private constructor(keyspace: Keyspace, name: string, clock: Clock) {
    this.name = name;
    this.#keyspace = keyspace;
    this.#clock = clock;
  }

  static {
    newQueue = (keyspace, name, clock = clockOf(keyspace)) => {
      checkName("make a queue", name);
      return new Queue(keyspace, name, clock);
    };
  }

  /** Puts a value in. A put that gets no answer is repeated, and carried out once. */
  async enqueue(value: Bytes, options: WaitOptions = {}): Promise<void> {
    // The key is nobody else's.
    const key = `${this.name}/${unique()}`;
    await waiting("enqueue", options, this.#clock, (signal) =>
      this.#keyspace.txn(
        { compare: [{ key, createRevision: 0n }], success: [{ put: { key, value } }] },
        { signal, idempotent: true },
      ));
  }

  /**
   * Takes the oldest value out; waits for one if there is none.
   *
   * @throws {UnknownOutcomeError} If it is not known whether a value was taken: then it may be lost.
   */
  dequeue(options: WaitOptions = {}): Promise<KeyValue> {
    const first = { sortTarget: "MOD", sortOrder: "ASCEND" } as const;
    return take(this.#keyspace, this.#clock, this.name, first, options);
  }

  /** Takes values out, for ever. */
  [Symbol.asyncIterator](): AsyncGenerator<KeyValue, never, undefined> {
    return quietIterator(taken(this));
  }
}

/**
 * A queue in which what has the lowest number of priority comes out first; of those that have the same,
 * what was put in first. Keys are those of etcd's recipes.
 */
export class PriorityQueue implements AsyncIterable<KeyValue> {
  /** Its name. */
  readonly name: string;
  readonly #keyspace: Keyspace;
  readonly #clock: Clock;

  private constructor(keyspace: Keyspace, name: string, clock: Clock) {
    this.name = name;
    this.#keyspace = keyspace;
    this.#clock = clock;
  }

  static {
    newPriorityQueue = (keyspace, name, clock = clockOf(keyspace)) => {
      checkName("make a queue", name);
      return new PriorityQueue(keyspace, name, clock);
    };
  }

  /**
   * Puts a value in.
   *
   * @throws {UnknownOutcomeError} If it is not known whether it was put in.
   */
  async enqueue(value: Bytes, options: EnqueueOptions = {}): Promise<void> {
    checkOptions("enqueue", ENQUEUE_NAMES, options);
    const { priority = 0, signal, timeout } = options;
    checkCount("enqueue", "priority", priority, 0, MAX_PRIORITY);
    const keyspace = this.#keyspace;
    const prefix = `${this.name}/${String(priority).padStart(5, "0")}`;
    // Every put changes it: who counted on an older state starts again.
    const guard = `__${prefix}`;
    await waiting("enqueue", { signal, timeout }, this.#clock, async (signal) => {
      for (;;) {
        const { header, kvs: [last] } = await keyspace.get({
          key: `${prefix}/`,
          prefix: true,
          keysOnly: true,
          limit: 1,
          sortTarget: "KEY",
          sortOrder: "DESCEND",
        }, { signal });
        const number = last === undefined ? 0n : numberOf(last.key) + 1n;
        const key = `${prefix}/${String(number).padStart(16, "0")}`;
        const { succeeded } = await keyspace.txn({
          compare: [{ key: guard, modRevision: header.revision + 1n, result: "LESS" }],
          success: [{ put: { key: guard, value: "" } }, { put: { key, value } }],
        }, { signal });
        if (succeeded) return;
      }
    });
  }

  /**
   * Takes the first value out; waits for one if there is none.
   *
   * @throws {UnknownOutcomeError} If it is not known whether a value was taken: then it may be lost.
   */
  dequeue(options: WaitOptions = {}): Promise<KeyValue> {
    const first = { sortTarget: "KEY", sortOrder: "ASCEND" } as const;
    return take(this.#keyspace, this.#clock, this.name, first, options);
  }

  /** Takes values out, for ever. */
  [Symbol.asyncIterator](): AsyncGenerator<KeyValue, never, undefined> {
    return quietIterator(taken(this));
  }
}

quietMethods(Queue, ["enqueue", "dequeue"]);
quietMethods(PriorityQueue, ["enqueue", "dequeue"]);

async function* taken(queue: Queue | PriorityQueue): AsyncGenerator<KeyValue, never, undefined> {
  for (;;) yield await queue.dequeue();
}

/** The number a key of a priority queue ends with. */
function numberOf(key: string): bigint {
  const number = key.slice(key.lastIndexOf("/") + 1);
  if (/^\d+$/.test(number)) return BigInt(number);
  throw new TypeError(
    `Cannot enqueue behind the key ${JSON.stringify(key)} as it does not end with a number`,
  );
}

/** Takes the first key of a queue. */
async function take(
  keyspace: Keyspace,
  clock: Clock,
  name: string,
  order: Pick<GetRequest, "sortTarget" | "sortOrder">,
  options: WaitOptions,
): Promise<KeyValue> {
  return await waiting("dequeue", options, clock, async (signal) => {
    const prefix = { key: `${name}/`, prefix: true };
    const call: CallOptions = { signal };
    for (;;) {
      let first: KeyValue | undefined;
      await untilEvent(keyspace, clock, { ...prefix, noDelete: true }, signal, async () => {
        const { header, kvs } = await keyspace.get({ ...prefix, ...order, limit: 1 }, call);
        first = kvs[0];
        return first === undefined ? header.revision : null;
      });
      const { keyBytes: key, modRevision } = first!;
      const { succeeded } = await keyspace.txn(
        { compare: [{ key, modRevision }], success: [{ delete: { key } }] },
        call,
      );
      if (succeeded) return first!;
    }
  });
}
