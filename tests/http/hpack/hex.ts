/** The octets that `hex` spells; spaces and line breaks are for the reader. */
export function fromHex(hex: string): Uint8Array {
  const digits = hex.replaceAll(/\s/g, "");
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => {
    return parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  });
}

/** The octets, two digits each. */
export function toHex(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
}
