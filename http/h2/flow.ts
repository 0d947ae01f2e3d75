/**
 * Flow-control policy, RFC 9113 §5.2.
 *
 * Connection credit goes back on receipt, stream credit on consumption: a consumer that stops
 * stalls its own stream and nobody else's. So that a peer cannot fill memory through many stalled
 * streams at once, connection credit too waits for consumption once
 * {@linkcode MAX_UNCONSUMED_BYTES} are buffered.
 */

/** The largest window, RFC 9113 §6.9.1. */
export const MAX_WINDOW = 0x7fff_ffff;

/** The window every connection starts with, RFC 9113 §6.9.2. It only grows by WINDOW_UPDATE. */
export const INITIAL_CONNECTION_WINDOW = 65_535;

/**
 * Window each peer stream gets by default. With 64 KiB, the protocol's own default, bulk transfer
 * runs at a third of the speed; above 1 MiB nothing more is gained on one machine.
 */
export const DEFAULT_STREAM_WINDOW = 1 << 20;

/** Window the connection gets by default: many streams may move bulk data at once. */
export const DEFAULT_CONNECTION_WINDOW = 16 << 20;

/** Received bytes of one connection that may wait for their consumers before its window closes. */
export const MAX_UNCONSUMED_BYTES = 32 << 20;

/**
 * The same for the connection of a client, in windows of its streams: it opened them itself, and
 * responses it leaves unread must not stand in the way of others. Servers allow fewer streams.
 */
export const MAX_UNCONSUMED_WINDOWS = 256;

/**
 * Share of a window that is collected before WINDOW_UPDATE returns it. At one half, a sender with a
 * small window and delayed ACKs stalls; an eighth keeps it running at little cost.
 */
export const CREDIT_SHARE = 8;
