/**
 * Outlier detection (gRPC A50): servers that fail more calls than the others get none for a while.
 *
 * @module
 */
import type { Time } from "../../http/engine.ts";
import type { LoadBalancing } from "../config/load_balancing.ts";
import { Pause } from "./pause.ts";

/** When servers are ejected. */
export type OutlierRules = Omit<
  Extract<LoadBalancing, { readonly kind: "outlier_detection" }>,
  "kind" | "child"
>;

/** A server that is judged. */
interface Judged {
  /** Calls that ended well, and others, since the last look. */
  succeeded: number;
  failed: number;
  /** Whether it gets no calls. */
  ejected: boolean;
}

/** Memory of a server between two looks. */
interface Record {
  ejectedAt: number;
  /** How often it was ejected, less one for each interval it was well since. */
  multiplier: number;
}

/** The calls of one interval of one server. */
interface Volume<S> {
  readonly server: S;
  readonly rate: number;
  readonly calls: number;
}

/** Looks at the servers in intervals, ejects outliers and takes them back. */
export class OutlierDetector<S extends Judged> {
  readonly #rules: OutlierRules;
  readonly #time: Time;
  readonly #servers: () => Iterable<S>;
  readonly #random: () => number;
  readonly #records = new Map<S, Record>();
  #pause: Pause | null;

  /** `servers` gives those there are now. */
  constructor(
    rules: OutlierRules,
    time: Time,
    servers: () => Iterable<S>,
    random: () => number = Math.random,
  ) {
    this.#rules = rules;
    this.#time = time;
    this.#servers = servers;
    this.#random = random;
    this.#pause = this.#next();
  }

  /** Ends it; all servers are taken back. */
  stop(): void {
    this.#pause?.stop();
    this.#pause = null;
    for (const server of this.#records.keys()) server.ejected = false;
    this.#records.clear();
  }

  #next(): Pause {
    return new Pause(this.#time, this.#rules.interval, () => {
      this.#pause = this.#next();
      this.look();
    });
  }

  /** Looks at the calls since the last time. */
  look(): void {
    const servers = [...new Set(this.#servers())];
    const known = new Set(servers);
    for (const server of this.#records.keys()) if (!known.has(server)) this.#records.delete(server);
    const volumes = servers.map((server): Volume<S> => {
      const calls = server.succeeded + server.failed;
      const rate = calls === 0 ? 1 : server.succeeded / calls;
      server.succeeded = server.failed = 0;
      return { server, rate, calls };
    });
    this.#bySuccessRate(volumes);
    this.#byFailurePercentage(volumes);
    for (const server of servers) this.#takeBack(server);
  }

  #bySuccessRate(all: readonly Volume<S>[]): void {
    const rule = this.#rules.successRate;
    if (rule === null) return;
    const volumes = all.filter(({ calls }) => calls >= rule.requestVolume && calls > 0);
    if (volumes.length < rule.minimumHosts || volumes.length === 0) return;
    const mean = volumes.reduce((sum, { rate }) => sum + rate, 0) / volumes.length;
    const variance = volumes.reduce((sum, { rate }) => sum + (rate - mean) ** 2, 0) /
      volumes.length;
    const least = mean - Math.sqrt(variance) * rule.stdevFactor / 1000;
    for (const { server, rate } of volumes) {
      if (rate < least) this.#eject(server, all.length, rule.enforcementPercentage);
    }
  }

  #byFailurePercentage(all: readonly Volume<S>[]): void {
    const rule = this.#rules.failurePercentage;
    if (rule === null) return;
    const volumes = all.filter(({ calls }) => calls >= rule.requestVolume && calls > 0);
    if (volumes.length < rule.minimumHosts) return;
    for (const { server, rate } of volumes) {
      if ((1 - rate) * 100 > rule.threshold) {
        this.#eject(server, all.length, rule.enforcementPercentage);
      }
    }
  }

  #eject(server: S, count: number, enforcement: number): void {
    if (server.ejected) return;
    const ejected = [...this.#records.keys()].filter(({ ejected }) => ejected).length;
    // "If the percentage of ejected addresses is greater than max_ejection_percent, stop."
    if (ejected / count * 100 >= this.#rules.maxEjectionPercent) return;
    if (this.#random() * 100 >= enforcement) return;
    const record = this.#records.get(server) ?? { ejectedAt: 0, multiplier: 0 };
    record.ejectedAt = this.#time.clock.now();
    record.multiplier++;
    this.#records.set(server, record);
    server.ejected = true;
  }

  #takeBack(server: S): void {
    const record = this.#records.get(server);
    if (record === undefined) return;
    if (!server.ejected) {
      if (--record.multiplier <= 0) this.#records.delete(server);
      return;
    }
    const { baseEjectionTime, maxEjectionTime } = this.#rules;
    const most = Math.max(baseEjectionTime, maxEjectionTime);
    const until = record.ejectedAt + Math.min(baseEjectionTime * record.multiplier, most);
    if (this.#time.clock.now() >= until) server.ejected = false;
  }
}
