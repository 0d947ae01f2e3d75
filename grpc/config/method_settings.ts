/**
 * Settings of methods in a service config, checked, and which of them are for a method.
 *
 * @module
 */
import type { ConfigValue } from "./config_value.ts";

/** Settings of one method in a service config; times in milliseconds. */
export interface MethodSettings {
  /** Null: nothing is said. */
  readonly waitForReady: boolean | null;
  /** Infinity: nothing is said. */
  readonly timeout: number;
  /** Bytes of a request; null: nothing is said. */
  readonly maxRequestSize: number | null;
  /** Bytes of a response; null: nothing is said. */
  readonly maxResponseSize: number | null;
  readonly policy: RetrySettings | HedgingSettings | null;
}

/** A retry policy. */
export interface RetrySettings {
  readonly kind: "retry";
  readonly maxAttempts: number;
  readonly initialBackoff: number;
  readonly maxBackoff: number;
  readonly backoffMultiplier: number;
  /** Codes with which a call is sent again. */
  readonly codes: ReadonlySet<number>;
}

/** A hedging policy. */
export interface HedgingSettings {
  readonly kind: "hedging";
  readonly maxAttempts: number;
  /** 0: all at once. */
  readonly delay: number;
  /** Codes with which other attempts go on. */
  readonly codes: ReadonlySet<number>;
}

const FIELDS = [
  "name",
  "waitForReady",
  "timeout",
  "maxRequestMessageBytes",
  "maxResponseMessageBytes",
  "retryPolicy",
  "hedgingPolicy",
];

/** Settings by `/service/method`, `/service/` and, for all, the empty text. */
export type MethodTable = ReadonlyMap<string, MethodSettings>;

/** Reads the settings of all methods. */
export function methodTable(list: ConfigValue): MethodTable {
  const table = new Map<string, MethodSettings>();
  for (const entry of list.items()) {
    entry.object(FIELDS);
    const settings = settingsOf(entry);
    for (const name of entry.field("name").items()) {
      const path = pathOf(name);
      if (table.has(path)) throw name.fault(`stands twice: ${shown(path)} has settings already`);
      table.set(path, settings);
    }
  }
  return table;
}

/** Settings of the method with that path, `/service/method`: the most exact name counts. */
export function settingsFor(table: MethodTable, path: string): MethodSettings | null {
  return table.get(path) ?? table.get(path.slice(0, path.lastIndexOf("/") + 1)) ??
    table.get("") ?? null;
}

function pathOf(name: ConfigValue): string {
  name.object(["service", "method"]);
  const service = name.field("service").text();
  const method = name.field("method").text();
  if (service !== "") return `/${service}/${method}`;
  if (method !== "") throw name.fault("must name the service, too, where it names a method");
  return "";
}

function shown(path: string): string {
  return path === "" ? "the default of all methods" : path;
}

function settingsOf(entry: ConfigValue): MethodSettings {
  const timeout = entry.field("timeout");
  return {
    waitForReady: entry.field("waitForReady").boolean(),
    timeout: timeout.given ? timeout.duration(false) : Infinity,
    maxRequestSize: sizeOf(entry.field("maxRequestMessageBytes")),
    maxResponseSize: sizeOf(entry.field("maxResponseMessageBytes")),
    policy: policyOf(entry),
  };
}

function sizeOf(field: ConfigValue): number | null {
  return field.given ? field.integer(0) : null;
}

function policyOf(entry: ConfigValue): RetrySettings | HedgingSettings | null {
  const retry = entry.field("retryPolicy");
  const hedging = entry.field("hedgingPolicy");
  if (retry.given && hedging.given) {
    throw entry.fault("must have retryPolicy or hedgingPolicy, not both");
  }
  if (retry.given) return retryOf(retry);
  return hedging.given ? hedgingOf(hedging) : null;
}

function retryOf(policy: ConfigValue): RetrySettings {
  policy.object([
    "maxAttempts",
    "initialBackoff",
    "maxBackoff",
    "backoffMultiplier",
    "retryableStatusCodes",
  ]);
  const retryable = policy.field("retryableStatusCodes");
  const settings: RetrySettings = {
    kind: "retry",
    maxAttempts: policy.field("maxAttempts").integer(2),
    initialBackoff: policy.field("initialBackoff").duration(true),
    maxBackoff: policy.field("maxBackoff").duration(true),
    backoffMultiplier: policy.field("backoffMultiplier").positive(),
    codes: retryable.codes(),
  };
  if (settings.codes.size === 0) throw retryable.wrong("an array of one status code or more");
  return settings;
}

function hedgingOf(policy: ConfigValue): HedgingSettings {
  policy.object(["maxAttempts", "hedgingDelay", "nonFatalStatusCodes"]);
  const delay = policy.field("hedgingDelay");
  return {
    kind: "hedging",
    maxAttempts: policy.field("maxAttempts").integer(2),
    delay: delay.given ? delay.duration(false) : 0,
    codes: policy.field("nonFatalStatusCodes").codes(),
  };
}
