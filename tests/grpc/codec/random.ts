import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** A seeded source of numbers and of values that fit a message type. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to but not including `n` (mulberry32). */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor(((t ^ (t >>> 14)) >>> 0) / 2 ** 32 * n);
  }

  chance(part: number): boolean {
    return this.below(1000) < part * 1000;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** An object of fields for `create` and `encode`. */
  init(desc: DescMessage, depth = 3): Record<string, unknown> {
    const init: Record<string, unknown> = {};
    // Few fields of large types at a time, so that every field is last and first of some message.
    const part = Math.min(0.7, 12 / desc.members.length);
    for (const member of desc.members) {
      const required = member.kind === "field" && member.presence === 3;
      if (!required && !this.chance(part)) {
        if (this.chance(0.1)) init[member.localName] = this.pick([null, undefined]);
        continue;
      }
      if (member.kind === "oneof") {
        const field = this.pick(member.fields);
        if (field.fieldKind === "message" && depth === 0) continue;
        init[member.localName] = { case: field.localName, value: this.value(field, depth) };
      } else if (member.fieldKind === "list") {
        const length = this.pick([0, 1, 2, 5, 40]);
        if (member.listKind === "message" && depth === 0) continue;
        init[member.localName] = Array.from(
          { length: member.listKind === "message" ? length % 4 : length },
          () => this.value(member, depth),
        );
      } else if (member.fieldKind === "map") {
        init[member.localName] = this.map(member, depth);
      } else if (member.fieldKind !== "message" || depth > 0 || required) {
        init[member.localName] = this.value(member, depth);
      }
    }
    return init;
  }

  map(field: DescField & { fieldKind: "map" }, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    if (field.mapKind === "message" && depth === 0) return map;
    for (let n = this.below(5); n > 0; n--) {
      const key = String(this.scalar(field.mapKey));
      Object.defineProperty(map, key, {
        value: this.value(field, depth),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return map;
  }

  value(field: DescField, depth: number): unknown {
    if (field.message !== undefined) {
      if (
        field.message.typeName === "google.protobuf.Struct" &&
        field.parent.typeName !== "google.protobuf.Value"
      ) return this.json(depth, true);
      if (field.fieldKind === "message" && !field.oneof && isWrapperDesc(field.message)) {
        return this.scalar(field.message.fields[0]!.scalar!);
      }
      return this.init(field.message, depth - 1);
    }
    if (field.enum !== undefined) {
      const known = this.pick(field.enum.values).number;
      return field.enum.open && this.chance(0.2) ? this.scalar(ScalarType.INT32) : known;
    }
    return this.scalar(field.scalar);
  }

  json(depth: number, object = false): unknown {
    const kind = object ? 5 : this.below(depth > 0 ? 6 : 4);
    switch (kind) {
      case 0:
        return null;
      case 1:
        return this.text();
      case 2:
        return this.scalar(ScalarType.DOUBLE);
      case 3:
        return this.chance(0.5);
      case 4:
        return Array.from({ length: this.below(4) }, () => this.json(depth - 1));
      default:
        return Object.fromEntries(
          Array.from({ length: this.below(4) }, () => [this.text(), this.json(depth - 1)]),
        );
    }
  }

  text(): string {
    const unit = this.pick(["a", "ab c", "é", "\u{1f600}", "\uFEFF", "\0", "zß水🍌"]);
    if (this.chance(0.05)) return this.pick(["__proto__", "constructor", "\ud800", "x\udc00y"]);
    return unit.repeat(this.pick([0, 1, 2, 3, 11, 12, 13, 31, 47, 48, 49, 127, 128, 1500]));
  }

  bytes(length = this.pick([0, 1, 2, 31, 32, 127, 128, 700])): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  bits(n: bigint): bigint {
    let value = 0n;
    for (let i = 0n; i < n; i += 16n) value = (value << 16n) | BigInt(this.below(65536));
    return BigInt.asUintN(Number(n), value >> BigInt(this.below(Number(n))));
  }

  scalar(scalar: ScalarType): unknown {
    const edge = (...values: unknown[]) => this.pick(values);
    const some = this.chance(0.4);
    switch (scalar) {
      case ScalarType.STRING:
        return this.text();
      case ScalarType.BYTES:
        return this.bytes();
      case ScalarType.BOOL:
        return this.chance(0.5);
      case ScalarType.DOUBLE:
        return some
          ? edge(0, -0, NaN, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_VALUE)
          : (this.below(2 ** 32) - 2 ** 31) / 1000;
      case ScalarType.FLOAT:
        return some
          ? edge(0, -0, NaN, Infinity, -Infinity, 1e-45, 3.4028234663852886e38, 0.1)
          : (this.below(2 ** 32) - 2 ** 31) / 1000;
      case ScalarType.INT32:
      case ScalarType.SINT32:
      case ScalarType.SFIXED32:
        return some
          ? edge(0, -0, 1, -1, 127, 128, -128, 2 ** 31 - 1, -(2 ** 31))
          : Number(BigInt.asIntN(32, this.bits(32n)));
      case ScalarType.UINT32:
      case ScalarType.FIXED32:
        return some ? edge(0, 1, 127, 128, 2 ** 31, 2 ** 32 - 1) : Number(this.bits(32n));
      case ScalarType.INT64:
      case ScalarType.SINT64:
      case ScalarType.SFIXED64:
        return some
          ? edge(0, -0, 0n, "0", -1, "-1", 2 ** 53 - 1, -(2n ** 63n), 2n ** 63n - 1n, -64n)
          : BigInt.asIntN(64, this.bits(64n));
      case ScalarType.UINT64:
      case ScalarType.FIXED64:
        return some
          ? edge(0, 0n, "0", "1", 128n, 2 ** 53 - 1, 2n ** 63n, "18446744073709551615")
          : this.bits(64n);
    }
  }
}
