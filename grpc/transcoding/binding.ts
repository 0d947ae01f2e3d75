/**
 * HTTP rules held against the messages of their methods.
 *
 * @module
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { closestName } from "../../http/engine.ts";
import type { Method } from "../wire/method.ts";
import { type HttpRule, HttpRuleError } from "./http_rule.ts";
import { isTextField } from "./text_value.ts";
import { parseTemplate, type Template, type Variable } from "./template.ts";

/** A variable of a template, with the fields it names. */
interface BoundVariable extends Variable {
  /** From the request downwards; the last holds the value. */
  readonly fields: readonly DescField[];
}

/** Where a request's body goes. */
type BodyTarget =
  | { readonly kind: "none" }
  | { readonly kind: "message" }
  | { readonly kind: "field"; readonly field: DescField };

/** One way to call a method by HTTP, ready for use. */
export interface Binding {
  readonly method: Method;
  /** GET, PUT and so on; `*` for every method. */
  readonly verb: string;
  readonly template: Template;
  readonly variables: readonly BoundVariable[];
  readonly body: BodyTarget;
  /** The field the response's body is; null for the whole message. */
  readonly responseField: DescField | null;
}

/** Methods of HTTP, as their names may be. `*` stands for all. */
const HTTP_METHOD = /^(?:\*|[A-Z][A-Z0-9_-]{0,31})$/;

/**
 * Holds a rule against its method.
 *
 * @throws {HttpRuleError} If it breaks the grammar, or names fields that are not there.
 */
export function bindingOf(method: Method, rule: HttpRule): Binding {
  const fail = (fault: string, cause?: unknown): never => {
    throw new HttpRuleError(method.path, rule.template, fault, { cause });
  };
  if (!HTTP_METHOD.test(rule.verb) || rule.verb === "CONNECT" || rule.verb === "OPTIONS") {
    fail(
      rule.verb === ""
        ? "its google.api.http must have a pattern: get, put, post, delete, patch or custom"
        : `the kind of a custom pattern must be a method of HTTP in capitals, but for CONNECT and OPTIONS, or *: "${rule.verb}" is none`,
    );
  }
  let template: Template;
  try {
    template = parseTemplate(rule.template);
  } catch (error) {
    return fail(`of its path template ${(error as Error).message}`, error);
  }
  const { input, output } = method.desc;
  const variables = template.variables.map((variable) => ({
    ...variable,
    fields: fieldsOf(input, variable.path, fail),
  }));
  const responseField = rule.responseBody === ""
    ? null
    : fieldOf(output, rule.responseBody, "response_body", fail);
  return {
    method,
    verb: rule.verb,
    template,
    variables,
    body: bodyOf(input, rule.body, variables, fail),
    responseField,
  };
}

type Fail = (fault: string) => never;

function bodyOf(
  input: DescMessage,
  body: string,
  variables: readonly BoundVariable[],
  fail: Fail,
): BodyTarget {
  if (body === "") return { kind: "none" };
  if (body === "*") return { kind: "message" };
  const field = fieldOf(input, body, "body", fail);
  if (variables.some(({ fields }) => fields.length === 1 && fields[0] === field)) {
    fail(`its body and its path must be different fields: both are "${body}"`);
  }
  return { kind: "field", field };
}

function fieldOf(message: DescMessage, name: string, what: string, fail: Fail): DescField {
  const field = message.fields.find((one) => one.name === name);
  return field ??
    fail(`its ${what} must name a field of ${message.typeName}${hint(message, name)}`);
}

function fieldsOf(input: DescMessage, path: readonly string[], fail: Fail): DescField[] {
  const fields: DescField[] = [];
  let message: DescMessage | undefined = input;
  for (const name of path) {
    if (message === undefined) {
      return fail(
        `"${path.join(".")}" must name fields of messages: "${fields.at(-1)!.name}" is none`,
      );
    }
    const parent: DescMessage = message;
    const field = parent.fields.find((one) => one.name === name);
    if (field === undefined) {
      return fail(
        `"${path.join(".")}" must name fields of ${parent.typeName}${hint(parent, name)}`,
      );
    }
    fields.push(field);
    message = field.fieldKind === "message" ? field.message : undefined;
  }
  if (!isTextField(fields.at(-1)!)) {
    fail(`"${path.join(".")}" must be a single value that can stand in a path`);
  }
  return fields;
}

function hint(message: DescMessage, name: string): string {
  const near = closestName(name, message.fields.map((field) => field.name));
  return `, and "${name}" is none${near === null ? "" : `: did you mean "${near}"?`}`;
}
