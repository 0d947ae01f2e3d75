/**
 * Calls as they were recorded: what is asked as a plain message, and the answer in the form of the
 * record, which another client read: names as in the proto files, 64 bits as text, bytes as Latin-1.
 *
 * @module
 */
import { delay } from "@std/async";
import type { DescMessage } from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { schemaFile } from "../../../../kv/schema.ts";
import { textOfKey } from "../../../../kv/server/store/key_text.ts";
import { bytes } from "../programs.ts";

const SERVICES = {
  KV: "kv",
  Lease: "lease",
  Watch: "watch",
  Maintenance: "maintenance",
  Auth: "auth",
  Cluster: "cluster",
  Lock: "lock",
  Election: "election",
} as const;

/** Name of a service. */
export type ServiceName = keyof typeof SERVICES;

/** Fields of a message. */
export type Fields = Readonly<Record<string, unknown>>;

/** An answer in the form of the record. */
// deno-lint-ignore no-explicit-any
export type Answer = any;

/** Fields that later versions have added. */
const ADDED: ReadonlySet<string> = new Set([
  "hash_revision",
  "storageVersion",
  "dbSizeQuota",
  "downgradeInfo",
  "authRevision",
]);

function valueOf(field: DescMessage["fields"][number], value: unknown): unknown {
  if (value instanceof Uint8Array) return textOfKey(value);
  if (typeof value === "bigint") return `${value}`;
  if (Array.isArray(value)) {
    const message = field.fieldKind === "list" && field.listKind === "message"
      ? field.message
      : undefined;
    return value.map((one) =>
      one instanceof Uint8Array
        ? textOfKey(one)
        : message === undefined
        ? one
        : recordOf(message, one)
    );
  }
  if (field.fieldKind === "message") {
    return value === undefined ? null : recordOf(field.message, value as Fields);
  }
  if (field.fieldKind === "enum") {
    return field.enum.values.find(({ number }) => number === value)?.name ?? value;
  }
  return value;
}

/** A message in the form of the record. Of headers only the revision is kept. */
export function recordOf(desc: DescMessage, message: Fields): Answer {
  if (desc.name === "ResponseHeader") return { revision: `${message["revision"]}` };
  const fields: Record<string, unknown> = {};
  for (const field of desc.fields) {
    if (ADDED.has(field.name)) continue;
    if (field.oneof === undefined) {
      fields[field.name] = valueOf(field, message[field.localName]);
      continue;
    }
    const one = message[field.oneof.localName] as { readonly case?: string; value?: unknown };
    if (one.case !== field.localName) continue;
    fields[field.name] = valueOf(field, one.value);
    fields[field.oneof.name] = field.name;
  }
  return fields;
}

/** A message with its texts as bytes where the field has bytes, and its numbers as 64 bits. */
export function messageOf(desc: DescMessage, fields: Fields): Fields {
  const message: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const field = desc.fields.find((one) => one.localName === name || one.name === name);
    if (field === undefined) throw new Error(`${desc.typeName} has no ${name}`);
    const inner = field.message;
    const one = (value: unknown): unknown => {
      if (inner !== undefined) return messageOf(inner, value as Fields);
      if (typeof value === "number" && field.fieldKind !== "enum") {
        return field.scalar !== undefined && [3, 4, 16, 18].includes(field.scalar)
          ? BigInt(value)
          : value;
      }
      return field.scalar === 12 && typeof value === "string" ? bytes(value) : value;
    };
    const made = Array.isArray(value) ? value.map(one) : one(value);
    if (field.oneof === undefined) message[field.localName] = made;
    else message[field.oneof.localName] = { case: field.localName, value: made };
  }
  return message;
}

/** Milliseconds in which an answer that should not come would. */
const QUIET_MS = 60;

/** Milliseconds for an answer that should come. */
const PATIENCE_MS = 30_000;

/** A stream of both. */
interface OpenStream {
  readonly send: (fields: Fields) => Promise<void>;
  /** The answers, once there are so many and no more come. */
  readonly answers: (count: number, options?: { readonly quiet?: number }) => Promise<Answer[]>;
  readonly close: () => Promise<void>;
  /** The error the stream ends with, or nothing. */
  readonly ended: Promise<Answer>;
}

/** Plays calls on a server. */
export class Player implements AsyncDisposable {
  readonly #conn: grpc.Conn;
  readonly #services: Readonly<Record<string, grpc.DynamicService>>;
  readonly #endpoint: string;

  /** Calls `endpoint`; messages of 1 KiB and more are compressed if `compress` says so. */
  constructor(endpoint: string, compress = false) {
    this.#endpoint = endpoint;
    this.#conn = grpc.newClient({ targets: [endpoint], compress, maxReceiveSize: 64 << 20 });
    this.#services = Object.fromEntries(
      Object.entries(SERVICES).map((
        [name, file],
      ) => [name, grpc.newService(this.#conn, schemaFile(file), name)]),
    );
  }

  /** The address that is called. */
  get endpoint(): string {
    return this.#endpoint;
  }

  #method(service: ServiceName, method: string) {
    return schemaFile(SERVICES[service]).services[0]!.methods.find(({ name }) => name === method)!;
  }

  /** The answer to a unary call, or its error. */
  async ask(
    service: ServiceName,
    method: string,
    fields: Fields = {},
    options: { readonly token?: string; readonly timeout?: number } = {},
  ): Promise<Answer> {
    const { input, output } = this.#method(service, method);
    const { token, timeout } = options;
    try {
      const answer = await this.#services[service]![method]!(messageOf(input, fields), {
        ...(token === undefined ? {} : { headers: new Headers({ token }) }),
        ...(timeout === undefined ? {} : { timeout }),
      });
      return recordOf(output, answer);
    } catch (error) {
      if (!(error instanceof grpc.ConnectError)) throw error;
      return { code: error.code, msg: error.rawMessage };
    }
  }

  /** The messages of a server's stream, as they are asked for. */
  async *read(service: ServiceName, method: string, fields: Fields = {}): AsyncGenerator<Answer> {
    const { input, output } = this.#method(service, method);
    for await (const one of await this.#services[service]![method]!(messageOf(input, fields))) {
      yield recordOf(output, one);
    }
  }

  /** The messages of a server's stream. */
  async collect(service: ServiceName, method: string, fields: Fields = {}): Promise<Answer[]> {
    const all: Answer[] = [];
    for await (const one of this.read(service, method, fields)) all.push(one);
    return all;
  }

  /** Opens a stream of both. */
  async open(
    service: ServiceName,
    method: string,
    header: Record<string, string> = {},
  ): Promise<OpenStream> {
    const { input, output } = this.#method(service, method);
    const stream = await this.#services[service]![method]!({ headers: new Headers(header) });
    const seen: Answer[] = [];
    let over = false;
    const ended = (async () => {
      for await (const one of stream) seen.push(recordOf(output, one));
    })().catch((error) => ({ code: error.code, msg: error.rawMessage })).finally(() => {
      over = true;
    });
    return {
      send: (fields: Fields): Promise<void> => stream.write(messageOf(input, fields)),
      async answers(count, options = {}): Promise<Answer[]> {
        const end = performance.now() + PATIENCE_MS;
        while (!over && seen.length < count && performance.now() < end) await delay(2);
        await delay(options.quiet ?? QUIET_MS);
        return [...seen];
      },
      async close(): Promise<void> {
        stream.close();
        await ended;
      },
      ended,
    };
  }

  /**
   * Creates watches and runs `work`; gives what the stream told in the short form of the record, once it
   * told as much as is expected.
   */
  async watch(
    creates: readonly Fields[],
    expected: readonly unknown[],
    work: (send: (fields: Fields) => Promise<void>) => Promise<unknown> = () => Promise.resolve(),
    header: Record<string, string> = {},
  ): Promise<Answer[]> {
    const stream = await this.open("Watch", "Watch", header);
    let made = 0;
    for (const create of creates) {
      await stream.send({ createRequest: create });
      await stream.answers(++made, { quiet: 0 });
    }
    await work(stream.send);
    const answers = await stream.answers(expected.length - 1);
    await stream.close();
    return [...answers.map(shortOf), "END"];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#conn.close();
  }
}

function eventOf({ type, kv, prev_kv: before }: Answer): string {
  const { key, value, mod_revision: at, create_revision: created, version, lease } = kv;
  const previous = before === null ? "" : ` prev=${before.value}@${before.mod_revision}`;
  return `${type} ${key}=${value}@${at} c${created} v${version} l${lease}${previous}`;
}

/** A response of a watch in the short form of the record. */
function shortOf(answer: Answer): Answer {
  const { header, created, canceled, events } = answer;
  const { watch_id: id, compact_revision: compacted, cancel_reason: reason } = answer;
  return {
    rev: header.revision,
    id,
    ...(created ? { created } : {}),
    ...(canceled ? { canceled } : {}),
    ...(compacted === "0" ? {} : { "compact_revision": compacted }),
    ...(reason === "" ? {} : { "cancel_reason": reason }),
    ...(events.length === 0 ? {} : { events: events.map(eventOf) }),
  };
}
