// Limits of a store.

/** Limits of a store; the defaults are etcd's. */
export interface StoreLimits {
  /** Bytes of a request. @default {1572864} */
  readonly maxRequestBytes: number;
  /** Operations in each list of a transaction. @default {128} */
  readonly maxTxnOps: number;
  /** Seconds: leases live at least so long. @default {2} */
  readonly minLeaseTtl: number;
  /** Watches on one stream. @default {100000} */
  readonly maxWatches: number;
  /** Calls at once on one connection, watches and keep-alives among them. @default {1000} */
  readonly maxStreams: number;
  /** Connections open at once. @default {10000} */
  readonly maxConnections: number;
  /** Tokens that are good at once. @default {100000} */
  readonly maxTokens: number;
  /** Bytes of memory for keys with their history and for leases; beyond, both are refused. @default {2147483648} */
  readonly quotaBytes: number;
  /** Milliseconds a token is good for after its last use. @default {300000} */
  readonly tokenTtl: number;
  /** Cost of one guess at a password, as bcrypt counts it: one more is twice the work. @default {10} */
  readonly bcryptCost: number;
  /** Milliseconds between notices of progress on idle watches that ask for them. @default {600000} */
  readonly progressInterval: number;
}

/** The limits of etcd. */
export const DEFAULT_LIMITS: StoreLimits = {
  maxRequestBytes: 1.5 * 1024 * 1024,
  maxTxnOps: 128,
  minLeaseTtl: 2,
  maxWatches: 100_000,
  maxStreams: 1_000,
  maxConnections: 10_000,
  maxTokens: 100_000,
  quotaBytes: 2 * 1024 * 1024 * 1024,
  tokenTtl: 300_000,
  bcryptCost: 10,
  progressInterval: 600_000,
};
