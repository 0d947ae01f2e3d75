/**
 * Steps that one run of a recursive type may take: TypeScript ends a chain of 1,000. A run that used
 * them up pauses and is begun anew.
 */
export type Fuel =
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/** Runs of {@linkcode Fuel} steps, of each of the two passes over a file. */
export type Runs = "xxxxxxxxxxxx";
