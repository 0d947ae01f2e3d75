import type { MessageError } from "../message/message_error.ts";
import type { Socket } from "../net/socket.ts";
import type { Time } from "../time/time.ts";
import type { ServerLimits } from "./limits.ts";
import type { ServerStream } from "./stream.ts";

/** The server, as its connections of either version see it. */
export interface ExchangeHost {
  readonly limits: Required<ServerLimits>;
  /** The clock and the timers of the connections. */
  readonly time: Time;
  /** Serves one exchange. Never rejects; undefined if it is over already. */
  handle(stream: ServerStream): Promise<void> | undefined;
  /** Called when a request that could not be read was refused. */
  onBadRequest?(error: MessageError, socket: Socket): void;
  /** Called when trailers were left out, as the client does not take so many. */
  onDropped?(error: unknown, stream: ServerStream): void;
}
