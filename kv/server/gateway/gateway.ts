/**
 * The API as JSON over HTTP/1.1 and HTTP/2, as etcd has it by grpc-gateway: bytes as base64, integers
 * of 64 bits as text, names as in the proto files, values that are not set left out.
 *
 * @module
 */
import { create, type DescMethod, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Handlers } from "../../../grpc/mod.ts";
import type { ServerStream } from "../../../http/mod.ts";
import type { Contender } from "../services/contest.ts";
import type { Service } from "../services/table.ts";
import { JsonError, jsonObjects } from "./json_values.ts";
import { PATHS } from "./paths.ts";
import { refusalJson, refusalOf, statusOf } from "./status.ts";

/** Header fields beside the type. */
type Fields = Readonly<Record<string, string>>;

const withType = (fields: Fields): Fields => ({ ...fields, "content-type": "application/json" });

/** Metadata that comes as a header field, as grpc-gateway takes it. */
const METADATA = /^grpc-metadata-(.+)$/;

/** A caller as handlers know it. */
interface GatewayCaller extends Contender {
  /** Address of the client. */
  readonly peer: string;
}

interface Method {
  readonly desc: DescMethod;
  readonly handler: Handlers[string];
}

/** Answers requests in JSON by the handlers of the services. */
export class Gateway {
  readonly #maxBytes: number;
  readonly #methods = new Map<string, Method>();

  /** Requests may have `maxBytes` in JSON. */
  constructor(services: readonly Service[], maxBytes: number) {
    this.#maxBytes = maxBytes;
    const methods = new Map<string, Method>();
    for (const { desc, handlers } of services) {
      for (const method of desc.methods) {
        const handler = handlers[method.name];
        methods.set(`${desc.typeName}.${method.name}`, { desc: method, handler });
      }
    }
    for (const [path, name] of PATHS) this.#methods.set(path, methods.get(name)!);
  }

  /** Answers a request under `/v3/`, with `fields` in the response's head. */
  async answer(stream: ServerStream, fields: Fields): Promise<void> {
    const head = withType(fields);
    try {
      const method = this.#methods.get(stream.path);
      if (method === undefined) throw new ConnectError("Not Found", Code.NotFound);
      if (stream.method !== "POST") {
        throw new ConnectError("Method Not Allowed", Code.Unimplemented);
      }
      await this.#call(stream, method, head);
    } catch (error) {
      this.#refuse(stream, error, head);
    }
  }

  async #call(stream: ServerStream, { desc, handler }: Method, head: Fields): Promise<void> {
    if (handler === undefined) throw new ConnectError("unimplemented", Code.Unimplemented);
    const caller = callerOf(stream);
    const streams = desc.methodKind === "bidi_streaming";
    const requests = this.#requests(stream, desc);
    const request = streams
      ? requests
      : (await requests.next()).value ?? fromJson(desc.input, {} as JsonValue);
    const answer = handler(request, caller as Parameters<typeof handler>[1]);
    if (!streams && desc.methodKind !== "server_streaming") {
      const text = jsonText(desc, await answer);
      await stream.respond(200, head);
      return stream.closeWrite(text);
    }
    for await (const message of answer) {
      if (!stream.responded) await stream.respond(200, head);
      await stream.write(`{"result":${jsonText(desc, message)}}\n`);
    }
    if (!stream.responded) await stream.respond(200, head);
    stream.closeWrite();
  }

  async *#requests(stream: ServerStream, desc: DescMethod): AsyncGenerator<unknown> {
    for await (const json of jsonObjects(stream, this.#maxBytes)) {
      yield messageOf(desc, json);
    }
  }

  #refuse(stream: ServerStream, error: unknown, head: Fields): void {
    if (stream.finished || stream.signal.aborted) return stream.abort();
    const refusal = refusalOf(error);
    const json = refusalJson(refusal);
    if (stream.responded) return stream.closeWrite(`${JSON.stringify({ error: json })}\n`);
    stream.respond(statusOf(refusal.code), head);
    stream.closeWrite(JSON.stringify(json));
  }
}

/** A request as a message. Fields it does not know are ignored, as by etcd. */
function messageOf(desc: DescMethod, json: unknown): unknown {
  try {
    return fromJson(desc.input, json as JsonValue, { ignoreUnknownFields: true });
  } catch (error) {
    throw new JsonError((error as Error).message);
  }
}

function jsonText(desc: DescMethod, answer: unknown): string {
  const message = create(desc.output, answer as Record<string, unknown>);
  return JSON.stringify(toJson(desc.output, message, { useProtoFieldName: true }));
}

/** The caller of a request: the token stands in `Authorization`. */
function callerOf(stream: ServerStream): GatewayCaller {
  const requestHeader = new Headers();
  for (const [name, value] of Object.entries(stream.header)) {
    const metadata = name === "authorization" ? name : METADATA.exec(name)?.[1];
    if (metadata !== undefined) requestHeader.set(metadata, String(value));
  }
  return { requestHeader, signal: stream.signal, peer: stream.remoteAddr };
}
