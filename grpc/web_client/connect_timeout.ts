/** Digits of `connect-timeout-ms` at most: some 115 days. */
const MAX_TIMEOUT_MS = 9_999_999_999;

/** Milliseconds as `connect-timeout-ms` has them. */
export function connectTimeout(ms: number): string {
  return String(Math.min(Math.ceil(ms), MAX_TIMEOUT_MS));
}
