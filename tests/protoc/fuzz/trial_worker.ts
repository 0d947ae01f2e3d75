/// <reference lib="deno.worker" />
import { join } from "node:path";
import { Loader, ProtoError } from "../../../protoc/mod.ts";
import type { Finding, Trial } from "./trial.ts";

/** Files read so far: many trials import the same ones. */
const read = new Map<string, Uint8Array | undefined>();

self.onmessage = ({ data }: MessageEvent<Trial>) => self.postMessage(attempt(data));
self.postMessage("ready");

function attempt(trial: Trial): Finding {
  const start = performance.now();
  const finish = (rest: Omit<Finding, "id" | "milliseconds">): Finding => ({
    id: trial.id,
    milliseconds: performance.now() - start,
    ...rest,
  });
  try {
    const loader = new Loader({
      resolve: (name) => trial.files?.get(name) ?? readFrom(trial.roots, name),
      sourceInfo: trial.sourceInfo,
    });
    loader.load(trial.text, trial.name);
    const bytes = loader.bytes(trial.name);
    return finish({ accepted: true, errors: [], bytes, defect: undefined });
  } catch (error) {
    if (error instanceof ProtoError) {
      const { diagnostics } = error;
      return finish({ accepted: false, errors: diagnostics, bytes: undefined, defect: undefined });
    }
    const defect = error instanceof Error ? error.stack ?? error.message : String(error);
    return finish({ accepted: undefined, errors: [], bytes: undefined, defect });
  }
}

function readFrom(roots: readonly string[], name: string): Uint8Array | undefined {
  for (const root of roots) {
    const path = join(root, name);
    if (!read.has(path)) {
      try {
        read.set(path, Deno.readFileSync(path));
      } catch {
        // Not under this root, or no path at all: a mutant may import anything.
        read.set(path, undefined);
      }
    }
    const content = read.get(path);
    if (content !== undefined) return content;
  }
  return undefined;
}
