// What a page may ask for: checked before anything is done.

/** Bounds of what a page sends. */
export const COMMAND_LIMITS = {
  /** Bytes of a message. */
  messageBytes: 16 << 10,
  /** Characters of a key. */
  keyLength: 200,
  /** Characters of a value. */
  valueLength: 4_000,
  /** Seconds a key may live. */
  ttl: 3_600,
} as const;

/** Something to do. */
export type Command =
  | {
    readonly do: "put";
    readonly key: string;
    readonly value: string;
    readonly ttl: number | null;
  }
  | { readonly do: "delete"; readonly key: string }
  | { readonly do: "renew"; readonly lease: bigint }
  | { readonly do: "take" | "release" | "write"; readonly contender: number };

/** A message of a page. Its number, by which it is answered, may be good where the rest is not. */
export interface Parsed {
  readonly id: number | null;
  readonly command: Command | Error;
}

/** Reads a message; never throws. */
export function parseCommand(data: unknown, contenders: number): Parsed {
  let id: number | null = null;
  try {
    if (typeof data !== "string") throw new TypeError("Cannot read a message that is not text");
    const message: unknown = JSON.parse(data);
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      throw new TypeError("Cannot read a message that is no object");
    }
    const fields = new Map<string, unknown>(Object.entries(message));
    id = whole(fields, "id", 0, Number.MAX_SAFE_INTEGER);
    return { id, command: commandOf(fields, contenders) };
  } catch (error) {
    return { id, command: error instanceof Error ? error : new Error(String(error)) };
  }
}

function commandOf(fields: Map<string, unknown>, contenders: number): Command {
  const what = fields.get("do");
  switch (what) {
    case "put": {
      const ttl = fields.get("ttl") === null || fields.get("ttl") === undefined
        ? null
        : whole(fields, "ttl", 1, COMMAND_LIMITS.ttl);
      const value = text(fields, "value", 0, COMMAND_LIMITS.valueLength);
      return { do: what, key: key(fields), value, ttl };
    }
    case "delete":
      return { do: what, key: key(fields) };
    case "renew": {
      const lease = text(fields, "lease", 1, 19);
      if (!/^[1-9]\d*$/.test(lease) || BigInt(lease) >= 2n ** 63n) {
        throw new TypeError(
          `Cannot renew as lease must be a positive number: it is ${shown(lease)}`,
        );
      }
      return { do: what, lease: BigInt(lease) };
    }
    case "take":
    case "release":
    case "write":
      return { do: what, contender: whole(fields, "contender", 0, contenders - 1) };
    default:
      throw new TypeError(
        `Cannot do ${shown(what)}: put, delete, renew, take, release and write are known`,
      );
  }
}

function key(fields: Map<string, unknown>): string {
  return text(fields, "key", 1, COMMAND_LIMITS.keyLength);
}

function text(fields: Map<string, unknown>, name: string, least: number, most: number): string {
  const value = fields.get(name);
  if (typeof value === "string" && value.length >= least && value.length <= most) {
    // Half of a character, which UTF-8 cannot carry, would come back as another.
    if (value.isWellFormed()) return value;
    throw new TypeError(`Cannot take the ${name} as it is no well-formed text`);
  }
  const current = typeof value === "string" ? `${value.length} characters` : shown(value);
  throw new TypeError(`The ${name} must have ${least} to ${most} characters: it is ${current}`);
}

function whole(fields: Map<string, unknown>, name: string, least: number, most: number): number {
  const value = fields.get(name);
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) {
    return Number(value);
  }
  throw new TypeError(
    `The ${name} must be a whole number from ${least} to ${most}: it is ${shown(value)}`,
  );
}

/** A value as a message shows it, shortened. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
