// The program that protobuf's conformance runner drives: it takes length-prefixed requests on standard input
// and answers each. JSON is left to protobuf-es; everything binary goes through the codec under test.
// Its arguments are the file of a descriptor set and, to test the fallback, "--fallback".
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type Message,
  toJsonString,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { readSync, writeSync } from "node:fs";
import { CompiledCodec, FallbackCodec } from "../../../grpc/codec/codec.ts";
import { type Codec, CodecError } from "../../../grpc/codec/mod.ts";

const [set, kind] = Deno.args;
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, Deno.readFileSync(set!)));
const requests = codecOf("conformance.ConformanceRequest");
const responses = codecOf("conformance.ConformanceResponse");

interface Request extends Message {
  payload: { case?: string; value?: unknown };
  requestedOutputFormat: number;
  messageType: string;
  testCategory: number;
}

// conformance.WireFormat and conformance.TestCategory
const PROTOBUF = 1;
const JSON_FORMAT = 2;
const JSON_IGNORE_UNKNOWN = 3;

function codecOf(name: string): Codec {
  const desc = registry.getMessage(name);
  if (desc === undefined) throw new Error(`Cannot find message type ${name}`);
  return kind === "--fallback" ? new FallbackCodec(desc) : new CompiledCodec(desc);
}

function answer(request: Request): { case: string; value: unknown } {
  const codec = codecOf(request.messageType);
  const { desc } = codec;
  let message: Message;
  try {
    const { case: format, value } = request.payload;
    if (format === "protobufPayload") {
      const bytes = value as Uint8Array;
      message = codec.decode(bytes, 0, bytes.length);
    } else if (format === "jsonPayload") {
      message = parse(desc, value as string, request.testCategory === JSON_IGNORE_UNKNOWN);
    } else {
      return { case: "skipped", value: `${format} is not supported` };
    }
  } catch (error) {
    if (request.payload.case === "protobufPayload" && !(error instanceof CodecError)) throw error;
    return { case: "parseError", value: String(error) };
  }
  try {
    switch (request.requestedOutputFormat) {
      case PROTOBUF:
        return { case: "protobufPayload", value: codec.encode(message).slice() };
      case JSON_FORMAT:
        return { case: "jsonPayload", value: toJsonString(desc, message, { registry }) };
      default:
        return { case: "skipped", value: "the output format is not supported" };
    }
  } catch (error) {
    return { case: "serializeError", value: String(error) };
  }
}

function parse(desc: DescMessage, json: string, ignoreUnknownFields: boolean): Message {
  return fromJsonString(desc, json, { registry, ignoreUnknownFields });
}

function read(length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  for (let have = 0; have < length;) {
    const n = readSync(0, bytes, have, length - have, null);
    if (n === 0) return undefined;
    have += n;
  }
  return bytes;
}

function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(1, bytes, done, bytes.length - done);
  }
}

for (let prefix = read(4); prefix !== undefined; prefix = read(4)) {
  const bytes = read(new DataView(prefix.buffer).getUint32(0, true));
  if (bytes === undefined) break;
  const request = requests.decode(bytes, 0, bytes.length) as Request;
  let result: { case: string; value: unknown };
  try {
    result = answer(request);
  } catch (error) {
    result = { case: "runtimeError", value: String(error) };
  }
  const response = responses.encode({ result }).slice();
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, response.length, true);
  write(length);
  write(response);
}
