import type { FieldBlock } from "../hpack/mod.ts";
import type { AbuseLimits } from "./abuse.ts";
import type { RequestHead } from "./head.ts";
import type { StreamRecord } from "./stream_record.ts";

/** Limits one side of a connection sets the other. */
export interface ConnectionOptions {
  /** Peer streams open at once, those reset while their handler still runs included. @default {250} */
  readonly maxConcurrentStreams?: number;
  /**
   * Bytes of DATA a peer stream may send ahead of its consumer at most: streams begin with 65536, and
   * are allowed more as their data are read. @default {1048576}
   */
  readonly streamWindow?: number;
  /** Bytes of DATA that may be on their way on all streams together. @default {16777216} */
  readonly connectionWindow?: number;
  /** Bytes of a header list as RFC 9113 §6.5.2 counts them. @default {65536} */
  readonly maxHeaderListSize?: number;
  /** Fields in one block. @default {2048} */
  readonly maxFields?: number;
  /** Budgets against abuse. */
  readonly abuse?: AbuseLimits;
}

/** Called for the requests a server's connection receives. */
export interface RequestEvents {
  /** A stream was opened. Null refuses it (REFUSED_STREAM): the peer may send it again. */
  accept?(head: RequestHead, block: FieldBlock, end: boolean): StreamRecord | null;
  /** A request came that is over the header limits: answer it. Null resets the stream. */
  acceptOversize?(block: FieldBlock): StreamRecord | null;
  /** A request was refused because it breaks the rules. */
  onMalformed?(reason: string): void;
}

/** Called by a connection for its session. */
export interface ConnectionEvents {
  /** There is output: write `writer.out` soon. */
  wantWrite(): void;
  /** The peer's SETTINGS came; how many streams may be open may have changed. */
  onSettings?(): void;
  /** A stream is gone and was told so: its place is free. */
  onStreamClosed?(): void;
  /** The peer wants no new streams. */
  onGoAway?(code: number, debug: Uint8Array): void;
}
