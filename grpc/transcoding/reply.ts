/**
 * Responses of calls as bodies of HTTP.
 *
 * @module
 */
import {
  create,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { wholeMessage } from "../wire/intercept.ts";
import type { Binding } from "./binding.ts";
import { isHttpBody } from "./body.ts";
import type { TranscodingSettings } from "./options.ts";

/** A body, and its type. */
interface ReplyBody {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** How responses are written. */
interface ReplySettings extends TranscodingSettings {
  readonly registry: Registry;
  /** Bytes a message may have, in JSON. */
  readonly maxSendSize: number;
}

/** `google.api.HttpBody`, as far as it is sent. */
interface HttpBody extends Message {
  readonly contentType: string;
  readonly data: Uint8Array;
}

const MEDIA_TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[\x20-\x7e]+$/;
const BYTES_TYPE = "application/octet-stream";

const encoder = new TextEncoder();

/** Writes responses of one binding. */
export class ReplyWriter {
  readonly #binding: Binding;
  readonly #settings: ReplySettings;
  /** Bytes come as they are, without JSON. */
  readonly isRaw: boolean;

  constructor(binding: Binding, settings: ReplySettings) {
    this.#binding = binding;
    this.#settings = settings;
    const { method, responseField } = binding;
    this.isRaw = isHttpBody(
      responseField === null ? method.desc.output : responseField.message,
    ) && responseField?.fieldKind !== "list" && responseField?.fieldKind !== "map";
  }

  /** The body a response becomes. */
  body(given: unknown): ReplyBody {
    const { method, responseField } = this.#binding;
    const message = wholeMessage(method.output, given);
    if (!this.isRaw) {
      const bytes = encoder.encode(JSON.stringify(this.json(message)));
      return { type: "application/json", bytes: this.#checked(bytes) };
    }
    const held = responseField === null
      ? message
      : (message as unknown as Record<string, Message | undefined>)[responseField.localName];
    const { contentType = "", data = new Uint8Array() } = (held ?? {}) as Partial<HttpBody>;
    return {
      type: MEDIA_TYPE.test(contentType) ? contentType : BYTES_TYPE,
      bytes: this.#checked(data),
    };
  }

  /** A response of a stream, in one line. */
  text(given: unknown): string {
    const text = JSON.stringify(this.json(wholeMessage(this.#binding.method.output, given)));
    this.#checkSize(text.length);
    return text;
  }

  /** A response in JSON. */
  json(message: Message): JsonValue {
    const { method: { desc: { output } }, responseField } = this.#binding;
    const { alwaysEmitImplicit, enumAsInteger, useProtoFieldName, registry } = this.#settings;
    const options = { alwaysEmitImplicit, enumAsInteger, useProtoFieldName, registry };
    const json = toJson(output, message, options);
    if (responseField === null) return json;
    const name = useProtoFieldName ? responseField.name : responseField.jsonName;
    const value = (json as JsonObject)[name];
    if (value !== undefined) return value;
    const defaults = toJson(output, create(output), { ...options, alwaysEmitImplicit: true });
    return (defaults as JsonObject)[name] ?? null;
  }

  #checked(bytes: Uint8Array): Uint8Array {
    this.#checkSize(bytes.length);
    return bytes;
  }

  #checkSize(size: number): void {
    const { maxSendSize } = this.#settings;
    if (size <= maxSendSize) return;
    throw new ConnectError(
      `a response must have <= ${maxSendSize} bytes (maxSendSize): current value is ${size}`,
      Code.ResourceExhausted,
    );
  }
}
