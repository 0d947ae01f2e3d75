/**
 * The options that say how a method is called by HTTP, as they stand in descriptors: `google.api.http`.
 * They are read from the bytes of the options, so the extension need not be known to anyone.
 * {@link https://github.com/googleapis/googleapis/blob/master/google/api/http.proto}
 *
 * @module
 */
import type { DescMethod } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** One way to call a method by HTTP. */
export interface HttpRule {
  /** GET, PUT and so on; `*` for every method. */
  readonly verb: string;
  readonly template: string;
  /** The name of the field the body is, `*` for the whole message, or "" for no body. */
  readonly body: string;
  /** The name of the field the response's body is, or "" for the whole message. */
  readonly responseBody: string;
}

/** Thrown where services are registered whose HTTP rules cannot be served. */
export class HttpRuleError extends TypeError {
  /** `HttpRuleError`. */
  override readonly name = "HttpRuleError";
  /** Path of the method, such as `/pkg.Service/Method`. */
  readonly method: string;
  /** The path template as it stands in the rule. */
  readonly template: string;

  /** `fault` says which rule of HTTP rules it breaks. */
  constructor(method: string, template: string, fault: string, options?: ErrorOptions) {
    super(`Cannot transcode ${method} as ${fault}: current value is "${template}"`, options);
    this.method = method;
    this.template = template;
  }
}

/** Number of the extension of `google.protobuf.MethodOptions`. */
const HTTP_EXTENSION = 72295728;

/** Numbers of the patterns of `google.api.HttpRule`. */
const VERBS: Readonly<Record<number, string>> = {
  2: "GET",
  3: "PUT",
  4: "POST",
  5: "DELETE",
  6: "PATCH",
};
const CUSTOM = 8;
const BODY = 7;
const ADDITIONAL_BINDINGS = 11;
const RESPONSE_BODY = 12;

/** A `google.api.HttpRule`. */
interface RawRule {
  verb: string;
  template: string;
  body: string;
  responseBody: string;
  readonly additional: RawRule[];
}

function emptyRule(): RawRule {
  return { verb: "", template: "", body: "", responseBody: "", additional: [] };
}

/** The rules of a method, additional bindings behind the first. None if it has no options. */
export function rulesOf(method: DescMethod): readonly HttpRule[] {
  const unknown = method.proto.options?.$unknown ?? [];
  const rule = emptyRule();
  let found = false;
  for (const { no, wireType, data } of unknown) {
    if (no !== HTTP_EXTENSION || wireType !== WireType.LengthDelimited) continue;
    // Occurrences of a message's field merge.
    readRule(new BinaryReader(data).bytes(), rule);
    found = true;
  }
  if (!found) return [];
  return [rule, ...rule.additional];
}

function readRule(bytes: Uint8Array, rule: RawRule): RawRule {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const verb = VERBS[field];
    if (verb !== undefined) {
      rule.verb = verb;
      rule.template = reader.string();
    } else if (field === CUSTOM) readCustom(reader.bytes(), rule);
    else if (field === BODY) rule.body = reader.string();
    else if (field === RESPONSE_BODY) rule.responseBody = reader.string();
    else if (field === ADDITIONAL_BINDINGS) {
      rule.additional.push(readRule(reader.bytes(), emptyRule()));
    } else reader.skip(type, field);
  }
  return rule;
}

function readCustom(bytes: Uint8Array, rule: RawRule): void {
  const reader = new BinaryReader(bytes);
  rule.verb = "";
  rule.template = "";
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) rule.verb = reader.string();
    else if (field === 2) rule.template = reader.string();
    else reader.skip(type, field);
  }
}
