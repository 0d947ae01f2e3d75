/**
 * Reads the arguments of a service client's methods.
 *
 * @module
 */
import type { DescMethod } from "@bufbuild/protobuf";
import { closestName } from "../../http/engine.ts";
import { CALL_OPTION_NAMES, type CallOptions, NO_OPTIONS, toCallOptions } from "./call_options.ts";

/** Arguments of a call, told apart. */
interface Arguments {
  /** The request that goes with the call; undefined if requests are written later. */
  readonly request: object | undefined;
  readonly options: CallOptions;
  /** The request of a call that reads before it writes; it may be options without any as well. */
  readonly implied?: object;
}

/**
 * Makes what reads the arguments of a method. It throws `TypeError` if they do not fit the method, and
 * says which forms do.
 */
export function argumentsOf(method: DescMethod): (args: readonly unknown[]) => Arguments {
  const what = `call ${method.parent.typeName}.${method.name}`;
  return (args) => {
    try {
      return read(method, args, what);
    } catch (error) {
      if (error instanceof TypeError) error.message += `. ${formsOf(method)}`;
      throw error;
    }
  };
}

function read(method: DescMethod, args: readonly unknown[], what: string): Arguments {
  const first = args[0];
  const second = args[1];
  const most = takesOne(method) ? 2 : 1;
  if (args.length > most) {
    throw new TypeError(`Cannot ${what} with ${args.length} arguments: it takes ${most} at most`);
  }
  if (method.methodKind === "unary") return requestAnd(first, second, what);
  if (!takesOne(method)) return { request: undefined, options: optionsOf(first, what) };
  // Arity decides first: of two arguments, one is the request whatever its fields are called.
  if (args.length === 2) return requestAnd(first, second, what);
  if (typeof first !== "object" || first === null || isOptions(first)) {
    return { request: undefined, options: optionsOf(first, what) };
  }
  if (Object.keys(first).length === 0) {
    return { request: undefined, options: NO_OPTIONS, implied: first };
  }
  checkRequest(method, first, what);
  return requestAnd(first, undefined, what);
}

function takesOne({ methodKind }: DescMethod): boolean {
  return methodKind === "unary" || methodKind === "server_streaming";
}

function requestAnd(request: unknown, options: unknown, what: string): Arguments {
  return { request: request as object, options: optionsOf(options, what) };
}

function optionsOf(given: unknown, what: string): CallOptions {
  return toCallOptions(what, given as number | CallOptions | undefined);
}

/** Whether there are names, all of them names of options. */
function isOptions(bag: object): boolean {
  const names = Object.keys(bag);
  return names.length > 0 && names.every((name) => CALL_OPTION_NAMES.includes(name));
}

/** A name that is neither a field's nor an option's may be meant for either. */
function checkRequest(method: DescMethod, request: object, what: string): void {
  if ("$typeName" in request) return;
  const { fields, oneofs, typeName } = method.input;
  const names = [
    ...fields.flatMap((field) => [field.localName, field.name, field.jsonName]),
    ...oneofs.map((oneof) => oneof.localName),
  ];
  for (const name of Object.keys(request)) {
    if (name.startsWith("$") || names.includes(name) || CALL_OPTION_NAMES.includes(name)) continue;
    const near = closestName(name, [...names, ...CALL_OPTION_NAMES]);
    throw new TypeError(
      `Cannot ${what} as ${JSON.stringify(name)} is neither a field of ${typeName} nor an option${
        near === null ? "" : `: did you mean "${near}"?`
      }`,
    );
  }
}

function formsOf({ name, methodKind }: DescMethod): string {
  switch (methodKind) {
    case "unary":
      return `Call it as ${name}(request) or ${name}(request, options)`;
    case "server_streaming":
      return `Call it as ${name}(request) or ${name}(request, options), or as ${name}(options) and write the request`;
    default:
      return `Call it as ${name}() or ${name}(options) and write the requests`;
  }
}
