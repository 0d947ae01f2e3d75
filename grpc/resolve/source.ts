import { setImmediate } from "node:timers";
import { Countdown, Deadline, quiet, type Time, Timer } from "../../http/engine.ts";
import { TimeoutError } from "../../http/mod.ts";
import type { AddressNames } from "./address.ts";
import { backoffDelay } from "./backoff.ts";
import type { KnownEndpoint } from "./endpoint.ts";
import { type FoundServers, iterate, readResolution, type Resolver } from "./resolver.ts";

/** Milliseconds before a resolver that failed is asked again, at first and at most. */
const RETRY = { initial: 1000, max: 30_000 };

/**
 * Milliseconds a resolver has to give its first list: system resolvers give up before.
 *
 * @internal
 */
export const LOOKUP_TIMEOUT_MS = 20_000;

/**
 * Lists a resolver may give in a second: more are asked for when that is over.
 *
 * @internal
 */
export const MAX_LISTS_PER_SECOND = 20;

/** Where endpoints come from, and when that is looked at again. */
export interface Origin {
  /** Names it apart from others: one that stays keeps its endpoints. */
  readonly key: string;
  /** Finds the endpoints; null if they are written out. */
  readonly resolver: Resolver | null;
  /** The target, as the resolver is told. */
  readonly target: string;
  /** Names of servers that have none of their own. */
  readonly names: AddressNames | undefined;
  /** Endpoints that are written out. */
  readonly endpoints: readonly KnownEndpoint[];
  /** Milliseconds between two look-ups while nothing is wrong. */
  readonly interval: number;
  /** Milliseconds between two look-ups at least, when connections end or fail. */
  readonly minInterval: number;
  /** Whether endpoints that are found again keep their places. */
  readonly steady: boolean;
  /** Whether a list that is the same object has not changed. */
  readonly frozen: boolean;
}

/** One run through the lists of a resolver. */
interface Run {
  readonly controller: AbortController;
  /** Limits the wait for the first list. */
  readonly limit: Deadline;
  over: boolean;
}

/**
 * Endpoints by one resolver: asked at the start, from time to time and when a connection ended or
 * failed. Whatever it does, it is asked with pauses, and endpoints that were found stay.
 */
export class Source extends Timer {
  readonly origin: Origin;
  /** Endpoints known now. */
  endpoints: readonly KnownEndpoint[];
  /** The service config that came with them. */
  serviceConfig: unknown = undefined;
  /** Why the last run failed. */
  error: Error | null = null;
  /** Whether the first list of a run is waited for. */
  seeking = false;
  readonly #time: Time;
  readonly #onFound: () => void;
  #run: Run | null = null;
  #given: unknown = undefined;
  #lastAt = -Infinity;
  #failures = 0;
  #stopped = false;
  #windowAt = -Infinity;
  #lists = 0;

  /** `onFound` is called when endpoints may have changed, and when a run failed. */
  constructor(origin: Origin, time: Time, onFound: () => void) {
    super();
    this.origin = origin;
    this.endpoints = origin.endpoints;
    this.#time = time;
    this.#onFound = onFound;
  }

  /** Calls that wait hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  /** Asks the resolver. */
  start(): void {
    const { resolver } = this.origin;
    if (resolver === null || this.#stopped || this.#run !== null) return;
    this.#time.timers.remove(this);
    this.#lastAt = this.#time.clock.now();
    this.error = null;
    this.seeking = true;
    const controller = new AbortController();
    const limit = new Deadline(this.#time, (phase, ms) => this.#fail(new TimeoutError(phase, ms)));
    limit.set("lookup", LOOKUP_TIMEOUT_MS);
    const run = this.#run = { controller, limit, over: false };
    quiet(this.#read(run, resolver));
  }

  /** Asks again now if the last run failed. */
  retry(): void {
    if (this.#failures > 0) this.start();
  }

  /** Servers may have moved: asks again as soon as the least interval has passed. */
  refresh(): void {
    // After a failure the next run is near already.
    if (this.origin.resolver === null || this.#run !== null || this.#failures > 0) return;
    this.#schedule(this.origin.minInterval - (this.#time.clock.now() - this.#lastAt));
  }

  /** Nothing is found any more. */
  stop(): void {
    this.#stopped = true;
    this.seeking = false;
    this.#time.timers.remove(this);
    this.#end();
  }

  onTimeout(): void {
    this.start();
  }

  #schedule(ms: number): void {
    if (ms === Infinity || this.#stopped) return;
    if (this.dueTick !== 0 && this.#time.timers.remaining(this) <= ms) return;
    this.#time.timers.remove(this);
    this.#time.timers.add(this, ms);
  }

  /** Ends the run: what still comes of it is not looked at. */
  #end(): void {
    const run = this.#run;
    if (run === null) return;
    this.#run = null;
    run.over = true;
    run.limit.stop();
    run.controller.abort();
  }

  async #read(run: Run, resolver: Resolver): Promise<void> {
    let iterator: AsyncIterator<unknown> | null = null;
    let found = false;
    try {
      const { target } = this.origin;
      iterator = iterate(resolver, { signal: run.controller.signal, target });
      for (;;) {
        const next = await iterator.next();
        if (run.over || next.done === true) break;
        this.#take(next.value);
        found = true;
        await this.#pace(run);
        if (run.over) break;
      }
      if (run.over) return giveBack(iterator);
      if (!found) throw new TypeError("the resolver ended without a list of endpoints");
      this.#settled(this.origin.interval);
    } catch (error) {
      if (iterator !== null) giveBack(iterator);
      if (!run.over) this.#fail(asError(error));
    }
  }

  #take(given: unknown): void {
    this.#run?.limit.stop();
    // A list that has not changed is not read again.
    if (!this.origin.frozen || given !== this.#given) {
      const { endpoints, serviceConfig }: FoundServers = readResolution(given, this.origin.names);
      this.endpoints = this.origin.steady ? inOldOrder(endpoints, this.endpoints) : endpoints;
      this.serviceConfig = serviceConfig;
      this.#given = given;
    }
    this.seeking = false;
    this.error = null;
    this.#failures = 0;
    this.#onFound();
  }

  /** One that gives list after list keeps nobody from their turns. */
  #pace(run: Run): Promise<void> {
    const now = this.#time.clock.now();
    if (now - this.#windowAt >= 1000) {
      this.#windowAt = now;
      this.#lists = 0;
    }
    const pause = ++this.#lists < MAX_LISTS_PER_SECOND ? 0 : this.#windowAt + 1000 - now;
    return new Promise((resolve) => {
      if (pause === 0) return void setImmediate(resolve);
      const countdown = new Countdown(this.#time, pause, resolve);
      run.controller.signal.addEventListener("abort", () => {
        countdown.stop();
        resolve();
      }, { once: true });
    });
  }

  #fail(error: Error): void {
    if (this.#stopped) return;
    this.error = error;
    this.#failures++;
    this.seeking = false;
    this.#settled(backoffDelay(this.#failures, RETRY));
    this.#onFound();
  }

  #settled(ms: number): void {
    this.#end();
    this.#schedule(ms);
  }
}

/** Ends an iteration; nobody waits for that. */
function giveBack(iterator: AsyncIterator<unknown>): void {
  try {
    quiet(Promise.resolve(iterator.return?.()));
  } catch {
    // It is given up, whatever it says.
  }
}

/** Name servers turn their answers round: known endpoints keep their places, new ones come behind. */
function inOldOrder(
  found: readonly KnownEndpoint[],
  old: readonly KnownEndpoint[],
): readonly KnownEndpoint[] {
  const left = new Map(found.map((one) => [one.key, one]));
  const kept: KnownEndpoint[] = [];
  for (const { key } of old) {
    const one = left.get(key);
    if (one !== undefined) kept.push(one);
    left.delete(key);
  }
  return [...kept, ...left.values()];
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
