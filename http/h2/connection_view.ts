/**
 * An HTTP/2 connection and its streams as they stand, for those who look on.
 *
 * @module
 */
import type { OpenStreams } from "./stream_map.ts";
import type { StreamRecord } from "./stream_record.ts";

/** One stream. Windows are bytes that may be sent before more are allowed. */
interface StreamView {
  readonly id: number;
  /** RFC 9113 §5.1. */
  readonly state: string;
  /** Of what this side sends. */
  readonly sendWindow: number;
  /** Of what the peer sends. */
  readonly receiveWindow: number;
  /** Bytes that wait for windows or the socket. */
  readonly unsent: number;
  /** Bytes received that nobody took yet. */
  readonly unread: number;
}

/** A connection. */
export interface ConnectionView {
  readonly sendWindow: number;
  readonly receiveWindow: number;
  readonly unread: number;
  /** How many streams are open. */
  readonly open: number;
  /** Some of them. */
  readonly streams: readonly StreamView[];
}

function stateOf({ local, remote }: StreamRecord): string {
  const over = (half: string): boolean => half === "ended" || half === "failed";
  if (over(local)) return over(remote) ? "closed" : "half-closed (local)";
  return over(remote) ? "half-closed (remote)" : "open";
}

function viewOf(stream: StreamRecord): StreamView {
  return {
    id: stream.id,
    state: stateOf(stream),
    sendWindow: stream.sendWindow,
    receiveWindow: stream.receive.left,
    unsent: stream.unsent,
    unread: stream.receive.unconsumed,
  };
}

/** Some of the open streams, the oldest first. */
export function streamViews(open: OpenStreams, most: number): StreamView[] {
  return open.list().sort((a, b) => a.id - b.id).slice(0, most).map(viewOf);
}
