/** Limits of the loader: where they are passed the file has an error, and its line says so. */
export const LIMITS = {
  /** Bytes a `.proto` file may have; larger ones are refused unread. */
  maxFileBytes: 64 * 1024 * 1024,
  /**
   * Bytes one token may have. No sensible identifier or string comes near; the limit keeps the cost of
   * error messages and of string values in hand.
   */
  maxTokenBytes: 16 * 1024 * 1024,
  /** Files a chain of imports may have: a imports b imports c, and so on. */
  maxImportDepth: 20_000,
  /** Bytes a set of descriptors may have. */
  maxSetBytes: 256 * 1024 * 1024,
  /** Files one load may read, imports included: a `resolve` may make up ever new ones. */
  maxFiles: 100_000,
  /** Levels of messages inside messages, as in protoc. */
  maxMessageDepth: 31,
  /**
   * Levels of groups that are parsed. More than `maxMessageDepth` are refused later on, as in protoc;
   * this one keeps the call stack of the parser in bounds.
   */
  maxGroupDepth: 256,
  /** Directories that are gone down to for files; a link back up would go on without end. */
  maxDirectoryDepth: 64,
  /** Files read at the same time by `loadAll` and `loadAsync`. */
  maxPendingReads: 32,
  /**
   * Diagnostics one run keeps, of errors and of warnings each. Those behind them are dropped, so that a
   * hostile file cannot fill the memory with complaints.
   */
  maxDiagnostics: 10_000,
} as const;
