import type { Endpoint } from "../resolve/endpoint.ts";
import type { ConnState } from "./state.ts";

/** A client at one moment. */
export interface ConnStats {
  /** Connectivity of all servers together. */
  readonly state: ConnState;
  /** Name of the policy that chooses servers. */
  readonly policy: string;
  /** Calls that run. */
  readonly activeCalls: number;
  /** Calls that wait for a connection, or for room on one. */
  readonly waitingCalls: number;
  /** The servers, in the order they were found; one for all with `pick_first`. */
  readonly servers: readonly ServerStats[];
  /** Why servers could not be found the last time, or null. */
  readonly resolverError: Error | null;
}

/** A server at one moment. */
export interface ServerStats {
  /** The endpoint as it was given. */
  readonly endpoint: Endpoint;
  /** Connectivity, health and ejection included. */
  readonly state: ConnState;
  /** The address that is connected to, as an endpoint names it; null without a connection. */
  readonly address: string | null;
  /** Connections to it. */
  readonly connections: number;
  /** Calls that run on them. */
  readonly activeCalls: number;
  /** Whether it gets no calls for a while because too many failed. */
  readonly ejected: boolean;
  /** Why it gets no calls, or null. */
  readonly error: Error | null;
}
