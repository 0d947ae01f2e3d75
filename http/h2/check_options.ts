import {
  checkBoolean,
  checkCount,
  checkNumber,
  checkOptions,
  checkTime,
  optionNames,
} from "../message/options.ts";
import type { AbuseLimits, BudgetLimit } from "./abuse.ts";
import type { KeepaliveOptions } from "./keepalive.ts";
import type { SessionOptions } from "./session_options.ts";

/** "The legal range … is 2^31-1" (RFC 9113 §6.9.1). */
const MAX_WINDOW = 2 ** 31 - 1;
const MAX_SETTING = 2 ** 32 - 1;

const SESSION_NAMES = optionNames<SessionOptions>({
  maxConcurrentStreams: true,
  streamWindow: true,
  connectionWindow: true,
  maxHeaderListSize: true,
  maxFields: true,
  abuse: true,
  prefaceTimeout: true,
  settingsTimeout: true,
  writeTimeout: true,
  minWriteRate: true,
  idleTimeout: true,
  keepalive: true,
});
const KEEPALIVE_NAMES = optionNames<KeepaliveOptions>({
  interval: true,
  timeout: true,
  withoutStreams: true,
});
const ABUSE_NAMES = optionNames<AbuseLimits>({ resets: true, errors: true, idleFrames: true });
const BUDGET_NAMES = optionNames<BudgetLimit>({ burst: true, perSecond: true });

/**
 * Checks settings of HTTP/2, given as the option `http2`.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
export function checkSessionOptions(what: string, options: SessionOptions | undefined): void {
  if (options === undefined) return;
  checkOptions(`${what} with http2`, SESSION_NAMES, options);
  const count = (name: keyof SessionOptions, least: number, most: number) =>
    checkCount(what, `http2.${name}`, options[name], least, most);
  count("maxConcurrentStreams", 0, MAX_SETTING);
  count("streamWindow", 0, MAX_WINDOW);
  // What every connection begins with cannot be taken back (RFC 9113 §6.9.2).
  count("connectionWindow", 65_535, MAX_WINDOW);
  count("maxHeaderListSize", 0, MAX_SETTING);
  count("maxFields", 0, Infinity);
  for (
    const name of ["prefaceTimeout", "settingsTimeout", "writeTimeout", "idleTimeout"] as const
  ) {
    checkTime(what, `http2.${name}`, options[name]);
  }
  checkNumber(what, "http2.minWriteRate", options.minWriteRate);
  checkKeepalive(what, "http2.keepalive", options.keepalive);
  const { abuse } = options;
  if (abuse === undefined) return;
  checkOptions(`${what} with http2.abuse`, ABUSE_NAMES, abuse);
  for (const name of ABUSE_NAMES as (keyof AbuseLimits)[]) {
    checkOptions(`${what} with http2.abuse.${name}`, BUDGET_NAMES, abuse[name]);
    for (const part of BUDGET_NAMES as (keyof BudgetLimit)[]) {
      checkNumber(what, `http2.abuse.${name}.${part}`, abuse[name][part]);
    }
  }
}

/**
 * Checks how dead peers are looked for.
 *
 * @throws {TypeError} If a setting is unknown or cannot be used.
 */
export function checkKeepalive(
  what: string,
  name: string,
  options: KeepaliveOptions | undefined,
): void {
  if (options === undefined) return;
  checkOptions(`${what} with ${name}`, KEEPALIVE_NAMES, options);
  checkTime(what, `${name}.interval`, options.interval ?? NaN, 1);
  checkTime(what, `${name}.timeout`, options.timeout);
  checkBoolean(what, `${name}.withoutStreams`, options.withoutStreams);
}
