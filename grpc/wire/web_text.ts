/**
 * gRPC-Web with its body in base64, `application/grpc-web-text`: what clients send that cannot read
 * bytes while they come. Underneath it is gRPC-Web as ever.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md}
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Code, ConnectError } from "@connectrpc/connect";

const TEXT_TYPE = /^application\/grpc-web-text(?=$|[+;\s])/i;
const BINARY_TYPE = /^application\/grpc-web(?=$|[+;\s])/i;
/** One run of base64; several may follow each other, each with its own padding. */
const RUNS = /[^=]+={0,2}/g;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether a content-type is gRPC-Web's in text. */
export function isWebText(type: string | null): boolean {
  return type !== null && TEXT_TYPE.test(type);
}

/** The content-type of the same body in bytes. */
export function binaryType(type: string): string {
  return type.replace(TEXT_TYPE, "application/grpc-web");
}

/** The content-type of the same body in text; other types stay what they are. */
export function textType(type: string): string {
  return type.replace(BINARY_TYPE, "application/grpc-web-text");
}

/** A piece of a body in text, padded: pieces may follow each other. */
export function encodeText(piece: Uint8Array): string {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("base64");
}

/** Bytes out of their text, however that is cut. */
export class TextReader {
  /** Characters of a group of four that has not come whole. */
  #rest = "";
  readonly #code: Code;

  /** `code` is that of the error if the text is not base64. */
  constructor(code: Code) {
    this.#code = code;
  }

  /**
   * The bytes of what came with `piece`.
   *
   * @throws {ConnectError} If it is not base64.
   */
  push(piece: Uint8Array): Uint8Array {
    const text = this.#rest +
      Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    const whole = text.length - text.length % 4;
    this.#rest = text.slice(whole);
    return whole > 0 ? this.#decode(text.slice(0, whole)) : NO_BYTES;
  }

  /**
   * The text has ended.
   *
   * @throws {ConnectError} If a part of it is missing.
   */
  end(): void {
    if (this.#rest !== "") this.#decode(this.#rest);
  }

  #decode(text: string): Uint8Array {
    const runs = text.match(RUNS) ?? [text];
    const pieces = runs.map((run) => {
      if (!BASE64.test(run)) {
        throw new ConnectError(
          "Body of application/grpc-web-text must be base64 (RFC 4648 §4)",
          this.#code,
        );
      }
      return Buffer.from(run, "base64");
    });
    return new Uint8Array(Buffer.concat(pieces));
  }
}

const NO_BYTES = new Uint8Array(0);

/**
 * A body out of its text, however that was cut. Throws {@linkcode ConnectError} with INVALID_ARGUMENT
 * if it is not base64.
 */
export async function* decodeText(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new TextReader(Code.InvalidArgument);
  for await (const piece of source) {
    const bytes = reader.push(piece);
    if (bytes.length > 0) yield bytes;
  }
  reader.end();
}
