// Errors of a store's files.

/** A file of the store is damaged: what was written and acknowledged cannot be read. */
export class StoreDamagedError extends Error {
  override name = "StoreDamagedError";
  /** The file. */
  readonly path: string;
  /** Where in it the damage is, in bytes. */
  readonly offset: number;

  constructor(path: string, offset: number, why: string, options?: ErrorOptions) {
    super(
      `Cannot open the store as ${path} is damaged at byte ${offset}: ${why}. ` +
        "Put a copy or a snapshot in its place",
      options,
    );
    this.path = path;
    this.offset = offset;
  }
}
