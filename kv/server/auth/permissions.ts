// Permissions of a role, and the keys they amount to for a user.

import { type Interval, intervalOf } from "../store/key_text.ts";

/** Numbers of `authpb.KeyPermission.Type`. */
const READ = 0;
const WRITE = 1;

/** Purpose of a permission. */
export type Access = "read" | "write";

/** `authpb.KeyPermission`. */
export interface KeyPermission {
  readonly permType: number;
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

/** Whether a permission names keys at all. */
export function namesKeys({ key, rangeEnd }: KeyPermission): boolean {
  if (key.length === 0) return false;
  const { key: first, end } = intervalOf(key, rangeEnd);
  return end === null || first < end;
}

const grants = ({ permType }: KeyPermission, access: Access): boolean =>
  access === "read" ? permType !== WRITE : permType !== READ;

/** Joins ranges that touch; the result is in order. */
function union(intervals: Interval[]): Interval[] {
  const sorted = intervals.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  const joined: Interval[] = [];
  for (const next of sorted) {
    const last = joined.at(-1);
    if (last === undefined || (last.end !== null && last.end < next.key)) joined.push(next);
    else if (last.end !== null && (next.end === null || next.end > last.end)) {
      joined[joined.length - 1] = { key: last.key, end: next.end };
    }
  }
  return joined;
}

/** The keys someone may read and write. */
export class Permitted {
  readonly #ranges: Readonly<Record<Access, readonly Interval[]>>;

  /** All that the permissions allow together: ranges of several roles may join. */
  constructor(permissions: readonly KeyPermission[]) {
    const rangesFor = (access: Access): Interval[] =>
      union(
        permissions.filter((one) => grants(one, access))
          .map(({ key, rangeEnd }) => intervalOf(key, rangeEnd)),
      );
    this.#ranges = { read: rangesFor("read"), write: rangesFor("write") };
  }

  /** Whether a whole range may be read or written. */
  allows(access: Access, { key, end }: Interval): boolean {
    return this.#ranges[access].some((range) =>
      range.key <= key &&
      // A range that ends before it begins is permitted where it begins.
      (range.end === null || (key < range.end && end !== null && end <= range.end))
    );
  }
}
