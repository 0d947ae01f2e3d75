/**
 * Output as etcdctl writes it: text, JSON of Go, fields, tables.
 *
 * @module
 */
import type { KeyValue } from "../key_value.ts";
import type { ResponseHeader } from "../types.ts";

/** Forms of output. */
export const FORMATS = ["simple", "json", "fields", "table"] as const;

/** A form of output. */
export type Format = (typeof FORMATS)[number];

/** JSON as Go writes it: integers of 64 bits are numbers, and `<`, `>`, `&` are escaped. */
export function goJson(value: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const text = JSON.stringify(
    value,
    (_, one) => typeof one === "bigint" ? rawJSON(String(one)) : one,
  );
  return text.replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** An object without what is empty: Go's `omitempty`. */
export function omitEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === undefined || value === 0 || value === 0n || value === "" || value === false ||
    (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

/** The header as etcd's JSON has it. */
export function headerJson(header: ResponseHeader): Record<string, unknown> {
  return omitEmpty({
    cluster_id: header.clusterId,
    member_id: header.memberId,
    revision: header.revision,
    raft_term: header.raftTerm,
  });
}

/** A key with its value as etcd's JSON has it. */
export function kvJson(kv: KeyValue): Record<string, unknown> {
  return omitEmpty({
    key: base64(kv.keyBytes),
    create_revision: kv.createRevision,
    mod_revision: kv.modRevision,
    version: kv.version,
    value: base64(kv.valueBytes),
    lease: kv.lease,
  });
}

/** Bytes in base64. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** A field: numbers and switches as they are, text in quotes. */
export function field(name: string, value: unknown): string {
  const shown = value instanceof Uint8Array
    ? goQuote(value)
    : typeof value === "string"
    ? goQuote(new TextEncoder().encode(value))
    : Array.isArray(value)
    ? `[${value.join(" ")}]`
    : String(value);
  return `"${name}" : ${shown}\n`;
}

/** The header in fields. */
export function headerFields(header: ResponseHeader): string {
  return field("ClusterID", header.clusterId) + field("MemberID", header.memberId) +
    field("Revision", header.revision) + field("RaftTerm", header.raftTerm);
}

/** A key with its value in fields; `before` stands in front of their names. */
export function kvFields(kv: KeyValue, before = ""): string {
  return field(`${before}Key`, kv.keyBytes) +
    field(`${before}CreateRevision`, kv.createRevision) +
    field(`${before}ModRevision`, kv.modRevision) + field(`${before}Version`, kv.version) +
    field(`${before}Value`, kv.valueBytes) + field(`${before}Lease`, kv.lease);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Bytes in quotes, as Go's `%q`. */
export function goQuote(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const size = sequenceSize(bytes, at);
    if (size === 0) {
      text += hexByte(bytes[at++]!);
      continue;
    }
    const c = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(at, at + size));
    at += size;
    // deno-lint-ignore no-control-regex
    text += ESCAPES[c] ?? (/[\x00-\x1f\x7f]/.test(c) ? hexByte(c.charCodeAt(0)) : c);
  }
  return `"${text}"`;
}

/** Bytes of the UTF-8 sequence that begins here; 0 if none does. */
function sequenceSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(at, at + size));
    return at + size <= bytes.length ? size : 0;
  } catch {
    return 0;
  }
}

function hexByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** Bytes in hexadecimal digits, as `--hex` shows them. */
export function hexBytes(bytes: Uint8Array): string {
  return Array.from(bytes, hexByte).join("");
}

/** A number of bytes for people. */
export function humanBytes(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const exponent = Math.min(6, Math.floor(Math.log(bytes) / Math.log(1_000)));
  const value = Math.floor(bytes / 1_000 ** exponent * 10 + 0.5) / 10;
  // Halves go to the even number, as Go writes them.
  const whole = value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);
  const unit = ["B", "kB", "MB", "GB", "TB", "PB", "EB"][exponent]!;
  return `${value < 10 ? value.toFixed(1) : whole} ${unit}`;
}

/** A table with lines around it. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]!.length))
  );
  const rule = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+\n`;
  const line = (cells: readonly string[]) => `|${cells.map((cell) => ` ${cell} `).join("|")}|\n`;
  const centred = titles.map((title, i) => {
    const gap = widths[i]! - title.length;
    return " ".repeat(Math.floor(gap / 2)) + title + " ".repeat(Math.ceil(gap / 2));
  });
  const body = rows.map((row) => line(row.map((cell, i) => cell.padStart(widths[i]!)))).join("");
  return rule + line(centred) + rule + body + (rows.length === 0 ? "" : rule);
}
