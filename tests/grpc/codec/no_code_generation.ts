// Run by codec_test.ts in a process that forbids code generation from strings.
import { create, toBinary } from "@bufbuild/protobuf";
import { assertEquals, assertThrows } from "@std/assert";
import { codecFor } from "../../../grpc/codec/mod.ts";
import { typeOf } from "./schema.ts";

assertThrows(() => new Function("return 1"), EvalError);
const desc = typeOf("proto3.Small");
const codec = codecFor(desc);
const init = { name: "abc", id: "5", next: { id: 7 } };
const bytes = codec.encode(init);
assertEquals(bytes, toBinary(desc, create(desc, init)));
const decoded = codec.decode(bytes, 0, bytes.length);
assertEquals(decoded, create(desc, { name: "abc", id: 5n, next: { id: 7n } }));
// deno-lint-ignore no-console
console.log(codec.constructor.name, "ok");
