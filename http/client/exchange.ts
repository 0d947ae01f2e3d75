/**
 * One exchange as a client's connection carries it out, whatever the version.
 *
 * @module
 */
import type { FlatHeaders } from "../message/headers.ts";
import type { SocketAddress } from "../net/socket.ts";

/** A request's head as it goes out. Everything in it has been checked. */
export interface OutgoingHead {
  readonly method: string;
  readonly scheme: string;
  /** Host and port as `host` or `:authority` says them. */
  readonly authority: string;
  /** Path and query. */
  readonly target: string;
  /** Other fields, names in lower case, without framing. */
  readonly fields: FlatHeaders;
  /** Bytes of the body; 0: none; -1: not known; {@linkcode LENGTH_FROM_BODY}: as the body will show. */
  readonly length: number;
  /** Whether the connection is to end with the exchange. */
  readonly close: boolean;
}

/** Informational responses (1xx) taken before the final one. */
export const MAX_INFORMATIONAL = 32;

/** Why an upload ends with its answer. */
export const ANSWERED_EARLY = "Request was answered before it was sent whole";

/** The head waits for the body's first piece, which may be its last. */
export const LENGTH_FROM_BODY = -2;

/** A response's head. */
export interface IncomingHead {
  readonly status: number;
  readonly fields: FlatHeaders;
  /** Bytes of the body, or -1 if not known in advance. */
  readonly length: number;
}

/** Waits of an exchange, in milliseconds; 0: no limit. */
export interface ExchangeTimeouts {
  /** Until a connection takes the request. */
  readonly queueTimeout: number;
  /** From the end of the request to the head of the response. */
  readonly headTimeout: number;
  /** Between two pieces of the response's body. */
  readonly bodyTimeout: number;
  /** During which the server takes nothing of the request's body. */
  readonly writeTimeout: number;
}

/** See the module. */
export interface ClientExchange {
  readonly version: "HTTP/1.1" | "HTTP/2";
  readonly remoteAddr: SocketAddress;
  /** Whether the connection had served requests before. */
  readonly reused: boolean;
  /** Whether anything of the answer arrived. */
  readonly answered: boolean;
  /** The response's trailer fields, once the body was read to its end. */
  readonly trailers: FlatHeaders;
  /** Called once when nothing more of the request can be sent, unless it was ended. */
  onRequestOver: ((reason: Error) => void) | null;
  /** Sends a piece of the body; a promise if the caller should wait. It must not change until sent. */
  write(piece: Uint8Array): Promise<void> | undefined;
  /** Ends the request, with a last piece of the body. */
  finish(piece?: Uint8Array | null, trailers?: FlatHeaders | null): void;
  /**
   * Waits until the server asks for the body (100), answers, or `ms` pass. False if it answered: then
   * it does not want the body.
   */
  continued(ms: number): Promise<boolean>;
  /** The response's head. */
  head(): Promise<IncomingHead>;
  /** The next piece of the response's body, or null at its end. */
  read(): Promise<Uint8Array | null>;
  /** The whole body in one array, if the head told its length and nothing of it was read yet. */
  whole(): Promise<Uint8Array>;
  /**
   * The rest of the body as text if it is at hand, short and ASCII, which most answers are. Measured:
   * 500 bytes 50 ns, and 360 by way of an array and `TextDecoder`.
   */
  takeText(): string | null;
  /** Gives the exchange up: whatever waits rejects with `reason`. May be called when it is over. */
  abort(reason: Error): void;
}
