import { googleApi } from "./google_api.ts";
import { texts } from "./texts.ts";

/** Import name of the schema that options are read by. */
export const DESCRIPTOR_PROTO = "google/protobuf/descriptor.proto";

/** The text of a built-in file, with its comments; undefined when there is none of this name. */
export function wellKnownText(name: string): string | undefined {
  if (Object.hasOwn(texts, name)) return texts[name];
  return Object.hasOwn(googleApi, name) ? googleApi[name] : undefined;
}

/** Names of all built-in files. */
export function wellKnownNames(): readonly string[] {
  return [...Object.keys(texts), ...Object.keys(googleApi)];
}
