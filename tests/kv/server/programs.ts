/**
 * Random programs of requests, and both sides' answers to them in a form that can be compared.
 *
 * @module
 */
import { grpc } from "@sluice/sluice";
import { schemaFile } from "../../../kv/schema.ts";
import { textOfKey } from "../../../kv/server/store/key_text.ts";
import type {
  CompareMessage,
  DeleteMessage,
  PutMessage,
  RangeMessage,
  RequestOpMessage,
  TxnMessage,
  WatchMessage,
} from "../../../kv/wire.ts";
import type { Random } from "../../../support/random.ts";

/** Files of the services, by their names. */
const FILES = {
  KV: "kv",
  Lease: "lease",
  Maintenance: "maintenance",
  Watch: "watch",
  Auth: "auth",
  Cluster: "cluster",
  Lock: "lock",
  Election: "election",
} as const;

/** A call of a unary method: which, with what, and by whom. */
export interface Step {
  readonly service: keyof typeof FILES;
  readonly method: string;
  readonly request: Record<string, unknown>;
  /** The user who calls, with the token of the last `Authenticate`; without, nobody. */
  readonly as?: string;
}

/** Bytes of a text of one code unit a byte. */
export const bytes = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** Keys at the edges of ranges and of bytes among them. */
const KEYS = ["a", "a\0", "aa", "ab", "b", "b\xff", "b\xff\xff", "c", "\0", "\xff", "\xff\xff"];
const ENDS = [...KEYS, "", "", "", "\0", "a\xff", "d"];
const LEASES = [1n, 77n, -5n, 2n ** 63n - 1n, 4242n];

/** Makes requests, some of them wrong. */
export class ProgramMaker {
  readonly #random: Random;
  /** The revision the store has about. */
  revision = 1;

  constructor(random: Random) {
    this.#random = random;
  }

  #chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  #key(): Uint8Array {
    return this.#chance(1) ? bytes("") : bytes(this.#random.pick(KEYS));
  }

  #value(): Uint8Array {
    return bytes(this.#random.pick(["", "v", "w", "value", "\0\xff", "v\0"]));
  }

  #revision(): bigint {
    const r = this.#random.below(100);
    if (r < 60) return 0n;
    if (r < 63) return -1n;
    return BigInt(this.#random.below(this.revision + 2));
  }

  #bound(): bigint {
    return this.#chance(90) ? 0n : BigInt(this.#random.below(this.revision + 2) - 1);
  }

  put(): PutMessage {
    const ignoreValue = this.#chance(8);
    const ignoreLease = this.#chance(8);
    return {
      key: this.#key(),
      value: ignoreValue && this.#chance(90) ? bytes("") : this.#value(),
      lease: (ignoreLease && this.#chance(90)) || this.#chance(75) ? 0n : this.#random.pick(LEASES),
      prevKv: this.#chance(30),
      ignoreValue,
      ignoreLease,
    };
  }

  range(): RangeMessage {
    return {
      key: this.#key(),
      rangeEnd: bytes(this.#random.pick(ENDS)),
      limit: this.#chance(60) ? 0n : BigInt(this.#random.below(6) - 1),
      revision: this.#revision(),
      sortOrder: this.#random.below(3),
      sortTarget: this.#random.below(5),
      serializable: this.#chance(20),
      keysOnly: this.#chance(15),
      countOnly: this.#chance(15),
      minModRevision: this.#bound(),
      maxModRevision: this.#bound(),
      minCreateRevision: this.#bound(),
      maxCreateRevision: this.#bound(),
    };
  }

  delete(): DeleteMessage {
    return {
      key: this.#key(),
      rangeEnd: bytes(this.#chance(70) ? "" : this.#random.pick(ENDS)),
      prevKv: this.#chance(30),
    };
  }

  #compare(): CompareMessage {
    const number = (): bigint => BigInt(this.#random.below(this.revision + 2));
    const [target, targetUnion] = this.#random.pick<
      () => [number, CompareMessage["targetUnion"]]
    >([
      () => [0, { case: "version", value: BigInt(this.#random.below(4)) }],
      () => [1, { case: "createRevision", value: this.#chance(50) ? 0n : number() }],
      () => [2, { case: "modRevision", value: this.#chance(50) ? 0n : number() }],
      () => [3, { case: "value", value: this.#value() }],
      () => [4, { case: "lease", value: this.#chance(50) ? 0n : this.#random.pick(LEASES) }],
    ])();
    return {
      result: this.#random.below(4),
      // Now and then the number beside it is for another target.
      target: this.#chance(3) ? this.#random.below(5) : target,
      key: this.#key(),
      rangeEnd: bytes(this.#chance(70) ? "" : this.#random.pick(ENDS)),
      targetUnion,
    };
  }

  #op(depth: number): RequestOpMessage {
    const r = this.#random.below(100);
    if (r < 40) return { request: { case: "requestPut", value: this.put() } };
    if (r < 70) return { request: { case: "requestRange", value: this.range() } };
    if (r < 85 || depth === 0) {
      const value = this.delete();
      // A deletion without end and, behind it, a put that keeps the old value: etcd ends with a panic.
      const rangeEnd = value.rangeEnd[0] === 0 ? bytes("\xff\xff\xff") : value.rangeEnd;
      return { request: { case: "requestDeleteRange", value: { ...value, rangeEnd } } };
    }
    return { request: { case: "requestTxn", value: this.txn(depth - 1) } };
  }

  txn(depth = 2): TxnMessage {
    const list = <T>(most: number, make: () => T): T[] =>
      Array.from({ length: this.#random.below(most + 1) }, make);
    return {
      compare: list(2, () => this.#compare()),
      success: list(3, () => this.#op(depth)),
      failure: list(3, () => this.#op(depth)),
    };
  }

  /** The next request. */
  step(): Step {
    const kv = (method: string, request: unknown): Step => ({
      service: "KV",
      method,
      request: request as Record<string, unknown>,
    });
    const lease = (method: string, request: Record<string, unknown>): Step => ({
      service: "Lease",
      method,
      request,
    });
    const r = this.#random.below(100);
    if (r < 30) return kv("Put", this.put());
    if (r < 60) return kv("Range", this.range());
    if (r < 70) return kv("DeleteRange", this.delete());
    if (r < 90) return kv("Txn", this.txn());
    if (r < 92) {
      const revision = BigInt(this.#chance(80) ? this.revision - 10 : this.revision + 1);
      return kv("Compact", { revision, physical: this.#chance(50) });
    }
    const ID = this.#random.pick(LEASES);
    if (r < 95) return lease("LeaseGrant", { ID, TTL: this.#chance(5) ? 9_000_000_001n : 9_000n });
    if (r < 96) return lease("LeaseRevoke", { ID });
    if (r < 99) return lease("LeaseTimeToLive", { ID, keys: true });
    return lease("LeaseLeases", {});
  }
}

/** A stream of any messages. */
interface OpenStream extends AsyncIterable<Record<string, unknown>> {
  write(request: unknown): Promise<void>;
  close(): void;
}

/** A store to send programs to. */
export class Target implements AsyncDisposable {
  readonly #conn: grpc.Conn;
  readonly #services: Record<string, grpc.DynamicService>;
  /** Tokens of users, as they last logged in. */
  readonly #tokens = new Map<string, string>();

  constructor(endpoint: string) {
    this.#conn = grpc.newClient({ targets: [endpoint] });
    this.#services = Object.fromEntries(
      Object.entries(FILES).map((
        [name, file],
      ) => [name, grpc.newService(this.#conn, schemaFile(file), name)]),
    );
  }

  #options(as: string | undefined): grpc.CallOptions {
    if (as === undefined) return {};
    return { headers: new Headers({ token: this.#tokens.get(as) ?? "unknown.1" }) };
  }

  /** The answer to a request, or its error, as text. */
  async ask({ service, method, request, as }: Step, signal?: AbortSignal): Promise<string> {
    try {
      const options = { ...this.#options(as), ...(signal === undefined ? {} : { signal }) };
      const response = await this.#services[service]![method]!(request, options);
      if (method === "Authenticate") this.#tokens.set(String(request["name"]), response.token);
      return shown(response);
    } catch (error) {
      if (!(error instanceof grpc.ConnectError)) throw error;
      return `${error.code} ${error.rawMessage}`;
    }
  }

  /** The id of the member that answers. */
  async memberId(): Promise<bigint> {
    const { header } = await this.#services["Maintenance"]!["Status"]!({});
    return header.memberId;
  }

  /** Opens a stream of requests and responses. */
  async open(service: Step["service"], method: string, as?: string): Promise<OpenStream> {
    return await this.#services[service]![method]!(this.#options(as));
  }

  /** The events of everything there is from a revision on, up to and with another. */
  async history(from: number, to: number, more: Record<string, unknown> = {}): Promise<string[]> {
    const stream = await this.#services["Watch"]!["Watch"]!();
    const request: WatchMessage = {
      requestUnion: {
        case: "createRequest",
        value: {
          key: bytes("\0"),
          rangeEnd: bytes("\0"),
          startRevision: BigInt(from),
          progressNotify: false,
          filters: [],
          prevKv: true,
          fragment: false,
          ...more,
        },
      },
    };
    await stream.write(request);
    const events: string[] = [];
    try {
      for await (const response of stream) {
        if (response.canceled) {
          return [`canceled ${response.compactRevision} ${response.cancelReason}`];
        }
        for (const event of response.events) {
          events.push(shown(event));
          if (Number(event.kv.modRevision) >= to) return events;
        }
      }
    } finally {
      stream.close();
    }
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#conn.close();
  }
}

/** Identities and clocks, and what is not the same on two machines. */
const UNEQUAL: ReadonlySet<string> = new Set([
  "$typeName",
  "TTL",
  "hashRevision",
  "token",
  "memberID",
]);

/** A message as text: of headers the revision alone, keys of a lease and leases in order. */
export function shown(message: unknown): string {
  return JSON.stringify(message, (name, value) => {
    if (UNEQUAL.has(name)) return undefined;
    if (name === "header") return value === undefined ? null : { revision: `${value.revision}` };
    if (typeof value === "bigint") return `${value}`;
    if (value instanceof Uint8Array) return escape(textOfKey(value));
    if ((name === "keys" || name === "leases" || name === "alarms") && Array.isArray(value)) {
      return value.map((one) => shown(one)).sort();
    }
    return value;
  });
}
