import type { Lookup, Time } from "../../http/engine.ts";
import { shownAddress } from "./address.ts";
import { resolveSrv, resolveTarget } from "./dns.ts";
import { endpointAt, type KnownEndpoint } from "./endpoint.ts";
import { EndpointFile, FILE_INTERVAL_MS } from "./file.ts";
import type { Resolution, Resolver } from "./resolver.ts";
import { type Origin, Source } from "./source.ts";
import type { Target } from "./target.ts";

/** When the names of `dns:` targets are looked up again, and resolvers that ended are asked again. */
export interface ResolveOptions {
  /**
   * Milliseconds between two look-ups while nothing is wrong: how long a server that was added stays
   * unused. `Infinity`: only when a connection ends or fails.
   * @default {30000}
   */
  readonly interval?: number;
  /**
   * Milliseconds between two look-ups at least, when connections end or fail.
   * @default {30000}
   */
  readonly minInterval?: number;
}

/** Where the servers of a client come from. */
export interface Seek {
  readonly targets: readonly Target[];
  /** A resolver of one's own; then the target, if any, says what servers are called by. */
  readonly resolver: { readonly resolve: Resolver; readonly target: string } | null;
}

/**
 * The endpoints of a client, by all its targets or its resolver. Names are looked up at the start, from
 * time to time, and when a connection ended or failed: servers may have moved. A name that is not found
 * keeps its addresses.
 */
export class Lookups {
  #sources: readonly Source[] = [];
  readonly #options: Required<ResolveOptions>;
  readonly #lookup: Lookup | undefined;
  readonly #time: Time;
  readonly #onFound: () => void;

  /** `onFound` is called when endpoints may have changed, and when some could not be found. */
  constructor(
    seek: Seek,
    options: Required<ResolveOptions>,
    lookup: Lookup | null,
    time: Time,
    onFound: () => void,
  ) {
    this.#time = time;
    this.#options = options;
    this.#lookup = lookup ?? undefined;
    this.#onFound = onFound;
    this.#take(seek);
  }

  /** Whether endpoints are being looked for where none is known. */
  get seeking(): boolean {
    return this.#sources.some(({ seeking, endpoints }) => seeking && endpoints.length === 0);
  }

  /** Why a name could not be found, if one could not. */
  get error(): Error | null {
    return this.#sources.find(({ error }) => error !== null)?.error ?? null;
  }

  /** Endpoints known now. */
  get endpoints(): readonly KnownEndpoint[] {
    const [first] = this.#sources;
    if (this.#sources.length === 1) return first!.endpoints;
    return this.#sources.flatMap(({ endpoints }) => endpoints);
  }

  /** The service config that came with them; undefined: nothing was said of it. */
  get serviceConfig(): unknown {
    return this.#sources.find((source) => source.serviceConfig !== undefined)?.serviceConfig;
  }

  /** Takes other targets. Those that stay keep their addresses. */
  retarget(targets: readonly Target[]): void {
    this.#take({ targets, resolver: null });
    this.start();
  }

  #take({ targets, resolver }: Seek): void {
    const old = new Map(this.#sources.map((source) => [source.origin.key, source]));
    const used = new Map<string, Source>();
    const origins = resolver === null
      ? targets.map((target) => this.#originOf(target))
      : [this.#originBy(resolver.resolve, targets[0], resolver.target)];
    this.#sources = origins.map((origin) => {
      const { key } = origin;
      const source = used.get(key) ?? old.get(key) ??
        new Source(origin, this.#time, this.#onFound);
      used.set(key, source);
      return source;
    });
    for (const [key, source] of old) if (!used.has(key)) source.stop();
  }

  #originBy(resolver: Resolver, named: Target | undefined, target: string): Origin {
    return {
      // No target is written so.
      key: "",
      resolver,
      target,
      names: named === undefined
        ? undefined
        : { authority: named.address.authority, tlsName: named.address.tlsName },
      endpoints: [],
      ...this.#options,
      steady: false,
      frozen: false,
    };
  }

  #originOf(target: Target): Origin {
    const file = target.kind === "file";
    const { authority, tlsName } = target.address;
    return {
      key: target.text,
      resolver: resolverOf(target, this.#lookup),
      target: target.text,
      // A certificate is checked for the name in the target, whatever it leads to.
      names: file ? undefined : { authority, tlsName },
      endpoints: target.addresses.map((address) => endpointAt(address)),
      interval: file ? FILE_INTERVAL_MS : this.#options.interval,
      minInterval: file ? FILE_INTERVAL_MS : this.#options.minInterval,
      steady: target.kind === "dns" || target.kind === "srv",
      frozen: file,
    };
  }

  /** Looks up what was not looked up yet. */
  start(): void {
    for (const source of this.#sources) if (source.endpoints.length === 0) source.start();
  }

  /** Looks up now what could not be found. */
  retry(): void {
    for (const source of this.#sources) source.retry();
  }

  /** Servers may have moved: looks them up as soon as the least interval has passed. */
  refresh(): void {
    for (const source of this.#sources) source.refresh();
  }

  /** Nothing is found any more. */
  stop(): void {
    for (const source of this.#sources) source.stop();
  }
}

/** Finds the endpoints of a target; null if they are written out. */
function resolverOf(target: Target, lookup: Lookup | undefined): Resolver | null {
  if (target.kind === "fixed") return null;
  if (target.kind === "file") {
    const file = new EndpointFile(target.address.path!);
    return async function* () {
      // Checked like anything that a resolver gives.
      yield await file.read() as Resolution;
    };
  }
  return async function* ({ signal }) {
    yield target.kind === "srv"
      ? await resolveSrv(target, signal)
      : (await resolveTarget(target, lookup, signal)).map(shownAddress);
  };
}
