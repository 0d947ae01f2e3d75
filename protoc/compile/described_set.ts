import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { LIMITS } from "../limits.ts";
import { describedFile, faultOf } from "./described.ts";
import type { ParsedFile } from "./file.ts";

/** `FileDescriptorSet.file`, and `FileDescriptorResponse.file_descriptor_proto` of reflection. */
const FILE = 1;
/** `ServerReflectionResponse.file_descriptor_response`. */
const REFLECTED = 4;

/**
 * The files of a set by name: a `google.protobuf.FileDescriptorSet` (of protoc, or an image of buf), an
 * answer of gRPC reflection, or a list of serialized `google.protobuf.FileDescriptorProto`.
 *
 * @throws {ProtoError} If it is none, passes a limit, or has two files of one name.
 */
export function describedSet(set: Uint8Array | readonly Uint8Array[]): Map<string, ParsedFile> {
  const list = set instanceof Uint8Array ? readSet(set, true) : set;
  if (list.length > LIMITS.maxFiles) {
    throw faultOf("", `Set has ${list.length} files, more than the limit of ${LIMITS.maxFiles}.`);
  }
  const length = list.reduce((sum, bytes) => sum + bytes.length, 0);
  checkLength("Set", length, LIMITS.maxSetBytes);
  const files = new Map<string, ParsedFile>();
  for (const bytes of list) {
    checkLength("File of the set", bytes.length, LIMITS.maxFileBytes);
    const file = describedFile(bytes);
    const { name } = file.file;
    const other = files.get(name)?.bytes;
    // Answers of reflection may hold a file again.
    if (other && !(other.length === bytes.length && other.every((byte, i) => byte === bytes[i]))) {
      throw faultOf(name, "Set has two files of this name, which differ.");
    }
    files.set(name, file);
  }
  return files;
}

function checkLength(what: string, length: number, limit: number): void {
  if (length <= limit) return;
  throw faultOf("", `${what} has ${length} bytes, more than the limit of ${limit}.`);
}

function readSet(bytes: Uint8Array, mayBeAnswer: boolean): Uint8Array[] {
  checkLength("Set", bytes.length, LIMITS.maxSetBytes);
  const files: Uint8Array[] = [];
  let answer: Uint8Array | undefined;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const isBytes = wireType === WireType.LengthDelimited;
      if (number === FILE && isBytes) files.push(reader.bytes());
      else if (number === REFLECTED && isBytes && mayBeAnswer) answer = reader.bytes();
      else reader.skip(wireType, number);
    }
  } catch {
    throw faultOf("", "Set is no serialized FileDescriptorSet.");
  }
  return answer ? readSet(answer, false) : files;
}
