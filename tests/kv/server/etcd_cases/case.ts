/**
 * What etcd's own server tests show, asked of the store over the wire: each case has the name of the test
 * it repeats and a store of its own, which may be ended and started again.
 *
 * @module
 */
import { listen, type Store, type StoreOptions } from "../../../../kv/server/mod.ts";
import { type Answer, type Fields, Player } from "../recorded/player.ts";

/** A value of zeros. */
export const zeros = (length: number): Uint8Array => new Uint8Array(length);

/** A store and who calls it. */
export class Stage implements AsyncDisposable {
  readonly #options: StoreOptions;
  #store: Store;
  #player: Player;

  private constructor(options: StoreOptions) {
    this.#options = options;
    this.#store = listen(options);
    this.#player = new Player(this.#store.addr);
  }

  static async start(options: StoreOptions): Promise<Stage> {
    const path = await Deno.makeTempDir({ prefix: "store" });
    return new Stage({ ...options, path: `${path}/data` });
  }

  get store(): Store {
    return this.#store;
  }

  get player(): Player {
    return this.#player;
  }

  /** Ends the store and starts it again with its data. */
  async restart(options: StoreOptions = {}): Promise<void> {
    await this.#player[Symbol.asyncDispose]();
    await this.#store.close();
    this.#store = listen({ ...this.#options, ...options });
    this.#player = new Player(this.#store.addr);
  }

  /** The answer to a call. */
  ask(
    service: Parameters<Player["ask"]>[0],
    method: string,
    fields: Fields = {},
    token?: string,
  ): Promise<Answer> {
    return this.#player.ask(service, method, fields, token === undefined ? {} : { token });
  }

  put(
    key: string,
    value: string | Uint8Array = "bar",
    more: Fields = {},
    token?: string,
  ): Promise<Answer> {
    return this.ask("KV", "Put", { key, value, ...more }, token);
  }

  range(key: string, more: Fields = {}, token?: string): Promise<Answer> {
    return this.ask("KV", "Range", { key, ...more }, token);
  }

  txn(fields: Fields, token?: string): Promise<Answer> {
    return this.ask("KV", "Txn", fields, token);
  }

  lease(method: string, fields: Fields = {}, token?: string): Promise<Answer> {
    return this.ask("Lease", `Lease${method}`, fields, token);
  }

  /** Renews a lease once; gives the answer, or nothing if the stream ended. */
  async keepAlive(ID: number, token?: string): Promise<Answer> {
    const header: Record<string, string> = token === undefined ? {} : { token };
    const stream = await this.#player.open("Lease", "LeaseKeepAlive", header);
    try {
      await stream.send({ ID });
      return (await stream.answers(1, { quiet: 0 }))[0] ?? await stream.ended;
    } finally {
      await stream.close();
    }
  }

  /** Adds users with a role and a permission each, and root; then asks for names. */
  async users(
    ...users: readonly (readonly [name: string, kind: number, key: string, end: string])[]
  ): Promise<void> {
    const auth = (method: string, fields: Fields) => this.ask("Auth", method, fields);
    for (const [name, permType, key, rangeEnd] of users) {
      await auth("UserAdd", { name, password: "pw" });
      await auth("RoleAdd", { name: `${name}-role` });
      await auth("UserGrantRole", { user: name, role: `${name}-role` });
      const perm = { permType, key, rangeEnd };
      await auth("RoleGrantPermission", { name: `${name}-role`, perm });
    }
    await auth("UserAdd", { name: "root", password: "pw" });
    await auth("RoleAdd", { name: "root" });
    await auth("UserGrantRole", { user: "root", role: "root" });
    await auth("AuthEnable", {});
  }

  /** A token. */
  async login(name: string): Promise<string> {
    return (await this.ask("Auth", "Authenticate", { name, password: "pw" })).token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#player[Symbol.asyncDispose]();
    await this.#store.close();
    await Deno.remove(this.#options.path!.replace(/\/data$/, ""), { recursive: true });
  }
}

/** Registers a case under the name of etcd's test. */
export function storeCase(
  name: string,
  run: (stage: Stage, t: Deno.TestContext) => Promise<void>,
  options: StoreOptions = {},
): void {
  Deno.test(name, async (t) => {
    await using stage = await Stage.start({
      ...options,
      limits: { bcryptCost: 4, ...options.limits },
    });
    await run(stage, t);
  });
}
