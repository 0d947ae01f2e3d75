// The keys as a page sees them: all there are, then each change, and how long leases live.

import type { kv } from "@sluice/sluice";

/** Keys a page is given at first. */
const MAX_KEYS = 200;
/** Events in a message. */
const MAX_EVENTS = 100;
/** Leases whose time is asked for. */
const MAX_LEASES = 64;
/** Characters of a value that are shown. */
const SHOWN_LENGTH = 200;
/** Milliseconds between two questions for the time leases have left. */
const LEASE_INTERVAL_MS = 500;

/** A key as pages show it. */
interface ShownKey {
  readonly key: string;
  readonly value: string;
  readonly revision: string;
  readonly version: string;
  /** "0" for none. */
  readonly lease: string;
}

/** A change as pages show it. */
interface ShownEvent extends ShownKey {
  readonly is: "put" | "delete" | "expire";
}

/** What pages are told of keys. */
export type KeysMessage =
  | { readonly is: "keys"; readonly revision: string; readonly more: boolean; keys: ShownKey[] }
  | { readonly is: "events"; readonly events: ShownEvent[] }
  | { readonly is: "lease"; readonly lease: string; readonly left: number; readonly ttl: number };

/** Follows the keys until the signal aborts; rejects if the watch ends otherwise. */
export async function followKeys(
  keys: kv.Namespace,
  send: (message: KeysMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const leases = new Leases(keys, send);
  const all = { key: "", prefix: true } as const;
  const { kvs, more, header } = await keys.get({ ...all, limit: MAX_KEYS }, { signal });
  using watch = await keys.watch({ ...all, revision: header.revision + 1n, prevKv: true }, {
    signal,
  });
  using _leases = leases;
  const stop = () => watch[Symbol.dispose]();
  signal.addEventListener("abort", stop, { once: true });
  send({ is: "keys", revision: String(header.revision), more, keys: kvs.map(shownKey) });
  for (const kv of kvs) leases.add(kv.lease);
  for await (const { events } of watch) {
    for (let i = 0; i < events.length; i += MAX_EVENTS) {
      const some = events.slice(i, i + MAX_EVENTS);
      send({ is: "events", events: await Promise.all(some.map((event) => leases.judge(event))) });
    }
    if (signal.aborted) break;
  }
}

function shownKey(kv: kv.KeyValue): ShownKey {
  const cut = kv.value.length > SHOWN_LENGTH;
  return {
    key: kv.key,
    value: cut ? `${kv.value.slice(0, SHOWN_LENGTH)}…` : kv.value,
    revision: String(kv.modRevision),
    version: String(kv.version),
    lease: String(kv.lease),
  };
}

/** Asks how long leases live as long as there are some. */
class Leases implements Disposable {
  readonly #keys: kv.Namespace;
  readonly #send: (message: KeysMessage) => void;
  readonly #known = new Set<bigint>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #over = false;

  constructor(keys: kv.Namespace, send: (message: KeysMessage) => void) {
    this.#keys = keys;
    this.#send = send;
  }

  /** Begins to ask for a lease. */
  add(lease: bigint): void {
    if (lease === 0n || this.#known.size >= MAX_LEASES) return;
    this.#known.add(lease);
    this.#ask();
  }

  /** What an event was: a key whose lease is gone too has expired. */
  async judge({ type, kv, prevKv }: kv.WatchEvent): Promise<ShownEvent> {
    if (type === "PUT") {
      this.add(kv.lease);
      return { is: "put", ...shownKey(kv) };
    }
    const lease = prevKv?.lease ?? 0n;
    const gone = lease !== 0n && (await this.#left(lease))?.left === -1;
    return { is: gone ? "expire" : "delete", ...shownKey(kv), lease: String(lease) };
  }

  #ask(): void {
    if (this.#timer !== null || this.#over) return;
    this.#timer = setTimeout(async () => {
      await Promise.all([...this.#known].map((lease) => this.#tell(lease)));
      this.#timer = null;
      if (this.#known.size > 0) this.#ask();
    }, LEASE_INTERVAL_MS);
    // The first numbers at once.
    for (const lease of this.#known) this.#tell(lease);
  }

  async #tell(lease: bigint): Promise<void> {
    const time = await this.#left(lease);
    if (this.#over || time === null) return;
    if (time.left < 0) this.#known.delete(lease);
    else this.#send({ is: "lease", lease: String(lease), ...time });
  }

  /** Seconds left, -1 once it is gone; null if the store does not say, which is asked again later. */
  async #left(ID: bigint): Promise<{ left: number; ttl: number } | null> {
    try {
      const { TTL, grantedTTL } = await this.#keys.ttl({ ID });
      return { left: TTL, ttl: grantedTTL };
    } catch {
      return null;
    }
  }

  [Symbol.dispose](): void {
    this.#over = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
