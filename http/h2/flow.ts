/**
 * Flow-control policy, RFC 9113 §5.2.
 *
 * Windows of streams bound memory, the window of the connection does not: its credit goes back on
 * receipt, stream credit on consumption, so that a consumer that stops stalls its own stream alone.
 * Every stream starts with {@linkcode START_WINDOW}. Its window grows {@linkcode GROWTH} times each
 * time its consumer took an eighth of it: after 8 KiB to 256 KiB, after 40 KiB to 1 MiB, which is like
 * TCP's slow start, only faster.
 *
 * The growth of all windows is counted, and no more than {@linkcode MAX_GROWN} at once on a
 * connection; when that is nearly used up, streams with more than their share give some back as they
 * go on. So an unread stream holds 64 KiB here, and a connection at most that for each stream and
 * {@linkcode MAX_GROWN}.
 */

/** The largest window, RFC 9113 §6.9.1. */
export const MAX_WINDOW = 0x7fff_ffff;

/** The window every connection starts with, RFC 9113 §6.9.2. It only grows by WINDOW_UPDATE. */
export const INITIAL_CONNECTION_WINDOW = 65_535;

/** Window a peer stream starts with, unless its largest is less. */
export const START_WINDOW = 64 << 10;

/**
 * Window a peer stream may grow to by default. With 64 KiB, the protocol's own default, bulk transfer
 * runs at a third of the speed; above 1 MiB nothing more is gained on one machine. Measured: uploads of
 * 1 MiB move 260 MB/s with 64 KiB, 620 to 840 with more.
 */
export const DEFAULT_STREAM_WINDOW = 1 << 20;

/** Window the connection gets by default: many streams may move bulk data at once. */
export const DEFAULT_CONNECTION_WINDOW = 16 << 20;

/** How many times larger a window gets. Doubling would cost uploads of 1 MiB one more stall. */
export const GROWTH = 4;

/** Bytes the windows of one connection's streams may have grown by, together. */
export const MAX_GROWN = 32 << 20;

/**
 * Share of a window that is collected before WINDOW_UPDATE returns it. At one half, a sender with a
 * small window and delayed ACKs stalls (measured: 2 MB/s over TLS with 128 KiB); an eighth keeps it
 * running at little cost.
 */
export const CREDIT_SHARE = 8;
