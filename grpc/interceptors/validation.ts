import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { checkBoolean, checkOptions, optionNames } from "../../http/engine.ts";

/** Options of {@linkcode validation}. */
export interface ValidationOptions {
  /** Extensions with rules of one's own, and types that may come in an `Any`. */
  readonly registry?: Registry;
  /** Whether responses are held to their rules too: INTERNAL. @default {false} */
  readonly responses?: boolean;
}

const WHAT = "validate messages";

const NAMES = optionNames<ValidationOptions>({ registry: true, responses: true });

type Check = (desc: DescMessage, message: Message, code: Code) => void;

/**
 * Makes an interceptor that holds requests to the rules of their type (`buf.validate`,
 * {@link https://protovalidate.com}): those of streams one by one, as they are read. One that breaks a
 * rule ends the call with INVALID_ARGUMENT and all violations, in words and as a detail
 * `buf.validate.Violations`. For servers, and for clients, who then send nothing. A rule that cannot
 * be compiled is an error of the program: clients see UNKNOWN, and `onError` is told.
 *
 * Loads `npm:@bufbuild/protovalidate`, and rejects if that cannot be had.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 *
 * @example
 * ```ts
 * import { Registrar, validation } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar({ interceptors: [await validation()] });
 * ```
 */
export async function validation(options: ValidationOptions = {}): Promise<Interceptor> {
  checkOptions(WHAT, NAMES, options);
  checkBoolean(WHAT, "responses", options.responses);
  const { registry, responses = false } = options;
  if (registry !== undefined && typeof registry?.getMessage !== "function") {
    throw new TypeError(`Cannot ${WHAT} as registry must be a registry of protobuf-es`);
  }
  const check = await checker(registry);
  return (next) => async (request) => {
    const { input, output } = request.method;
    let response;
    if (request.stream) {
      const message = checkedAll(check, input, request.message, Code.InvalidArgument);
      response = await next({ ...request, message });
    } else {
      check(input, request.message, Code.InvalidArgument);
      response = await next(request);
    }
    if (!responses) return response;
    if (response.stream) {
      return { ...response, message: checkedAll(check, output, response.message, Code.Internal) };
    }
    check(output, response.message, Code.Internal);
    return response;
  };
}

async function checker(registry: Registry | undefined): Promise<Check> {
  const { createValidator, violationsToProto } = await import("@bufbuild/protovalidate");
  const validator = createValidator(registry === undefined ? {} : { registry });
  return (type, message, code) => {
    const { kind, error, violations } = validator.validate(type, message);
    if (kind === "valid") return;
    if (kind === "error") throw error;
    const all = violations.map(String).join("; ");
    const refused = new ConnectError(all, code, undefined, undefined, error);
    const [value, desc] = violationsToProto(violations);
    refused.details.push({ desc, value: value as never });
    throw refused;
  };
}

async function* checkedAll(
  check: Check,
  desc: DescMessage,
  messages: AsyncIterable<Message>,
  code: Code,
): AsyncGenerator<Message> {
  for await (const message of messages) {
    check(desc, message, code);
    yield message;
  }
}
