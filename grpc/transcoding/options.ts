/**
 * Options of JSON transcoding.
 *
 * @module
 */
import { checkBoolean, checkCount, checkOptions, optionNames } from "../../http/engine.ts";
import { isConnectionField } from "../../http/engine.ts";

/** How services are called by HTTP and JSON, as their `google.api.http` options say. */
export interface TranscodingOptions {
  /**
   * Write fields that are not set, with their defaults: empty lists, 0, "". Fields that may be unset
   * (`optional`, of a `oneof`, of message types) stay out.
   *
   * @default {false}
   */
  readonly alwaysEmitImplicit?: boolean;
  /** Write enums by their numbers instead of their names. @default {false} */
  readonly enumAsInteger?: boolean;
  /** Name fields as in the proto file instead of in camel case; both are read. @default {false} */
  readonly useProtoFieldName?: boolean;
  /**
   * Pass over fields of bodies and parameters of queries that the request does not have, instead of
   * answering 400. @default {false}
   */
  readonly ignoreUnknownFields?: boolean;
  /**
   * Names of request header fields that handlers get as they are, beside those grpc-gateway passes on.
   *
   * @default none
   */
  readonly requestHeaders?: readonly string[];
  /**
   * Names of metadata of a response that are sent as they are, and not as `grpc-metadata-…`, such as
   * `location` and `etag`. @default none
   */
  readonly responseHeaders?: readonly string[];
  /** Parameters the query of a request may have. More is answered 400. @default {1000} */
  readonly maxQueryParameters?: number;
  /** Depth of objects and lists in JSON. More is answered 400. @default {100} */
  readonly maxDepth?: number;
  /** HTTP rules of all services together; a service with more cannot be registered. @default {10000} */
  readonly maxRules?: number;
}

/** Names of {@linkcode TranscodingOptions}. */
const TRANSCODING_NAMES: readonly string[] = optionNames<TranscodingOptions>({
  alwaysEmitImplicit: true,
  enumAsInteger: true,
  useProtoFieldName: true,
  ignoreUnknownFields: true,
  requestHeaders: true,
  responseHeaders: true,
  maxQueryParameters: true,
  maxDepth: true,
  maxRules: true,
});

/** Options with their defaults. */
export interface TranscodingSettings {
  readonly alwaysEmitImplicit: boolean;
  readonly enumAsInteger: boolean;
  readonly useProtoFieldName: boolean;
  readonly ignoreUnknownFields: boolean;
  readonly requestHeaders: ReadonlySet<string>;
  readonly responseHeaders: ReadonlySet<string>;
  readonly maxQueryParameters: number;
  readonly maxDepth: number;
  readonly maxRules: number;
}

/** Fields that say how a message is framed or what it holds: they are made here. */
const FRAMING = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "host",
  "te",
  "trailer",
  "date",
]);

/**
 * Checks the option `transcoding`.
 *
 * @throws {TypeError} On what cannot be used.
 */
export function transcodingSettings(
  what: string,
  given: boolean | TranscodingOptions | undefined,
): TranscodingSettings | null {
  if (given === undefined || given === false) return null;
  const options = given === true ? {} : given;
  const how = `${what} by transcoding`;
  checkOptions(how, TRANSCODING_NAMES, options);
  for (
    const name of [
      "alwaysEmitImplicit",
      "enumAsInteger",
      "useProtoFieldName",
      "ignoreUnknownFields",
    ] as const
  ) checkBoolean(how, name, options[name]);
  checkCount(how, "maxQueryParameters", options.maxQueryParameters);
  checkCount(how, "maxDepth", options.maxDepth, 1, 1000);
  checkCount(how, "maxRules", options.maxRules);
  return {
    alwaysEmitImplicit: options.alwaysEmitImplicit ?? false,
    enumAsInteger: options.enumAsInteger ?? false,
    useProtoFieldName: options.useProtoFieldName ?? false,
    ignoreUnknownFields: options.ignoreUnknownFields ?? false,
    requestHeaders: namesOf(how, "requestHeaders", options.requestHeaders),
    responseHeaders: namesOf(how, "responseHeaders", options.responseHeaders),
    maxQueryParameters: options.maxQueryParameters ?? 1000,
    maxDepth: options.maxDepth ?? 100,
    maxRules: options.maxRules ?? 10_000,
  };
}

function namesOf(what: string, option: string, given: unknown): ReadonlySet<string> {
  if (given === undefined) return new Set();
  if (!Array.isArray(given)) {
    throw new TypeError(`Cannot ${what} as ${option} must be a list of names of header fields`);
  }
  return new Set(given.map((name: unknown) => {
    const lower = typeof name === "string" ? name.toLowerCase() : "";
    if (/^[0-9a-z_.-]+$/.test(lower) && !FRAMING.has(lower) && !isConnectionField(lower)) {
      return lower;
    }
    throw new TypeError(
      `Cannot ${what} as ${option} must name header fields that are the application's: current value is ${
        JSON.stringify(name) ?? String(name)
      }`,
    );
  }));
}
