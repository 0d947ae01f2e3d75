import { Code } from "@connectrpc/connect";
import { ACCEPT_ENCODING } from "../wire/compression.ts";
import { lastField, trailersError } from "../wire/status.ts";
import { formatTimeout } from "../wire/timeout.ts";
import { encodeText, TextReader } from "../wire/web_text.ts";
import { type Ending, FramedAttempt } from "./framed_attempt.ts";
import { isField, userFields } from "./protocol_fields.ts";

/** Content type of each format, without the codec. */
const TYPE = "application/grpc-web";

/** `application/grpc-web`, in text or not, with its codec. */
const TYPES = /^application\/grpc-web(-text)?(?:\+([^;\s]+))?\s*(?:;.*)?$/i;

const encoder = new TextEncoder();
/** Fields are bytes: each is a character. */
const decoder = new TextDecoder("latin1");

/**
 * An attempt by gRPC-Web: the trailers are the last frame of the body.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md}
 */
export class GrpcWebAttempt extends FramedAttempt {
  protected override readonly encodingField = "grpc-encoding";
  protected override readonly endFlag = 0x80;
  protected override readonly names = ["gRPC-Web", TYPE] as const;
  #text: TextReader | null = null;

  get #codec(): string {
    return this.host.format === "json" ? "json" : "proto";
  }

  protected override protocolFields(timeout: number): string[] {
    const type = this.host.format === "text" ? `${TYPE}-text+proto` : `${TYPE}+${this.#codec}`;
    const fields = ["content-type", type, "accept", type, "x-grpc-web", "1"];
    if (timeout > 0) fields.push("grpc-timeout", formatTimeout(timeout));
    fields.push("grpc-accept-encoding", ACCEPT_ENCODING);
    const { encoding } = this.call;
    if (encoding !== null) fields.push("grpc-encoding", encoding);
    return fields;
  }

  protected override frame(bytes: Uint8Array, compressed: boolean): Uint8Array {
    const frame = super.frame(bytes, compressed);
    return this.host.format === "text" ? encoder.encode(encodeText(frame)) : frame;
  }

  protected override accepts(contentType: string): "yes" | "no" | "other codec" {
    const match = TYPES.exec(contentType);
    if (match === null) return "no";
    if (match[1] !== undefined) this.#text = new TextReader(Code.Internal);
    return (match[2] ?? "proto").toLowerCase() === this.#codec ? "yes" : "other codec";
  }

  protected override bytesOf(piece: Uint8Array): Uint8Array {
    return this.#text === null ? piece : this.#text.push(piece);
  }

  protected override bodyEnded(): void {
    this.#text?.end();
    super.bodyEnded();
  }

  protected override endingWithoutBody(): Ending | null {
    if (lastField(this.header, "grpc-status") === undefined) return null;
    return { error: trailersError(this.header, []), trailers: this.header };
  }

  protected override readEnding(payload: Uint8Array): Ending {
    const fields: string[] = [];
    for (const line of decoder.decode(payload).split(/\r?\n/)) {
      if (line === "") continue;
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (!isField(name, value)) throw this.fault("the server sent trailers that are no fields");
      fields.push(name, value);
    }
    const trailers = userFields(fields);
    return { error: trailersError(trailers, this.header), trailers };
  }
}
