/**
 * Where the foreign programs are that tests run against, and what a test does when one is missing.
 *
 * @module
 */

/** Something a test needs: what it is called, its value if found, and how to provide it. */
export type Need = readonly [name: string, found: string | undefined, remedy: string];

/** What a test needs, besides the usual options. */
export interface PeerTestOptions {
  /** Everything that has to be there. */
  readonly needs: readonly Need[];
}

const told = new Set<string>();

/**
 * Registers a test that needs foreign programs. Where one is missing the test is left out loudly:
 * its name says what to set, and a warning is printed once; where `CI` is `true` it fails instead,
 * because nobody would read the warning there.
 */
export function peerTest(
  name: string,
  options: PeerTestOptions,
  fn: (t: Deno.TestContext) => void | Promise<void>,
): void {
  const missing = options.needs.filter(([, found]) => found === undefined);
  if (missing.length === 0) return Deno.test(name, fn);
  const reason = missing.map(([what, , remedy]) => `no ${what}: ${remedy}`).join("; ");
  if (Deno.env.get("CI") === "true") {
    return Deno.test(name, () => {
      throw new Error(`Cannot run the test: ${reason}`);
    });
  }
  if (!told.has(reason)) {
    told.add(reason);
    // deno-lint-ignore no-console
    console.warn(`Tests are skipped, ${reason}`);
  }
  Deno.test({ name: `${name} (skipped: ${reason})`, ignore: true, fn });
}

/** Folder with the peers' npm packages (`node_modules`) and Go programs (`bin`). */
export const PEERS: string | undefined = Deno.env.get("SLUICE_PEERS");

/** A path inside {@linkcode PEERS}, or undefined if there is none. */
export function inPeers(path: string): string | undefined {
  if (PEERS === undefined) return undefined;
  const full = `${PEERS}/${path}`;
  try {
    Deno.statSync(full);
    return full;
  } catch {
    return undefined;
  }
}
