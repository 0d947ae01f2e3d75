export interface WebSocketOptions {
  readonly protocols?: readonly string[];
}
export interface WebSocketConnection {
  close(): void;
}
export function acceptWebSocket(
  _s: unknown,
  _o: WebSocketOptions,
  _f: (fields: string[]) => unknown,
): WebSocketConnection {
  throw new Error("not yet");
}
