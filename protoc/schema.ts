import type { DescFile, DescMessage } from "@bufbuild/protobuf";
import type { MessageIn, MessageName } from "./infer/loaded.ts";

/**
 * A message of a loaded file, for `create`, `fromJson` and the like of protobuf-es. If the file's text
 * was given as a literal, the compiler knows the message's fields.
 *
 * @example Make a message
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { create } from "@bufbuild/protobuf";
 * import { Loader, messageOf } from "@sluice/sluice/protoc";
 *
 * const text = 'syntax = "proto3"; message Point { int32 x = 1; }' as const;
 * const file = new Loader().load(text, "point.proto");
 * const point = create(messageOf(file, "Point"), { x: 3 });
 * assertEquals(point.x, 3);
 * ```
 *
 * @param name The full name, or the name inside of the file's package, such as `Shelf.Label`.
 * @throws {TypeError} If the file has no such message.
 */
export function messageOf<File extends DescFile, Name extends MessageName<File>>(
  file: File,
  name: Name,
): MessageIn<File, Name> {
  const { package: scope } = file.proto;
  const full = scope === "" ? name : `${scope}.${name}`;
  const found = find(file.messages, name) ?? find(file.messages, full);
  if (found !== undefined) return found as MessageIn<File, Name>;
  const names = file.messages.map((message) => message.name).join(", ") || "none";
  throw new TypeError(`Cannot find message "${name}" in ${file.proto.name}: it has ${names}`);
}

function find(messages: readonly DescMessage[], typeName: string): DescMessage | undefined {
  for (const message of messages) {
    if (message.typeName === typeName) return message;
    if (typeName.startsWith(`${message.typeName}.`)) return find(message.nestedMessages, typeName);
  }
  return undefined;
}
