/**
 * Finds where two decoded values differ: in prototype, in the own properties they have, or in a value. Stricter
 * than `assertEquals`: 0 is not -0, and a property that is undefined is not one that is absent.
 */
export function difference(a: unknown, b: unknown, path = "$"): string | undefined {
  if (Object.is(a, b)) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return `${path}: ${String(a)} (${typeof a}) is not ${String(b)} (${typeof b})`;
  }
  const [pa, pb] = [Object.getPrototypeOf(a), Object.getPrototypeOf(b)];
  if (pa !== pb) return `${path}: the prototypes differ`;
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    const same = a.length === b.length && a.every((byte, i) => byte === b[i]);
    return same ? undefined : `${path}: bytes [${a}] are not [${b}]`;
  }
  const [ka, kb] = [Object.keys(a).sort().join(), Object.keys(b).sort().join()];
  if (ka !== kb) return `${path}: has ${ka} and not ${kb}`;
  for (const key of Object.keys(a)) {
    const inner: string | undefined = difference(
      (a as Record<string, unknown>)[key],
      (b as Record<string, unknown>)[key],
      `${path}.${key}`,
    );
    if (inner !== undefined) return inner;
  }
  return undefined;
}
