import type { Maintenance } from "./maintenance.ts";

/** Milliseconds that an endpoint may take to say its version. */
const VERSION_MS = 1_000;

/** Whether all endpoints say exactly how far a watch is: see {@linkcode Keyspace.tellsProgress}. */
export async function tellProgress(
  maintenance: Maintenance,
  endpoints: readonly string[],
): Promise<boolean> {
  const told = await Promise.all(
    endpoints.map((endpoint) =>
      maintenance.status({ endpoint }, { timeout: VERSION_MS }).then(
        ({ version }) => isExact(version),
        () => false,
      )
    ),
  );
  return told.every((one) => one);
}

/** etcd tells of progress exactly from 3.4.25 and 3.5.8 on: before, progress overtakes events. */
function isExact(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => parseInt(part));
  if (major !== 3 || minor > 5) return major >= 3;
  return minor === 5 ? patch >= 8 : minor === 4 && patch >= 25;
}
