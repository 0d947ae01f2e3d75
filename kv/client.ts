import { type Conn, newClient as newConn } from "../grpc/mod.ts";
import { fair, quietIterator, quietMethods, telemetryOf, type Time } from "../http/engine.ts";
import { type Auth, authOf } from "./auth/auth.ts";
import { tokenFetcher } from "./auth/login.ts";
import { authService } from "./auth/service.ts";
import { TokenKeeper } from "./auth/token.ts";
import { Calls } from "./calls.ts";
import { type Clock, giveClock, systemTime } from "./clock.ts";
import type { Credentials } from "./credentials.ts";
import { AutoSync } from "./cluster/auto_sync.ts";
import { type Cluster, clusterOf } from "./cluster/cluster.ts";
import { clusterService } from "./cluster/service.ts";
import {
  type ClientOptions,
  endpointList,
  type Endpoints,
  type Settings,
  settingsOf,
  targetsOf,
} from "./endpoints.ts";
import type { KeyValue } from "./key_value.ts";
import { KeyspaceClient } from "./keyspace_client.ts";
import { Leases } from "./lease/leases.ts";
import { Namespace } from "./namespace.ts";
import { type Maintenance, maintenanceOf } from "./maintenance/maintenance.ts";
import { tellProgress } from "./maintenance/progress.ts";
import { MemberLinks } from "./maintenance/member_links.ts";
import { maintenanceService } from "./maintenance/service.ts";
import type { Observer } from "./observer.ts";
import {
  compactMessage,
  deleteMessage,
  getMessage,
  putMessage,
  readDelete,
  readGet,
  readHeader,
  readPut,
} from "./ops.ts";
import { type KvService, kvService, leaseService, watchService } from "./schema.ts";
import { rangeStream } from "./range_stream.ts";
import type { ScanRequest } from "./scan.ts";
import type {
  Bytes,
  CallOptions,
  CompactRequest,
  CompactResponse,
  DeleteRequest,
  DeleteResponse,
  GetRequest,
  GetResponse,
  GrantRequest,
  GrantResponse,
  Int64,
  KeepAliveResponse,
  LeasesResponse,
  PutRequest,
  PutResponse,
  RevokeRequest,
  RevokeResponse,
  TtlRequest,
  TtlResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
} from "./types.ts";
import { CallTelemetry, showsCalls } from "./telemetry/open_telemetry.ts";
import { type ClientStats, Tally } from "./telemetry/tally.ts";
import { isReadOnly, readTxn, txnMessage } from "./txn.ts";
import type { Watch } from "./watch/watch.ts";
import { Watches } from "./watch/watches.ts";

/** Parts a client is made with in place of its own. */
interface ClientParts {
  readonly time?: Time;
  readonly credentials?: Credentials;
  readonly observer?: Observer;
}

/** Where options carry them; users have no such key. */
const PARTS = Symbol("parts");

/**
 * A client of an etcd cluster. Calls run side by side on one connection an endpoint; all watches share
 * one stream, all leases another.
 *
 * Every method rejects with {@linkcode KvError}, and with `TypeError` if the request is not one. A
 * number in place of the options is the timeout in milliseconds. Promises that nobody awaits never end
 * the process.
 *
 * A call that fails is tried again (`retry` times, `retrySleep` apart) where that is safe: reads,
 * `grant` and `revoke` whenever the cluster could not be reached or had no leader, writes only when
 * the server certainly did nothing with them. A write whose fate is unknown rejects with
 * {@linkcode UnknownOutcomeError}, unless the call says that it is `idempotent`.
 */
export class Client extends KeyspaceClient implements AsyncDisposable {
  readonly #settings: Settings;
  readonly #conn: Conn;
  readonly #kv: KvService;
  readonly #leases: Leases;
  readonly #watches: Watches;
  readonly #calls: Calls;
  /** Calls without a token. */
  readonly #login: Calls;
  #endpoints: readonly string[];
  #auth: Auth | undefined;
  #cluster: Cluster | undefined;
  #maintenance: Maintenance | undefined;
  readonly #links: MemberLinks;
  readonly #tally: Tally;
  readonly #sync: AutoSync | undefined;
  #closing: Promise<void> | null = null;

  /** See {@linkcode newClient}. */
  constructor(options: ClientOptions) {
    super();
    const settings = settingsOf(options);
    const { time = systemTime, credentials, observer } =
      (options as { readonly [PARTS]?: ClientParts })[PARTS] ?? {};
    giveClock(this, time.clock);
    const shows = showsCalls(settings.observer);
    this.#settings = settings;
    this.#endpoints = [...endpointList(options.endpoints)];
    const shown = telemetryOf("make a client", shows ? true : settings.grpc.telemetry);
    const tally = this.#tally = new Tally(
      observer ?? (shows ? undefined : settings.observer),
      shown === null ? null : new CallTelemetry(shown, time.clock),
    );
    this.#conn = newConn({
      ...settings.grpc,
      onConnection: (endpoint, error) => tally.onConnection(endpoint, error),
    });
    this.#login = new Calls({ settings, time });
    const parts = {
      settings,
      time,
      credentials: credentials ?? this.#credentials(settings.auth, time.clock),
      observer: tally,
    };
    this.#calls = new Calls(parts);
    this.#links = new MemberLinks(parts);
    this.#kv = kvService(this.#conn);
    this.#leases = new Leases({
      service: leaseService(this.#conn),
      calls: this.#calls,
      onLost: settings.onLeaseLost,
    });
    this.#watches = new Watches({
      settings,
      calls: this.#calls,
      keys: this.#kv,
      service: watchService(this.#conn),
    });
    const { syncInterval } = settings;
    if (syncInterval !== Infinity) this.#sync = new AutoSync(this.cluster, syncInterval, time);
  }

  #credentials(auth: Settings["auth"], clock: Clock): Credentials | undefined {
    if (auth === undefined) return undefined;
    return new TokenKeeper(tokenFetcher(auth, this.#login, authService(this.#conn)), clock);
  }

  // ---- rooms -----------------------------------------------------------------------------------

  /** Users, roles and what they may do. */
  get auth(): Auth {
    return this.#auth ??= authOf(this.#calls, authService(this.#conn));
  }

  /** Members, and endpoints made of them. */
  get cluster(): Cluster {
    return this.#cluster ??= clusterOf({
      calls: this.#calls,
      service: clusterService(this.#conn),
      secure: this.#settings.grpc.tls !== false,
      endpoints: () => this.#endpoints,
      use: (endpoints) => this.setEndpoints(endpoints),
    });
  }

  /** Upkeep: how members are, alarms, snapshots, leadership. */
  get maintenance(): Maintenance {
    return this.#maintenance ??= maintenanceOf({
      calls: this.#calls,
      service: maintenanceService(this.#conn),
      links: this.#links,
      endpoints: () => this.#endpoints,
    });
  }

  /** Whether all endpoints say exactly how far a watch is: see {@linkcode Keyspace.tellsProgress}. */
  tellsProgress(): Promise<boolean> {
    return tellProgress(this.maintenance, this.#endpoints);
  }

  /** Counts of what this client did, and what it holds now. Costs nothing until it is asked. */
  stats(): ClientStats {
    return {
      ...this.#tally.stats(),
      watches: this.#watches.size,
      leases: this.#leases.size,
    };
  }

  /** Where calls go now. */
  get endpoints(): readonly string[] {
    return this.#endpoints;
  }

  /**
   * Takes other endpoints of the same cluster. Calls that run end where they are, watches and leases go
   * on; connections to endpoints that stay are kept.
   *
   * @throws {TypeError} If one is none, or does not go with `tls` and `auth` of the client. Nothing is
   * changed then.
   */
  setEndpoints(given: Endpoints): void {
    const { grpc: { tls }, auth } = this.#settings;
    const endpoints = endpointList(given);
    const { targets } = targetsOf(endpoints, tls, auth);
    if (this.#calls.closed) return;
    this.#conn.setTargets(targets);
    this.#endpoints = [...endpoints];
    this.#tally.keep(targets);
    this.#calls.endpoints = this.#login.endpoints = targets;
  }

  // ---- keys ------------------------------------------------------------------------------------

  /** Stores a value under a key. */
  async put(request: PutRequest, options?: number | CallOptions): Promise<PutResponse> {
    return readPut(
      await this.#calls.run("put", "once", this.#kv.Put, putMessage(request), options),
    );
  }

  /** Reads one key or a range of keys, now or at an earlier revision. */
  async get(request: GetRequest, options?: number | CallOptions): Promise<GetResponse> {
    return readGet(
      await this.#calls.run("get", "read", this.#kv.Range, getMessage(request), options),
    );
  }

  /**
   * Reads a range as the server streams it, all at one revision; servers before etcd 3.7 are read a
   * page at a time. A stream that breaks is opened again behind the last key it gave. `timeout` is for
   * each stream or page.
   *
   * @throws {TypeError} From the first read, if the request is not one.
   */
  getStream(
    request: ScanRequest,
    options?: number | CallOptions,
  ): AsyncIterableIterator<KeyValue> {
    return quietIterator(rangeStream(
      {
        calls: this.#calls,
        keys: this,
        open: this.#kv.RangeStream,
        retry: this.#settings.retry,
        retrySleep: this.#settings.retrySleep,
      },
      request,
      options,
    ));
  }

  /** Removes one key or a range of keys. */
  async delete(request: DeleteRequest, options?: number | CallOptions): Promise<DeleteResponse> {
    const message = deleteMessage(request);
    return readDelete(
      await this.#calls.run("delete", "once", this.#kv.DeleteRange, message, options),
    );
  }

  /**
   * Checks conditions and, by their outcome, carries one of two lists of operations out, all at once.
   * One that only reads is retried like a read.
   */
  async txn(request: TxnRequest, options?: number | CallOptions): Promise<TxnResponse> {
    const message = txnMessage(request);
    const kind = isReadOnly(message) ? "read" : "once";
    return readTxn(await this.#calls.run("txn", kind, this.#kv.Txn, message, options), message);
  }

  /** Drops the history before a revision. Watches that still need it end with `CompactedError`. */
  async compact(request: CompactRequest, options?: number | CallOptions): Promise<CompactResponse> {
    const message = compactMessage(request);
    return {
      header: readHeader(
        await this.#calls.run("compact", "once", this.#kv.Compact, message, options),
      ),
    };
  }

  // ---- leases ----------------------------------------------------------------------------------

  /**
   * Makes a lease and, unless `keepAlive` is false, keeps it alive until it is revoked or the client
   * closed; should that fail, `onLeaseLost` and {@linkcode Client.leaseSignal} tell. A grant that got no answer may leave a
   * lease behind, which ends by itself.
   */
  grant(request: GrantRequest, options?: number | CallOptions): Promise<GrantResponse> {
    return this.#leases.grant(request, options);
  }

  /**
   * Ends a lease: its keys are removed at once, in one revision. From the call on it is not kept alive
   * any more, whatever becomes of the call.
   */
  revoke(request: RevokeRequest, options?: number | CallOptions): Promise<RevokeResponse> {
    return this.#leases.revoke(request, options);
  }

  /** Tells how long a lease still lives, and which keys hang on it. */
  ttl(request: TtlRequest, options?: number | CallOptions): Promise<TtlResponse> {
    return this.#leases.ttl(request, options);
  }

  /** Lists every lease of the cluster. */
  leases(options?: number | CallOptions): Promise<LeasesResponse> {
    return this.#leases.list(options);
  }

  /**
   * Keeps a lease alive in the background, as `grant` does with the leases it makes: for leases made
   * elsewhere. Does nothing for a lease that is kept alive already. Resolves at once; how it goes tell
   * `onLeaseLost` and {@linkcode Client.leaseSignal}.
   */
  keepalive(ID: Int64): Promise<void> {
    return this.#leases.keepAlive(ID);
  }

  /**
   * Renews a lease once: it lives for its whole time again. Rejects with reason LEASE_NOT_FOUND if the
   * server does not know it (any more).
   */
  keepAliveOnce(ID: Int64, options?: number | CallOptions): Promise<KeepAliveResponse> {
    return this.#leases.keepAliveOnce(ID, options);
  }

  /**
   * Stops keeping a lease alive without ending it: it and its keys live until its time is over. Its
   * {@linkcode Client.leaseSignal} aborts. Does nothing for a lease that is not kept alive.
   */
  stopKeepAlive(ID: Int64): void {
    this.#leases.stopKeepAlive(ID);
  }

  /**
   * A signal that aborts when this client no longer keeps the lease alive: for the work that is done
   * under it. Its reason is a {@linkcode LeaseLostError}. It aborts no later than the server drops the
   * lease, also when the server cannot be reached.
   */
  leaseSignal(ID: Int64): AbortSignal {
    return this.#leases.signal(ID);
  }

  // ---- watches ---------------------------------------------------------------------------------

  /**
   * Follows the changes of one key or a range of keys. Resolves when the server has accepted the
   * watch; everything that happens after the call is seen. `timeout` is for that wait, `signal` ends
   * the watch whenever it aborts.
   */
  watch(request: WatchRequest, options?: number | CallOptions): Promise<Watch> {
    return this.#watches.begin(request, options);
  }

  // ---- parts -----------------------------------------------------------------------------------

  /**
   * The keys that begin with `prefix`, as a keyspace of their own: keys given to it get the prefix,
   * keys it gives have lost it, others do not exist for it. Leases are the cluster's.
   *
   * @example
   * ```ts
   * import { newClient } from "@sluice/sluice/kv";
   *
   * await using client = newClient({ endpoints: ["127.0.0.1:2379"] });
   * const app = client.namespace("app/");
   * app.prefix; // "app/": put({ key: "name", … }) stores app/name
   * ```
   */
  namespace(prefix: Bytes): Namespace {
    return new Namespace(this, prefix);
  }

  // ---- the end ---------------------------------------------------------------------------------

  /**
   * Ends all watches, stops keeping leases alive (they end when their time is over) and closes the
   * connections. Calls under way fail; later ones reject with {@linkcode ClientClosedError}. May be
   * called again.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#calls.close();
    this.#login.close();
    this.#sync?.stop();
    await Promise.all([
      this.#watches.close(),
      this.#leases.close(),
      this.#conn.close(),
      this.#links.close(),
    ]);
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

quietMethods(Client, [
  "tellsProgress",
  "put",
  "get",
  "delete",
  "txn",
  "compact",
  "grant",
  "revoke",
  "ttl",
  "leases",
  "keepalive",
  "keepAliveOnce",
  "watch",
  "close",
], fair);

/**
 * A client with some of its parts given, as tests need it: a clock of theirs, an observer.
 *
 * @internal
 */
export function clientWith(options: ClientOptions, parts: ClientParts): Client {
  return new Client({ ...options, [PARTS]: parts } as ClientOptions);
}

/**
 * Makes a client. Connections are opened by the first calls.
 *
 * @throws {TypeError} If the configuration is not one; the message says what to change.
 *
 * @example
 * ```ts
 * import { newClient } from "@sluice/sluice/kv";
 *
 * await using client = newClient({ endpoints: ["127.0.0.1:2379"], retry: 5, timeout: 5 });
 * ```
 */
export function newClient(options: ClientOptions): Client {
  return new Client(options);
}
