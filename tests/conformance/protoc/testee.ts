/**
 * The program that protobuf's conformance runner talks to: requests on standard input, answers on
 * standard output, each after its length in four bytes, the least first.
 *
 * ```sh
 * deno run -A testee.ts KIND INCLUDE [DESCRIPTOR_SET]
 * ```
 *
 * `KIND` says whose descriptors and whose code are tested:
 * - `reference`: descriptors of protoc (from `DESCRIPTOR_SET`), messages by protobuf-es;
 * - `loaded`: descriptors of the loader, messages by protobuf-es;
 * - `codec`: descriptors of the loader, binary messages by the compiled codec, JSON by protobuf-es.
 *
 * @module
 */

import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type Message,
  type Registry,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { codecFor } from "../../../grpc/codec/mod.ts";
import { Loader } from "../../../protoc/mod.ts";

/** The files of the runner's package that requests refer to. */
export const FILES: readonly string[] = [
  "conformance/conformance.proto",
  "google/protobuf/test_messages_proto2.proto",
  "google/protobuf/test_messages_proto3.proto",
  "google/protobuf/test_messages_edition2023.proto",
  "google/protobuf/test_messages_proto2_editions.proto",
  "google/protobuf/test_messages_proto3_editions.proto",
];

/** `conformance.WireFormat` */
const PROTOBUF = 1;
const JSON_FORMAT = 2;
/** `conformance.TestCategory` */
const JSON_IGNORE_UNKNOWN = 3;

interface Request extends Message {
  payload: { case: string | undefined; value: unknown };
  requestedOutputFormat: number;
  messageType: string;
  testCategory: number;
}

if (import.meta.main) {
  const [kind, include, set] = Deno.args as [string, string, string | undefined];
  await serve(kind === "codec", await registryOf(kind, include, set));
}

async function registryOf(kind: string, include: string, set?: string): Promise<Registry> {
  if (kind === "reference") {
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, await Deno.readFile(set!)));
  }
  const loader = new Loader();
  await loader.loadAll(FILES.map((name) => join(include, name)), { roots: [include] });
  return loader.registry;
}

async function serve(usesCodec: boolean, registry: Registry): Promise<void> {
  const requestType = registry.getMessage("conformance.ConformanceRequest")!;
  const responseType = registry.getMessage("conformance.ConformanceResponse")!;
  for (;;) {
    const length = await readExactly(4);
    if (length === undefined) return;
    const bytes = await readExactly(new DataView(length.buffer).getUint32(0, true));
    if (bytes === undefined) throw new Error("a request without its bytes");
    const request = fromBinary(requestType, bytes) as Request;
    const result = answer(request, registry, usesCodec);
    const response = toBinary(responseType, create(responseType, { result }));
    const head = new Uint8Array(4);
    new DataView(head.buffer).setUint32(0, response.length, true);
    await writeAll(head);
    await writeAll(response);
  }
}

function answer(request: Request, registry: Registry, usesCodec: boolean) {
  const type = registry.getMessage(request.messageType);
  if (type === undefined) {
    return { case: "runtimeError", value: `unknown message type ${request.messageType}` };
  }
  const { payload, requestedOutputFormat: format } = request;
  const isText = payload.case !== "protobufPayload" && payload.case !== "jsonPayload";
  if (isText || format !== PROTOBUF && format !== JSON_FORMAT) {
    return { case: "skipped", value: "neither binary nor JSON" };
  }
  let message: Message;
  try {
    message = payload.case === "jsonPayload"
      ? fromJsonString(type, payload.value as string, {
        ignoreUnknownFields: request.testCategory === JSON_IGNORE_UNKNOWN,
        registry,
      })
      : decode(type, payload.value as Uint8Array, usesCodec);
  } catch (error) {
    return { case: "parseError", value: String(error) };
  }
  try {
    return format === JSON_FORMAT
      ? { case: "jsonPayload", value: toJsonString(type, message, { registry }) }
      : { case: "protobufPayload", value: encode(type, message, usesCodec) };
  } catch (error) {
    return { case: "serializeError", value: String(error) };
  }
}

function decode(type: DescMessage, bytes: Uint8Array, usesCodec: boolean): Message {
  return usesCodec ? codecFor(type).decode(bytes, 0, bytes.length) : fromBinary(type, bytes);
}

function encode(type: DescMessage, message: Message, usesCodec: boolean): Uint8Array {
  // The codec's result is a view that the next encode, that of the answer, would overwrite.
  return usesCodec ? codecFor(type).encode(message).slice() : toBinary(type, message);
}

async function readExactly(length: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const read = await Deno.stdin.read(bytes.subarray(at));
    if (read === null) return undefined;
    at += read;
  }
  return bytes;
}

async function writeAll(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
