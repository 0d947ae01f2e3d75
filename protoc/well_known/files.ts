import { texts } from "./texts.ts";

/** Import name of the schema that options are read by. */
export const DESCRIPTOR_PROTO = "google/protobuf/descriptor.proto";

/** The text of a built-in file, with its comments; undefined when there is none of this name. */
export function wellKnownText(name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

/** Names of all built-in files. */
export function wellKnownNames(): readonly string[] {
  return Object.keys(texts);
}
