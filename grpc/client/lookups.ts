import { deadline } from "@std/async";
import { type Lookup, type TimerNode, timers } from "../../http/engine.ts";
import { backoffDelay } from "./backoff.ts";
import type { ResolveOptions } from "./options.ts";
import { type Address, resolveTarget, type Target } from "./resolver.ts";

/** Milliseconds before a name that could not be found is looked up again, at first and at most. */
const RETRY = { initial: 1000, max: 30_000 };

/** Milliseconds of one look-up at most: system resolvers give up before. */
const LOOKUP_TIMEOUT_MS = 20_000;

/**
 * The addresses of a client's targets. Names are looked up at the start, from time to time, and when
 * a connection ended or failed: servers may have moved. A name that is not found keeps its addresses.
 */
export class Lookups implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  /** Calls that wait hold the process, if anything does. */
  readonly background = true;

  readonly #targets: readonly Target[];
  readonly #options: Required<ResolveOptions>;
  readonly #lookup: Lookup | undefined;
  readonly #onFound: () => void;
  readonly #addresses: (readonly Address[])[];
  readonly #needed: boolean;
  /** Names being looked up. */
  #running = 0;
  #error: Error | null = null;
  #lastAt = -Infinity;
  /** Look-ups in a row of which a part failed. */
  #failures = 0;
  #stopped = false;

  /** `onFound` is called when addresses may have changed, and when a name could not be found. */
  constructor(
    targets: readonly Target[],
    options: Required<ResolveOptions>,
    lookup: Lookup | null,
    onFound: () => void,
  ) {
    this.#targets = targets;
    this.#options = options;
    this.#lookup = lookup ?? undefined;
    this.#onFound = onFound;
    this.#addresses = targets.map((target) => target.dns ? [] : [target.address]);
    this.#needed = targets.some((target) => target.dns);
  }

  /** Whether names without an address are being looked up. */
  get seeking(): boolean {
    return this.#running > 0 && this.#addresses.some((addresses) => addresses.length === 0);
  }

  /** Why a name could not be found, if one could not. */
  get error(): Error | null {
    return this.#error;
  }

  /** Addresses known now. */
  get addresses(): readonly Address[] {
    return this.#addresses.flat();
  }

  /** Looks the names up, if there are any. */
  start(): void {
    if (this.#needed) this.#run();
  }

  /** Looks the names up now if one could not be found. */
  retry(): void {
    if (this.#failures > 0 && this.#running === 0) this.#run();
  }

  /** Servers may have moved: looks the names up as soon as the least interval has passed. */
  refresh(): void {
    if (!this.#needed || this.#running > 0 || this.#stopped) return;
    // After a failure the next look-up is near already.
    if (this.#failures > 0) return;
    this.#schedule(this.#options.minInterval - (performance.now() - this.#lastAt));
  }

  /** Nothing is found any more. */
  stop(): void {
    this.#stopped = true;
    timers.remove(this);
  }

  onTimeout(): void {
    this.#run();
  }

  #schedule(ms: number): void {
    if (ms === Infinity) return;
    if (this.dueTick !== 0 && timers.remaining(this) <= ms) return;
    timers.remove(this);
    timers.add(this, ms);
  }

  #run(): void {
    timers.remove(this);
    this.#lastAt = performance.now();
    this.#error = null;
    this.#targets.forEach((target, i) => {
      if (!target.dns) return;
      this.#running++;
      // Names are independent: one that hangs keeps no other waiting.
      deadline(resolveTarget(target, this.#lookup), LOOKUP_TIMEOUT_MS).then(
        (found) => this.#addresses[i] = inOldOrder(found, this.#addresses[i]!),
        (reason) => this.#error ??= asError(reason),
      ).then(() => this.#settled());
    });
  }

  #settled(): void {
    this.#running--;
    if (this.#stopped) return;
    if (this.#running === 0) {
      this.#failures = this.#error === null ? 0 : this.#failures + 1;
      const { interval } = this.#options;
      this.#schedule(this.#error === null ? interval : backoffDelay(this.#failures, RETRY));
    }
    this.#onFound();
  }
}

/** Name servers turn their answers round: what was there keeps its place, what is new comes behind. */
function inOldOrder(found: readonly Address[], old: readonly Address[]): readonly Address[] {
  const left = new Map(found.map((address) => [address.hostname, address]));
  const kept = old.filter(({ hostname }) => left.delete(hostname));
  return [...kept, ...left.values()];
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
