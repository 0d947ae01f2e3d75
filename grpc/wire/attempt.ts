/**
 * One attempt of a call, as its call sees it, whatever the protocol.
 *
 * @module
 */
import type { ConnectError } from "@connectrpc/connect";

/** Events of an attempt; after `onFinished`, `onUnavailable` or `onLost` there is none. */
export interface AttemptEvents {
  /** The response's first fields came. */
  onHeader(fields: readonly string[]): void;
  /** A message of `size` bytes came. */
  onMessage(message: object, size: number): void;
  /** The attempt ended with a status: null for OK. */
  onFinished(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void;
  /** There is no connection for the attempt: nothing of it was sent. */
  onUnavailable(error: Error): void;
  /** The attempt ended without a status. */
  onLost(cause: Error, error: ConnectError): void;
}

/** One attempt of a call. */
export interface Attempt {
  /** Whether something of it may have left this machine. */
  readonly begun: boolean;
  /** Resolves when there is a connection, or none is wanted any more; undefined if there is one. */
  readonly ready: Promise<void> | undefined;
  /**
   * Whether responses can be counted on only when the request side has ended; known once there is a
   * connection.
   */
  readonly halfDuplex: boolean;
  /** Bytes of the messages sent and received, compressed as they were; gRPC's own attempts tell. */
  readonly sentBytes?: number;
  readonly receivedBytes?: number;
  /**
   * Sends one message, the last with `end`. `bytes` may be overwritten once it returns. Returns a
   * promise to wait for before sending more, or undefined if there is room.
   */
  sendMessage(bytes: Uint8Array, compressed: boolean, end: boolean): Promise<void> | undefined;
  /** Ends the request side. */
  end(): void;
  /** The consumer took a message of `size` bytes. */
  took(size: number): void;
  /** Tells the server that nobody waits for the response any more. */
  abandon(): void;
}
