/**
 * Parts that calls of a client share, as calls see them.
 *
 * @module
 */
import type { Time } from "../../http/engine.ts";
import type { Candidate } from "../balancing/picker.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import type { FollowedClientCall } from "../telemetry/client_call.ts";
import type { Encoding } from "../wire/compression.ts";
import type { Method } from "../wire/method.ts";
import type { CallOptions } from "./call_options.ts";
import type { Policies } from "./policies.ts";
import type { Waiting, Wanted } from "./waiting_calls.ts";

/** A connection, or several that look like one. */
export interface Connected {
  /** Encodings the server has said it does not understand. */
  readonly refusedEncodings: Set<Encoding>;
}

/** A call's place among those that wait for a connection. */
export type Place = Waiting<Connected & Candidate>;

/** Where calls get their connections. */
export interface Connections {
  /** A connection for a call, now, or later: then `wanted` is told. `after` has just refused it. */
  acquire(wanted: Wanted<Connected>, after: Connected | null): Connected | Place;
  /**
   * Begins an attempt: `timeout` milliseconds for the server, or 0 for no limit; `encoding` if it may
   * send compressed messages; `previous` attempts may have run. Null, with nothing sent, if there is no
   * room.
   *
   * @throws {TypeError} If the user's metadata cannot be sent.
   * @throws {ConnectError} RESOURCE_EXHAUSTED if they are more than the server takes.
   */
  begin(
    connected: Connected,
    method: Method,
    timeout: number,
    encoding: Encoding | null,
    previous: number,
    options: CallOptions,
    maxReceiveSize: number,
    events: AttemptEvents,
  ): Attempt | null;
}

/** Parts and settings that all calls of a client share. */
export interface CallHost {
  /** Clock and timers of the client. */
  readonly time: Time;
  readonly channel: Connections;
  /** Policies of the service config; null: there is none, and none will come. */
  readonly policies: Policies | null;
  /** Bytes of a response; null: the user gave no limit. */
  readonly maxReceiveSize: number | null;
  /** Bytes of a request. */
  readonly maxSendSize: number;
  /** Bytes of the requests that are kept of one call, so that they can be sent again. */
  readonly maxKept: number;
  /** Whether large requests are compressed. */
  readonly compress: boolean;
  /** Bytes from which on they are large. */
  readonly compressMinSize: number;
  /** Follows a call that begins; undefined: nobody does. */
  readonly follow: ((method: Method) => FollowedClientCall) | undefined;
  /** Encoding of requests that are compressed. */
  readonly encoding: Encoding;
}
