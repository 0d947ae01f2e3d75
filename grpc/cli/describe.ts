import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { messageJson } from "./message_json.ts";
import { messageText } from "./message_text.ts";
import type { Operation } from "./operation.ts";
import { protoSource } from "./proto_source.ts";
import { writeProtoset } from "./protoset.ts";
import type { Described, Schema } from "./schema.ts";
import { templateOf } from "./template.ts";

/** Prints what a name stands for as proto source; without a name, all services. */
export async function describe(operation: Operation): Promise<number> {
  const { setup: { source }, symbol, given, world } = operation;
  const symbols = symbol === undefined
    ? [...await source.services()].sort()
    : [symbol.replace(/^\./, "")];
  if (symbols.length === 0) {
    await world.print("Server returned an empty list of exposed services\n");
  }
  for (const name of symbols) await world.print(await described(name, source, operation));
  await writeProtoset(source, symbols, given, world);
  return 0;
}

async function described(name: string, source: Schema, { given }: Operation): Promise<string> {
  const found = await source.find(name);
  const [shown, what] = partOf(found, name);
  const full = found.kind === "enum_value" ? `${found.parent.typeName}.${found.name}` : name;
  let text = `${full} is ${what}:\n${protoSource(shown)}\n`;
  if (shown.kind === "message" && given.has("msg-template")) {
    text += `\nMessage template:\n${template(shown, source, given.text("format") ?? "json")}\n`;
  }
  return text;
}

function template(desc: DescMessage, { registry }: Schema, format: string): string {
  const message = templateOf(desc);
  return format === "text"
    ? messageText(desc, message, registry)
    : messageJson(desc, message, { registry, emitDefaults: true });
}

/** Gives what is shown for something, and what it is: groups and entries of maps are shown as their field. */
function partOf(desc: Described, name: string): [shown: Described, what: string] {
  switch (desc.kind) {
    case "message": {
      const group = groupField(desc);
      return group === undefined ? [desc, "a message"] : [group, "the type of a group field"];
    }
    case "field":
      if (desc.fieldKind === "map" && desc.proto.typeName === `.${name}`) {
        return [desc, "the entry type for a map field"];
      }
      return [desc, desc.proto.type === 10 ? "a group field" : "a field"];
    case "extension":
      return [desc, desc.proto.type === 10 ? "a group field" : "an extension"];
    case "oneof":
      return [desc, "a one-of"];
    case "enum":
      return [desc, "an enum"];
    case "enum_value":
      return [desc, "an enum value"];
    case "service":
      return [desc, "a service"];
    case "rpc":
      return [desc, "a method"];
  }
}

/** The field that a message is the group of. */
function groupField(desc: DescMessage): DescField | undefined {
  return desc.parent?.fields.find((field) => field.proto.type === 10 && field.message === desc);
}
