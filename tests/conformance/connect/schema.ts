/**
 * The conformance suite's messages, from its `.proto` files as they come with the Go module.
 *
 * @module
 */
import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { protoc } from "@sluice/sluice";

const PACKAGE = "connectrpc.conformance.v1";
const FOLDER = "connectrpc/conformance/v1";

async function load(): Promise<protoc.Loader> {
  const root = Deno.env.get("CONFORMANCE_PROTO");
  if (root === undefined) {
    throw new Error(
      'Set CONFORMANCE_PROTO to the folder "proto" of the Go module connectrpc.com/conformance',
    );
  }
  const loader = new protoc.Loader();
  for (const name of ["client_compat.proto", "server_compat.proto"]) {
    await loader.loadFile(`${FOLDER}/${name}`, { roots: [root] });
  }
  return loader;
}

const { registry } = await load();

/** Types by full name, for what comes in an `Any`. */
export { registry };

/** The type of a message of the suite. */
export function messageType(name: string): DescMessage {
  const found = registry.getMessage(`${PACKAGE}.${name}`);
  if (found === undefined) throw new Error(`The conformance protos have no message ${name}`);
  return found;
}

/** The service all tests call. */
export const SERVICE: DescService = registry.getService(`${PACKAGE}.ConformanceService`)!;

/** A field of HTTP or metadata. */
export interface Header {
  readonly name: string;
  readonly value: readonly string[];
}

/** An error as tests describe it. */
export interface ConformanceError {
  readonly code: number;
  readonly message?: string;
  readonly details: readonly Any[];
}

/** What one message of a test answers with. */
export interface UnaryDefinition {
  readonly responseHeaders: readonly Header[];
  readonly responseTrailers: readonly Header[];
  readonly responseDelayMs: number;
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | { readonly case: "error"; readonly value: ConformanceError }
    | { readonly case: undefined };
}

/** What a stream of a test answers with. */
export interface StreamDefinition {
  readonly responseHeaders: readonly Header[];
  readonly responseTrailers: readonly Header[];
  readonly responseDelayMs: number;
  readonly responseData: readonly Uint8Array[];
  readonly error?: ConformanceError;
}

/** Any of the requests; which definition it has depends on the method. */
export interface ConformanceRequest<Definition> extends Message {
  readonly responseDefinition?: Definition;
  readonly fullDuplex?: boolean;
}

/** A PEM certificate and its key, as bytes. */
export interface TlsCreds {
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

/** How the runner wants the server. */
export interface ServerCompatRequest extends Message {
  readonly protocol: number;
  readonly httpVersion: number;
  readonly useTls: boolean;
  readonly clientTlsCert: Uint8Array;
  readonly messageReceiveLimit: number;
  readonly serverCreds?: TlsCreds;
}

/** A call the runner wants made. */
export interface ClientCompatRequest extends Message {
  readonly testName: string;
  readonly protocol: number;
  readonly httpVersion: number;
  readonly codec: number;
  readonly compression: number;
  readonly useGetHttpMethod: boolean;
  readonly host: string;
  readonly port: number;
  readonly serverTlsCert: Uint8Array;
  readonly clientTlsCreds?: TlsCreds;
  readonly messageReceiveLimit: number;
  readonly method?: string;
  readonly streamType: number;
  readonly requestHeaders: readonly Header[];
  readonly requestMessages: readonly Any[];
  readonly timeoutMs?: number;
  readonly requestDelayMs: number;
  readonly cancel?: {
    readonly cancelTiming:
      | { readonly case: "beforeCloseSend" }
      | { readonly case: "afterCloseSendMs"; readonly value: number }
      | { readonly case: "afterNumResponses"; readonly value: number }
      | { readonly case: undefined };
  };
}

/** Values of `Protocol`. */
export const Protocol = { CONNECT: 1, GRPC: 2, GRPC_WEB: 3 } as const;

/** Values of `HTTPVersion`. */
export const HttpVersion = { ONE: 1, TWO: 2 } as const;

/** Values of `Codec`. */
export const Codec = { PROTO: 1, JSON: 2 } as const;

/** Values of `Compression`. */
export const Compression = { IDENTITY: 1, GZIP: 2, ZSTD: 4, DEFLATE: 5 } as const;

/** Values of `StreamType`. */
export const StreamType = {
  UNARY: 1,
  CLIENT_STREAM: 2,
  SERVER_STREAM: 3,
  HALF_DUPLEX: 4,
  FULL_DUPLEX: 5,
} as const;

/** Fields as the suite describes them. */
export function toHeaders(list: readonly Header[]): Headers {
  const headers = new Headers();
  for (const { name, value } of list) for (const one of value) headers.append(name, one);
  return headers;
}

/** The suite's description of fields. */
export function fromHeaders(headers: Headers): Header[] {
  return [...headers].map(([name, value]) => ({ name, value: [value] }));
}
