import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallOptions } from "../client/call_options.ts";
import type { CallStream } from "../client/call_stream.ts";
import type { Conn } from "../client/conn.ts";
import { newService } from "../client/service.ts";
import { reflectionFiles } from "../server/proto/reflection.ts";
import { toConnectCode } from "../wire/code.ts";
import { invalid } from "./file_pool.ts";

/** Questions that are under way at once: their answers fit into any window that matters. */
const BATCH = 32;
/** Characters of a server's error that are shown. */
const MAX_REASON = 500;

/** A question of the protocol. */
export type Question =
  | { readonly case: "listServices"; readonly value: "*" }
  | { readonly case: "fileByFilename" | "fileContainingSymbol"; readonly value: string }
  | { readonly case: "allExtensionNumbersOfType"; readonly value: string }
  | {
    readonly case: "fileContainingExtension";
    readonly value: { readonly containingType: string; readonly extensionNumber: number };
  };

/** An answer that says that there is no such thing, or something else went wrong. */
interface Refusal {
  readonly case: "errorResponse";
  readonly value: { readonly errorCode: number; readonly errorMessage: string };
}

/** An answer of the protocol. */
export type Answer =
  | Refusal
  | {
    readonly case: "fileDescriptorResponse";
    readonly value: { readonly fileDescriptorProto: readonly Uint8Array[] };
  }
  | {
    readonly case: "allExtensionNumbersResponse";
    readonly value: { readonly extensionNumber: readonly number[] };
  }
  | {
    readonly case: "listServicesResponse";
    readonly value: { readonly service: readonly { readonly name: string }[] };
  }
  | { readonly case: undefined; readonly value?: undefined };

interface Response {
  readonly messageResponse: Answer;
}

/** Opens streams of questions, in the version of the protocol that the server speaks. */
export class Questions {
  readonly #conn: Conn;
  readonly #services: readonly DescService[];
  /** The version that answered: 0 is v1, 1 is v1alpha. */
  #version: number | null = null;

  constructor(conn: Conn) {
    this.#conn = conn;
    this.#services = reflectionFiles().map((file) => file.services[0]!);
  }

  /**
   * Asks in one stream: `run` gets what asks, and gives its own result.
   *
   * @throws {ConnectError} If the server has no reflection, or the stream ends.
   */
  async during<T>(options: CallOptions, run: (ask: Ask) => Promise<T>): Promise<T> {
    if (this.#version !== null) return await this.#in(this.#version, options, run);
    try {
      return await this.#in(0, options, run);
    } catch (error) {
      if (this.#version !== null || !isUnimplemented(error)) throw error;
    }
    try {
      return await this.#in(1, options, run);
    } catch (error) {
      if (this.#version !== null || !isUnimplemented(error)) throw error;
      throw new ConnectError(
        "Cannot learn the services as the server has no reflection: neither grpc.reflection.v1 nor v1alpha",
        Code.Unimplemented,
      );
    }
  }

  async #in<T>(
    version: number,
    options: CallOptions,
    run: (ask: Ask) => Promise<T>,
  ): Promise<T> {
    const client = newService(this.#conn, this.#services[version]!) as Record<
      string,
      (options: CallOptions) => Promise<CallStream<object, Response>>
    >;
    using stream = await client["ServerReflectionInfo"]!(options);
    return await run(async (questions, take) => {
      for (let at = 0; at < questions.length; at += BATCH) {
        const batch = questions.slice(at, at + BATCH);
        // A write that fails shows in the read behind it.
        for (const messageRequest of batch) stream.write({ messageRequest }).catch(() => {});
        for (const i of batch.keys()) {
          const response = await stream.read();
          if (response === null) {
            throw invalid(`it ended after ${at + i} of ${questions.length} answers`);
          }
          this.#version = version;
          take(response.messageResponse, at + i);
        }
      }
    });
  }
}

/**
 * Asks questions, and hands over each answer as it comes, with its question's index. An answer that
 * cannot be taken ends the stream.
 */
export type Ask = (
  questions: readonly Question[],
  take: (answer: Answer, index: number) => void,
) => Promise<void>;

function isUnimplemented(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unimplemented;
}

/** A refusal as an error, with the server's words. */
export function refused(what: string, { value }: Refusal): ConnectError {
  const { errorCode, errorMessage } = value;
  const reason = errorMessage.slice(0, MAX_REASON);
  return new ConnectError(
    `Cannot learn ${what}${reason === "" ? "" : `: ${reason}`}`,
    toConnectCode(errorCode),
  );
}
