import type { ConnectionOptions } from "./connection_options.ts";
import type { KeepaliveOptions } from "./keepalive.ts";

/** Waits of one HTTP/2 connection, in milliseconds. 0 means without limit. */
export interface SessionOptions extends ConnectionOptions {
  /** Until the peer's preface and SETTINGS have come. @default {10000} */
  readonly prefaceTimeout?: number;
  /** Until our SETTINGS are acknowledged. @default {10000} */
  readonly settingsTimeout?: number;
  /** During which the peer takes nothing of what is sent to it. @default {30000} */
  readonly writeTimeout?: number;
  /** Bytes a second it must take on average, with `writeTimeout` to spare. @default {0} */
  readonly minWriteRate?: number;
  /** Without any stream open. @default {0} */
  readonly idleTimeout?: number;
  /** PING to find dead peers. Off unless given. */
  readonly keepalive?: KeepaliveOptions;
}
