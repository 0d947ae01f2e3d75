import type { DescFile, DescService, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { closestName } from "../../http/engine.ts";
import { type Conn, isConn, newClient } from "../client/conn.ts";
import { type DynamicService, newService } from "../client/service.ts";
import { type ReflectOptions, reflectSettings } from "./options.ts";
import { type Found, ServerSchema } from "./server_schema.ts";

/** A service that was learnt, or why it was not. */
type Learnt = { readonly desc: DescService } | { readonly error: ConnectError };

/**
 * A server's services, learnt from its reflection. Closing it closes the connection that it made, and
 * none that it was given.
 */
export class Reflected implements AsyncDisposable {
  /** The connection that calls go over. */
  readonly conn: Conn;
  /** Full names of the services that the server lists, in its order. */
  readonly names: readonly string[];
  /**
   * A client of each service, under its full name, and under its short one where no other service has
   * that. Reading one whose descriptors could not be had throws the reason.
   */
  // deno-lint-ignore no-explicit-any
  readonly services: Readonly<Record<string, any>>;

  readonly #own: boolean;
  readonly #schema: ServerSchema;
  readonly #learnt: ReadonlyMap<string, Learnt>;
  readonly #clients: Map<string, DynamicService> = new Map();

  private constructor(
    conn: Conn,
    own: boolean,
    schema: ServerSchema,
    learnt: ReadonlyMap<string, Learnt>,
  ) {
    this.conn = conn;
    this.names = [...learnt.keys()];
    this.#own = own;
    this.#schema = schema;
    this.#learnt = learnt;
    this.services = this.#record();
  }

  /** See {@linkcode reflect}. */
  static async from(server: string | Conn, options: ReflectOptions = {}): Promise<Reflected> {
    const settings = reflectSettings(options);
    const own = typeof server === "string";
    if (!own && !isConn(server)) {
      throw new TypeError("Cannot reflect without a server: give its host:port, or newClient()'s");
    }
    const conn = own ? newClient({ targets: [server] }) : server;
    try {
      const schema = new ServerSchema(conn, settings);
      const names = settings.services ?? await schema.services(settings.signal);
      const found = await schema.filesOf(names, settings.signal);
      const learnt = new Map(names.map((name, i) => [name, learntOf(name, found[i]!)]));
      return new Reflected(conn, own, schema, learnt);
    } catch (error) {
      if (own) await conn.close();
      throw error;
    }
  }

  #record(): Reflected["services"] {
    const record: Record<string, DynamicService> = Object.create(null);
    const define = (key: string, name: string): void => {
      if (key in record) return;
      Object.defineProperty(record, key, {
        enumerable: key === name,
        get: () => this.service(name),
      });
    };
    for (const name of this.names) define(name, name);
    const short = Map.groupBy(this.names, (name) => name.slice(name.lastIndexOf(".") + 1));
    for (const [key, [name, other]] of short) if (other === undefined) define(key, name!);
    return record;
  }

  /**
   * The client of a service, by its full name or a short one that no other has.
   *
   * @throws {ConnectError} NOT_FOUND if it was not learnt, or why its descriptors could not be had.
   */
  service(name: string): DynamicService {
    const desc = this.descriptor(name);
    let client = this.#clients.get(desc.typeName);
    if (client === undefined) {
      client = newService(this.conn, desc);
      this.#clients.set(desc.typeName, client);
    }
    return client;
  }

  /**
   * The descriptor of a service, by its full name or a short one that no other has.
   *
   * @throws {ConnectError} As {@linkcode service}.
   */
  descriptor(name: string): DescService {
    const found = this.#learnt.get(name) ?? this.#byShortName(name);
    if ("error" in found) throw found.error;
    return found.desc;
  }

  #byShortName(name: string): Learnt {
    const fits = this.names.filter((full) => full.endsWith(`.${name}`));
    if (fits.length === 1) return this.#learnt.get(fits[0]!)!;
    const near = closestName(name, this.names);
    const why = fits.length > 1
      ? `as it stands for ${fits.join(" and ")}: give the full name`
      : near !== null
      ? `as the server does not list it: did you mean "${near}"?`
      : `as the server does not list it: it lists ${this.names.slice(0, 20).join(", ") || "none"}`;
    throw new ConnectError(`Cannot find service "${name}" ${why}`, Code.NotFound);
  }

  /** All types of the descriptors that were fetched so far, for `toJson`, `fromJson` and extensions. */
  get registry(): Registry {
    return this.#schema.registry;
  }

  /**
   * Fetches the file that declares a message, enum, service, method, field, value or extension, with
   * all that it imports; what was fetched before is not asked for again. Its types are then in
   * {@linkcode registry}. Rejects with `ConnectError`.
   */
  fileOf(symbol: string): Promise<DescFile> {
    return this.#schema.fileOf(symbol);
  }

  /** Fetches a file by its name, as imports give it. Rejects with `ConnectError`. */
  file(name: string): Promise<DescFile> {
    return this.#schema.file(name);
  }

  /**
   * Fetches all extensions of a message that the server knows, and gives their full names; the
   * extensions are then in {@linkcode registry}. Rejects with `ConnectError`.
   */
  async extensionsOf(message: string): Promise<readonly string[]> {
    return (await this.#schema.extensionsOf(message)).map(({ typeName }) => typeName);
  }

  /** Closes the connection, if this made it; calls on it then end with CANCELLED. */
  async close(): Promise<void> {
    if (this.#own) await this.conn.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function learntOf(name: string, found: Found): Learnt {
  if ("error" in found) return found;
  const desc = found.file.services.find(({ typeName }) => typeName === name);
  if (desc !== undefined) return { desc };
  const error = new ConnectError(`Cannot find service "${name}": it is none`, Code.NotFound);
  return { error };
}

/**
 * Learns a server's services from the server, and gives clients of them: with no generated code, and
 * no `.proto` file. The server must offer reflection, v1 or v1alpha; {@linkcode reflection} adds it to
 * this library's.
 *
 * A server's descriptors are not trusted: they are checked as a compiler checks them, and what they may
 * cost is bounded by {@linkcode ReflectLimits}.
 *
 * @param server `host:port` without TLS, or a connection, which stays the caller's.
 * @returns Rejects with `ConnectError`: UNIMPLEMENTED if the server has no reflection, INTERNAL if it
 * tells what cannot be, RESOURCE_EXHAUSTED past a limit; and with `TypeError` on wrong options.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Loader } from "@sluice/sluice/protoc";
 * import { listen, reflect, reflection, Registrar } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar();
 * reflection(registrar);
 * const file = new Loader().load(
 *   `syntax = "proto3";
 *    package hello;
 *    service Greeter { rpc Hello(Name) returns (Name); }
 *    message Name { string name = 1; }`,
 *   "hello.proto",
 * );
 * registrar.register(file, { Hello: ({ name }) => ({ name: `Hello ${name}` }) });
 * await using server = listen({ addr: "127.0.0.1:0", registrar });
 *
 * await using reflected = await reflect(server.addr);
 * const { Greeter } = reflected.services;
 * assertEquals((await Greeter.Hello({ name: "Ada" })).name, "Hello Ada");
 * ```
 */
export function reflect(server: string | Conn, options?: ReflectOptions): Promise<Reflected> {
  return Reflected.from(server, options);
}
