/**
 * Options of a store, checked.
 *
 * @module
 */
import {
  checkCallback,
  checkCount,
  checkNumber,
  checkOptions,
  checkText,
  checkTime,
  givenOptions,
  LISTEN_NAMES,
  optionNames,
} from "../../http/engine.ts";
import type { ListenOptions } from "../../http/mod.ts";
import { checkHistory, type KeptHistory } from "./auto_compaction.ts";
import { DEFAULT_LIMITS, type StoreLimits } from "./limits.ts";

/** Settings of {@linkcode listen}. Those of TLS are as in `grpc.listen`. */
export interface StoreOptions extends Partial<Omit<ListenOptions, "alpnProtos">> {
  /**
   * `host:port` to listen on, `unix:/path`, or `memory:` for clients of this process alone, without a
   * port.
   * @default {"127.0.0.1:0"}
   */
  readonly addr?: string;
  /** Name of the member. @default {"default"} */
  readonly name?: string;
  /** Folder the store is kept in. Without, it is in memory and gone at the end. */
  readonly path?: string;
  /** A snapshot to begin with, of this store or of etcd. The store must be empty. */
  readonly snapshot?: Uint8Array;
  /**
   * History that is kept: so many revisions, or what is not older than so many milliseconds. What is
   * older is compacted every few minutes. All is kept by default, within `limits.quotaBytes`.
   */
  readonly history?: KeptHistory;
  /**
   * Origins (`https://app.example`) whose pages may ask, in JSON, gRPC-Web or Connect; `"*"` for all.
   * Requests of others are answered with 403.
   * @default none
   */
  readonly cors?: readonly string[];
  /**
   * Called if the store cannot be written any more; it then refuses all requests. Without it the error
   * is printed.
   */
  readonly onFailed?: (error: unknown) => void;
  /** Limits; what is left out is etcd's. */
  readonly limits?: Partial<StoreLimits>;
}

const WHAT = "start a store";

const { alpnProtos: _, ...listenNames } = LISTEN_NAMES;

/**
 * Names of {@linkcode StoreOptions}.
 *
 * @internal
 */
export const NAMES: readonly string[] = optionNames<StoreOptions>({
  ...listenNames,
  name: true,
  path: true,
  snapshot: true,
  history: true,
  cors: true,
  onFailed: true,
  limits: true,
});

const LIMIT_NAMES = optionNames<StoreLimits>({
  maxRequestBytes: true,
  maxTxnOps: true,
  minLeaseTtl: true,
  maxWatches: true,
  maxStreams: true,
  maxConnections: true,
  maxTokens: true,
  quotaBytes: true,
  tokenTtl: true,
  bcryptCost: true,
  progressInterval: true,
});

/** Bytes a message can have at most. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1 - (1 << 20);

/**
 * Checks the options and gives the limits with their defaults. Those of listening are checked there.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 */
export function limitsOf(options: StoreOptions): StoreLimits {
  checkOptions(WHAT, NAMES, options);
  const { snapshot, cors, limits = {} } = options;
  checkText(WHAT, "name", options.name);
  checkText(WHAT, "path", options.path);
  checkCallback(WHAT, "onFailed", options.onFailed);
  if (snapshot !== undefined && !(snapshot instanceof Uint8Array)) {
    throw new TypeError(`Cannot ${WHAT} as snapshot must be a Uint8Array: got ${typeof snapshot}`);
  }
  if (
    cors !== undefined && !(Array.isArray(cors) && cors.every((one) => typeof one === "string"))
  ) {
    throw new TypeError(
      `Cannot ${WHAT} as cors must be a list of origins: ["https://app.example"]`,
    );
  }
  if (options.history !== undefined) checkHistory(WHAT, options.history);
  checkOptions(`${WHAT} with limits`, LIMIT_NAMES, limits);
  checkCount(WHAT, "limits.maxRequestBytes", limits.maxRequestBytes, 1, MAX_MESSAGE_BYTES);
  checkCount(WHAT, "limits.maxTxnOps", limits.maxTxnOps, 1);
  checkCount(WHAT, "limits.maxWatches", limits.maxWatches, 1);
  checkCount(WHAT, "limits.maxStreams", limits.maxStreams, 1, 2 ** 31 - 1);
  checkCount(WHAT, "limits.maxConnections", limits.maxConnections, 1);
  checkCount(WHAT, "limits.maxTokens", limits.maxTokens, 1);
  checkNumber(WHAT, "limits.minLeaseTtl", limits.minLeaseTtl, 1);
  checkCount(WHAT, "limits.quotaBytes", limits.quotaBytes, 1);
  checkTime(WHAT, "limits.tokenTtl", limits.tokenTtl, 1);
  checkCount(WHAT, "limits.bcryptCost", limits.bcryptCost, 4, 31);
  checkTime(WHAT, "limits.progressInterval", limits.progressInterval, 1);
  return { ...DEFAULT_LIMITS, ...givenOptions(limits) };
}
