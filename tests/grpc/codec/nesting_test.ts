import { assertEquals, assertThrows } from "@std/assert";
import { CompiledCodec, FallbackCodec } from "../../../grpc/codec/codec.ts";
import { typeOf } from "./schema.ts";

/** Both codecs refuse the value with this text. */
function refused(type: string, message: unknown, text: string): void {
  const desc = typeOf(type);
  for (const codec of [new CompiledCodec(desc), new FallbackCodec(desc)]) {
    const error = assertThrows(() => codec.encode(message as object), TypeError);
    assertEquals(error.message, `Cannot encode ${text}`);
  }
}

Deno.test("encode() refuses messages, lists, maps and JSON that contain themselves", () => {
  const deep = "messages are nested more than 250 deep, does one contain itself?";
  const small: Record<string, unknown> = { name: "x" };
  small.next = small;
  refused("proto3.Small", small, `proto3.Small${".next".repeat(6).slice(0, 28)}…: ${deep}`);
  const json: Record<string, unknown> = {};
  json.a = [json];
  refused("proto3.Known", { aStruct: json }, `proto3.Known.aStruct["a"][0]["a"][0]["a"…: ${deep}`);
  const all: Record<string, unknown> = {};
  all.selfList = [all];
  refused("proto3.All", all, `proto3.All.selfList[0].selfList[0].selfL…: ${deep}`);
  const maps: Record<string, unknown> = {};
  maps.stringSelf = { a: maps };
  refused("proto3.Maps", maps, `proto3.Maps.stringSelf["a"].stringSelf["…: ${deep}`);
});

Deno.test("encode() refuses a message that fills the stack", () => {
  const overflow = (): string => overflow();
  const message = {
    get name() {
      return overflow();
    },
  };
  const error = assertThrows(
    () => new CompiledCodec(typeOf("proto3.Small")).encode(message),
    TypeError,
  );
  assertEquals(
    error.message,
    "Cannot encode proto3.Small: its messages are nested too deep for the stack",
  );
});

Deno.test("encode() takes messages nested up to the limit", () => {
  const codec = new CompiledCodec(typeOf("proto3.Small"));
  const nested = (levels: number) => {
    let message: Record<string, unknown> = {};
    for (let i = 0; i < levels; i++) message = { next: message };
    return message;
  };
  codec.encode(nested(250));
  assertThrows(() => codec.encode(nested(251)), TypeError);
});
