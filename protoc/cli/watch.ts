import { existsSync, watch } from "node:fs";
import { join } from "node:path";

/** How long after a change others are taken for the same, in milliseconds: editors write in steps. */
const SETTLE = 50;

/**
 * Paths of `.proto` files that change below directories, a path for all changes at one time. Ends
 * with the signal.
 */
export async function* changesIn(
  roots: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  let changed: string | undefined;
  let wake: (() => void) | undefined;
  const watchers = roots.filter((root) => existsSync(root)).map((root) =>
    watch(root, { recursive: true }, (_, name) => {
      if (typeof name !== "string" || !name.endsWith(".proto")) return;
      changed = join(root, name);
      wake?.();
    })
  );
  const stop = () => wake?.();
  signal?.addEventListener("abort", stop);
  try {
    while (!signal?.aborted) {
      if (changed === undefined) await new Promise<void>((resolve) => wake = resolve);
      if (signal?.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, SETTLE));
      const path = changed!;
      changed = undefined;
      yield path;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    for (const watcher of watchers) watcher.close();
  }
}
