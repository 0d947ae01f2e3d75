/** What a library must be able to do to be measured. */
export interface BenchClient {
  /** Makes one unary call. */
  unary(item: { text: string; count?: number; body?: Uint8Array }): Promise<unknown>;
  /** Reads a stream of `count` messages to its end. */
  serverStream(item: { text: string; count: number }): Promise<void>;
  /** Sends and receives `messages` on one stream, `window` of them on their way at a time. */
  bidi(text: string, window: number, messages: number): Promise<void>;
  /** Opens `count` connections or streams and keeps them. */
  idle(kind: "streams" | "connections", count: number): Promise<void>;
}

/** Runs the commands that come on standard input. */
export function serveCommands(client: BenchClient): Promise<void>;
