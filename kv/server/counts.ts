// Counts of what a store has done since its start.

/** Counts since the start. */
export class Counts {
  /** Keys that were put, and bytes of their keys and values. */
  puts = 0;
  putBytes = 0;
  /** Keys that were deleted. */
  deletes = 0;
  /** Ranges that were read, those of transactions not among them. */
  ranges = 0;
  /** Transactions. */
  txns = 0;
  leasesGranted = 0;
  leasesRenewed = 0;
  /** Leases that were revoked, those that expired among them. */
  leasesRevoked = 0;
  leasesExpired = 0;
  /** Calls by the full names of their methods. */
  readonly calls: Map<string, number> = new Map();
}
