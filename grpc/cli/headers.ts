/**
 * Metadata on the command line, and as it is shown.
 *
 * @module
 */
import { type Given, UsageError } from "./arguments.ts";
import type { World } from "./world.ts";

/** A name and a value. */
type Header = [name: string, value: string];

/** Metadata to send: `name: value` each; those whose names end in `-bin` are base64. */
export function metadataOf(names: readonly string[], given: Given, world: World): Header[] {
  const headers: Header[] = [];
  for (const text of names.flatMap((name) => given.list(name))) {
    if (text === "") continue;
    const line = given.has("expand-headers") ? expanded(text, world) : text;
    const colon = line.indexOf(":");
    const name = (colon < 0 ? line : line.slice(0, colon)).trim().toLowerCase();
    const value = colon < 0 ? "" : line.slice(colon + 1).trim();
    try {
      const header: Header = [name, name.endsWith("-bin") ? standardBase64(value) : value];
      new Headers([header]);
      headers.push(header);
    } catch {
      throw new UsageError(`bad header ${JSON.stringify(text)}: write it as 'name: value'`);
    }
  }
  return headers;
}

function expanded(line: string, world: World): string {
  return line.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = world.env(name);
    if (value !== undefined) return value;
    throw new UsageError(`the environment has no ${name}, which a header wants: ${line}`);
  });
}

/** Base64 in any of its forms as it is sent; anything else is taken for the bytes themselves. */
function standardBase64(text: string): string {
  const standard = text.replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "");
  if (/^[A-Za-z0-9+/]*$/.test(standard) && standard.length % 4 !== 1) return standard;
  return new TextEncoder().encode(text).toBase64();
}

/** Metadata on lines, by name. */
export function headerLines(headers: readonly Header[]): string {
  const lines = headers.flatMap(([name, value]) =>
    // Values of one name come joined.
    (name.endsWith("-bin") ? value.split(/, ?/).map(padded) : [value])
      .map((one) => `${name}: ${one}`)
  );
  return lines.length === 0 ? "(empty)" : lines.sort(byName).join("\n");
}

function byName(a: string, b: string): number {
  const [left, right] = [a.slice(0, a.indexOf(":")), b.slice(0, b.indexOf(":"))];
  return left < right ? -1 : left > right ? 1 : 0;
}

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
