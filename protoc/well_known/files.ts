import { descriptorProto } from "./descriptor_proto.ts";
import { featureProtos } from "./feature_protos.ts";
import { typeProtos } from "./type_protos.ts";

/** Import name of the schema that options are read by. */
export const DESCRIPTOR_PROTO = "google/protobuf/descriptor.proto";

const texts: ReadonlyMap<string, string> = new Map([
  ...Object.entries(descriptorProto),
  ...Object.entries(featureProtos),
  ...Object.entries(typeProtos),
]);

/** The text of a built-in file; undefined when there is none of this name. */
export function wellKnownText(name: string): string | undefined {
  return texts.get(name);
}
