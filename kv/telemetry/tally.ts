/**
 * Counts what a client does, and hands everything on to the observer of its user.
 *
 * @module
 */
import { refusePromise, tell, tellError } from "../../http/engine.ts";
import type {
  CallFollower,
  CallObserver,
  CallOutcome,
  FollowedCall,
  KvEvent,
  Observer,
} from "../observer.ts";

/** Operations counted by name; they are methods of the client, so there are fewer. */
const MAX_OPERATIONS = 256;

/** Calls of one operation since the client was made. */
export interface CallStats {
  /** Calls that began. */
  readonly calls: number;
  /** Calls that have not ended. */
  readonly running: number;
  /** Calls that failed. */
  readonly failed: number;
  /** How often they were sent: more than the calls that ended if some were tried again. */
  readonly attempts: number;
}

/** Counts of what a client did and holds: {@linkcode Client.stats}. */
export interface ClientStats {
  /** Calls by the client's method, as `put` or `auth.userAdd`. */
  readonly calls: Readonly<Record<string, CallStats>>;
  /** Events by their kind: {@linkcode KvEvent}. */
  readonly events: Readonly<Partial<Record<KvEvent["kind"], number>>>;
  /** Servers a connection was opened to or tried, and whether it is there now. */
  readonly endpoints: Readonly<Record<string, boolean>>;
  /** Watches that are open. */
  readonly watches: number;
  /** Leases that are kept alive. */
  readonly leases: number;
}

/** Counts one operation. Takes the end of each of its calls: no call needs an object of its own. */
class OperationTally implements FollowedCall {
  calls = 0;
  over = 0;
  failed = 0;
  attempts = 0;

  ended({ attempts, error }: CallOutcome): void {
    this.over++;
    this.attempts += attempts;
    if (error !== undefined) this.failed++;
  }
}

/** See the module. */
export class Tally implements CallFollower {
  readonly #outer: Partial<Observer> | undefined;
  /** Shows calls and events; null: nothing does. */
  readonly #shown: CallFollower | null;
  readonly #operations = new Map<string, OperationTally>();
  readonly #events = new Map<KvEvent["kind"], number>();
  readonly #endpoints = new Map<string, boolean>();

  constructor(outer: Partial<Observer> | undefined, shown: CallFollower | null) {
    this.#outer = outer;
    this.#shown = shown;
  }

  callStarted(operation: string): FollowedCall {
    const tally = this.#operation(operation);
    tally.calls++;
    const shown = this.#shown?.callStarted(operation);
    const outer = this.#outer?.callStarted === undefined
      ? undefined
      : begin(this.#outer, operation);
    if (outer === undefined && shown === undefined) return tally;
    return {
      headers: outer?.headers,
      ...(shown === undefined ? {} : { run: (body) => shown.run!(body) }),
      ended: (outcome) => {
        tally.ended(outcome);
        shown?.ended(outcome);
        if (outer !== undefined) tell(() => outer.ended(outcome));
      },
    };
  }

  event(event: KvEvent): void {
    this.#events.set(event.kind, (this.#events.get(event.kind) ?? 0) + 1);
    this.#shown?.event(event);
    const outer = this.#outer;
    if (outer?.event !== undefined) tell((event) => outer.event!(event), event);
  }

  /** A connection to an endpoint came, or went. */
  onConnection(endpoint: string, error: Error | null): void {
    this.#endpoints.set(endpoint, error === null);
    this.event(
      error === null
        ? { kind: "endpoint-up", endpoint }
        : { kind: "endpoint-down", endpoint, error },
    );
  }

  /** Forgets endpoints that are none any more. */
  keep(endpoints: readonly string[]): void {
    for (const one of this.#endpoints.keys()) {
      if (!endpoints.includes(one)) this.#endpoints.delete(one);
    }
  }

  /** The numbers now. */
  stats(): Omit<ClientStats, "watches" | "leases"> {
    const calls = [...this.#operations].map(([name, { calls, over, failed, attempts }]) =>
      [name, { calls, running: calls - over, failed, attempts }] as const
    );
    return {
      calls: Object.fromEntries(calls),
      events: Object.fromEntries(this.#events),
      endpoints: Object.fromEntries(this.#endpoints),
    };
  }

  #operation(name: string): OperationTally {
    let tally = this.#operations.get(name);
    if (tally === undefined) {
      tally = new OperationTally();
      if (this.#operations.size < MAX_OPERATIONS) this.#operations.set(name, tally);
    }
    return tally;
  }
}

/** A user's observer may throw: that is printed, and the call goes on unobserved. */
function begin(outer: Partial<Observer>, operation: string): CallObserver | undefined {
  try {
    const observed = outer.callStarted!(operation);
    if (observed === undefined || observed === null) return undefined;
    refusePromise("observe a call", "callStarted", observed);
    const { headers } = observed;
    // Throws here what would make the call fail.
    if (headers !== undefined) new Headers(headers);
    return { headers, ended: (outcome) => observed.ended(outcome) };
  } catch (error) {
    tellError(undefined, "The observer of a client failed", error);
    return undefined;
  }
}
