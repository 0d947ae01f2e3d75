/**
 * Kinds of nodes, fields and labels, by the numbers of google/protobuf/descriptor.proto.
 *
 * @module
 */

/** Kinds of nodes; the same words for every kind of symbol. */
export const NodeKind = {
  package: "package",
  message: "message",
  field: "field",
  oneof: "oneof",
  enum: "enum",
  enumValue: "enumValue",
  service: "service",
  method: "method",
} as const;

/** Numbers of `google.protobuf.FieldDescriptorProto.Type`. */
export const FieldType = {
  /** Not known before linking: the name may be that of a message or of an enum. */
  unresolved: 0,
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  group: 10,
  message: 11,
  bytes: 12,
  uint32: 13,
  enum: 14,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
} as const;

/** True when `type` fields hold messages (also as groups). */
export function isMessageType(type: number): boolean {
  return type === FieldType.message || type === FieldType.group;
}

/** Numbers of `google.protobuf.FieldDescriptorProto.Label`. */
export const Label = {
  /** Not written; fields of complete files always have one. */
  none: 0,
  optional: 1,
  required: 2,
  repeated: 3,
} as const;

/** Numbers of `google.protobuf.SymbolVisibility`. */
export const Visibility = {
  unset: 0,
  local: 1,
  export: 2,
} as const;
