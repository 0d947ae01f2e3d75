/**
 * Sorts out the arguments behind the URL: header fields, body and options, or options alone.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import type { HeadersInput } from "../message/headers.ts";
import { closestName } from "../message/options.ts";
import {
  checkRequest,
  checkSendOptions,
  checkStreamOptions,
  REQUEST_NAMES,
  SEND_NAMES,
} from "./check_options.ts";
import type { RequestOptions, SendOptions, StreamOptions } from "./options.ts";

/** The arguments behind the URL, sorted out. */
interface RequestArguments<T> {
  readonly headers: HeadersInput | null | undefined;
  readonly body: BodyInput | null | undefined;
  readonly options: T;
}

/** The options of all requests that give none. */
export const NO_OPTIONS: RequestOptions & StreamOptions = {};

/**
 * Sorts out the arguments behind the URL: header fields, body and options, or one bag of options.
 * An object is a bag if one of its names is an option's: such a name is never sent as a header.
 *
 * @throws {TypeError} If it is not clear what is meant, or an option cannot be used.
 */
export function readArguments(
  second: HeadersInput | SendOptions | null | undefined,
  body: BodyInput | null | undefined,
  options: RequestOptions | undefined,
): RequestArguments<RequestOptions> {
  if (isBag(second)) {
    checkSendOptions(second);
    if (options !== undefined || (body !== undefined && body !== null)) {
      throw new TypeError(
        "Cannot request as options were given as the second argument: put what comes behind it into them, or header fields before it",
      );
    }
    return { headers: second.headers, body: second.body, options: second };
  }
  if (options === undefined) return { headers: second, body, options: NO_OPTIONS };
  checkPlaced(options);
  checkRequest(REQUEST_NAMES, options);
  return { headers: second, body, options };
}

/**
 * As {@linkcode readArguments}, for a raw stream, whose body is written to it.
 *
 * @throws {TypeError} As there.
 */
export function readStreamArguments(
  second: HeadersInput | StreamOptions | null | undefined,
  options: StreamOptions | undefined,
): RequestArguments<StreamOptions> {
  if (isBag(second)) {
    checkStreamOptions(second);
    if (options !== undefined) throw new TypeError("Cannot request as options were given twice");
    return { headers: second.headers, body: null, options: second };
  }
  if (options === undefined) return { headers: second, body: null, options: NO_OPTIONS };
  checkPlaced(options);
  checkStreamOptions(options);
  return { headers: second, body: null, options };
}

/** Header fields and body stand in one place: beside options that come last they have their own. */
function checkPlaced(options: SendOptions): void {
  for (const name of ["headers", "body"] as const) {
    if (options === null || typeof options !== "object" || options[name] === undefined) continue;
    throw new TypeError(
      `Cannot request with option ${name} as it has a place of its own before the options: give it there, or give the options alone, as in get(url, { ${name}, … })`,
    );
  }
}

/** Whether the second argument is options. Throws if it is half options, half header fields. */
function isBag<T extends object>(given: HeadersInput | T | null | undefined): given is T {
  if (given === null || typeof given !== "object" || Symbol.iterator in given) return false;
  let option: string | undefined;
  let field: string | undefined;
  for (const name of Object.keys(given)) {
    if (SEND_NAMES.includes(name)) option ??= name;
    else field ??= name;
  }
  if (option === undefined) {
    if (field !== undefined) checkFields(given as Readonly<Record<string, unknown>>);
    return false;
  }
  if (field === undefined) return true;
  const near = closestName(field, SEND_NAMES);
  throw new TypeError(
    `Cannot request with "${option}", which is an option, beside "${field}", which is none${
      near === null ? "" : ` (did you mean "${near}"?)`
    }: put header fields into headers: { … }, or a field of an option's name into new Headers()`,
  );
}

/** A misspelt option looks like a header field, but its value does not. */
function checkFields(fields: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === "string" || Array.isArray(value) || value === undefined) continue;
    const near = closestName(name, SEND_NAMES);
    if (near === null || name.includes("-")) continue;
    throw new TypeError(
      `Cannot request with header "${name}" of type ${typeof value}: did you mean the option "${near}"?`,
    );
  }
}
