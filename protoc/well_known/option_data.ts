/**
 * Types of a proto file as plain data, as far as options messages have parts. Numbers are those of
 * descriptor.proto.
 *
 * @module
 */

/** A message. */
export interface MessageData {
  readonly name: string;
  readonly options?: OptionsData;
  readonly fields?: readonly FieldData[];
  readonly messages?: readonly MessageData[];
  readonly enums?: readonly EnumData[];
  readonly extensionRanges?: readonly ExtensionRangeData[];
  readonly reservedRanges?: readonly RangeData[];
  readonly reservedNames?: readonly string[];
}

/** An enum. */
export interface EnumData {
  readonly name: string;
  readonly values: readonly (readonly [name: string, number: number])[];
  readonly reservedRanges?: readonly RangeData[];
}

/** A field; what it has not stands as null, or is left out at the end. */
export type FieldData = readonly [
  name: string,
  number: number,
  label: number,
  type: number,
  /** Full name of the message or enum. */
  typeName?: string | null,
  defaultValue?: string | null,
  options?: OptionsData,
];

/** Numbers of extensions. */
type ExtensionRangeData = readonly [start: number, end: number, options?: OptionsData];

/** Reserved numbers. */
export type RangeData = readonly [start: number, end: number];

/** A message's fields by number, in the order they were set. */
export type OptionsData = readonly (readonly [number: number, value: OptionData])[];

/** The value of a field: a list when it is repeated, as is the {@linkcode OptionsData} of a message. */
export type OptionData = string | number | boolean | readonly OptionData[];
