/**
 * How clients use fields, by `google.api.field_behavior`.
 * {@link https://google.aip.dev/203}
 *
 * @module
 */
import type { DescField } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Number of the extension of `google.protobuf.FieldOptions`. */
const FIELD_BEHAVIOR = 1052;
const REQUIRED = 2;
const OUTPUT_ONLY = 3;
const INPUT_ONLY = 4;
/** `field_presence` of a field that proto2 calls required. */
const LEGACY_REQUIRED = 3;

/** Use of a field by clients. */
interface FieldBehavior {
  readonly required: boolean;
  readonly readOnly: boolean;
  readonly writeOnly: boolean;
}

/** Reads the behavior of a field from the bytes of its options. */
export function behaviorOf(field: DescField): FieldBehavior {
  const values = new Set<number>();
  for (const { no, wireType, data } of field.proto.options?.$unknown ?? []) {
    if (no !== FIELD_BEHAVIOR) continue;
    const reader = new BinaryReader(data);
    if (wireType !== WireType.LengthDelimited) values.add(reader.int32());
    else {for (const end = reader.uint32() + reader.pos; reader.pos < end;) {
        values.add(reader.int32());
      }}
  }
  return {
    required: values.has(REQUIRED) || field.presence === LEGACY_REQUIRED,
    readOnly: values.has(OUTPUT_ONLY),
    writeOnly: values.has(INPUT_ONLY),
  };
}
