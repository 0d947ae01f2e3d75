import { Deadline, type Lookup, type Time, Timer } from "../../http/engine.ts";
import { TimeoutError } from "../../http/mod.ts";
import { backoffDelay } from "./backoff.ts";
import { type Address, resolveTarget, type Target } from "./target.ts";

/** When the names of `dns:` targets are looked up again. */
export interface ResolveOptions {
  /**
   * Milliseconds between two look-ups while nothing is wrong: how long a server that was added stays
   * unused. `Infinity`: only when a connection ends or fails.
   * @default {30000}
   */
  readonly interval?: number;
  /**
   * Milliseconds between two look-ups at least, when connections end or fail.
   * @default {30000}
   */
  readonly minInterval?: number;
}

/** Milliseconds before a name that could not be found is looked up again, at first and at most. */
const RETRY = { initial: 1000, max: 30_000 };

/** Milliseconds of one look-up at most: system resolvers give up before. */
const LOOKUP_TIMEOUT_MS = 20_000;

/**
 * The addresses of a client's targets. Names are looked up at the start, from time to time, and when
 * a connection ended or failed: servers may have moved. A name that is not found keeps its addresses.
 */
export class Lookups extends Timer {
  #names: readonly Name[];
  readonly #options: Required<ResolveOptions>;
  readonly #lookup: Lookup | undefined;
  readonly #time: Time;
  readonly #onFound: () => void;
  /** Names being looked up. */
  #running = 0;
  readonly #limits = new Set<Deadline>();
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
    time: Time,
    onFound: () => void,
  ) {
    super();
    this.#time = time;
    this.#names = targets.map(nameOf);
    this.#options = options;
    this.#lookup = lookup ?? undefined;
    this.#onFound = onFound;
  }

  /** Calls that wait hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  /** Whether names without an address are being looked up. */
  get seeking(): boolean {
    return this.#running > 0 && this.#names.some(({ addresses }) => addresses.length === 0);
  }

  /** Why a name could not be found, if one could not. */
  get error(): Error | null {
    return this.#error;
  }

  /** Addresses known now. */
  get addresses(): readonly Address[] {
    return this.#names.flatMap(({ addresses }) => addresses);
  }

  /** Takes other targets. Those that stay keep their addresses. */
  retarget(targets: readonly Target[]): void {
    const old = new Map(this.#names.map((name) => [name.target.text, name]));
    this.#names = targets.map((target) => old.get(target.text) ?? nameOf(target));
    if (this.#names.some(({ addresses }) => addresses.length === 0)) this.#run();
  }

  get #needed(): boolean {
    return this.#names.some(({ target }) => target.dns);
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
    this.#schedule(this.#options.minInterval - (this.#time.clock.now() - this.#lastAt));
  }

  /** Nothing is found any more. */
  stop(): void {
    this.#stopped = true;
    for (const limit of this.#limits) limit.stop();
    this.#time.timers.remove(this);
  }

  onTimeout(): void {
    this.#run();
  }

  #schedule(ms: number): void {
    if (ms === Infinity) return;
    if (this.dueTick !== 0 && this.#time.timers.remaining(this) <= ms) return;
    this.#time.timers.remove(this);
    this.#time.timers.add(this, ms);
  }

  #run(): void {
    this.#time.timers.remove(this);
    this.#lastAt = this.#time.clock.now();
    this.#error = null;
    for (const name of this.#names) {
      const { target } = name;
      if (!target.dns) continue;
      this.#running++;
      // Names are independent: one that hangs keeps no other waiting.
      this.#limited(resolveTarget(target, this.#lookup)).then(
        (found) => name.addresses = inOldOrder(found, name.addresses),
        (reason) => this.#error ??= asError(reason),
      ).then(() => this.#settled());
    }
  }

  /** The result of a look-up, unless it takes too long. */
  #limited<T>(found: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const limit = new Deadline(this.#time, (phase, ms) => reject(new TimeoutError(phase, ms)));
      limit.set("lookup", LOOKUP_TIMEOUT_MS);
      this.#limits.add(limit);
      found.then(resolve, reject).finally(() => {
        limit.stop();
        this.#limits.delete(limit);
      });
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

/** A target with the addresses found for it. */
interface Name {
  readonly target: Target;
  addresses: readonly Address[];
}

function nameOf(target: Target): Name {
  return { target, addresses: target.dns ? [] : [target.address] };
}

/** Name servers turn their answers round: known addresses keep their places, new ones come behind. */
function inOldOrder(found: readonly Address[], old: readonly Address[]): readonly Address[] {
  const left = new Map(found.map((address) => [address.hostname, address]));
  const kept = old.filter(({ hostname }) => left.delete(hostname));
  return [...kept, ...left.values()];
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
