/** Header fields, flat: name, value, name, value and so on. Names in lower case, one octet a character. */
export type Fields = string[];

/**
 * A decoded header block. Equal blocks may be one object (see `BlockCache`), so treat it as immutable
 * but for `note`.
 */
export class FieldBlock {
  /** Name, value, name, value and so on, as they were on the wire. */
  readonly fields: readonly string[];
  /**
   * Size of the whole field section in octets (RFC 9113 §6.5.2): name, value and 32 for each field,
   * those that were left out included.
   */
  readonly size: number;
  /** Whether the block was over a limit of the decoder; `fields` then ends before the first field too many. */
  readonly truncated: boolean;
  /** Room for what the owner works out once for all equal blocks. Lives as long as they share the object. */
  note: unknown = undefined;

  /** `fields` is kept, not copied. */
  constructor(fields: readonly string[], size: number, truncated: boolean) {
    this.fields = fields;
    this.size = size;
    this.truncated = truncated;
  }
}
