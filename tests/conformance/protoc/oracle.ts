/**
 * protoc as the oracle: what it writes for each file of a collection, kept on disk between runs.
 *
 * One invocation compiles many files, and fails as a whole when one of them fails, so a failing
 * batch is halved until the failing files stand alone. Outputs are cached under a key made of
 * protoc's version, the roots and the sizes and times of all files.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";

/** What protoc did with one file. */
export interface Verdict {
  /** The serialized `FileDescriptorProto`, or undefined when protoc refused the file. */
  readonly bytes: Uint8Array | undefined;
  /** What it printed on stderr about a refused file. */
  readonly refusal: string;
}

/** Files per invocation; keeps memory and argument files small. */
const BATCH = 1500;

/** The protoc binary: `PROTOC`, or the one in the npm package of the corpora directory. */
export function protocPath(corpora: string | undefined): string | undefined {
  const given = Deno.env.get("PROTOC");
  if (given) return given;
  if (corpora === undefined) return undefined;
  const arch = Deno.build.arch === "aarch64" ? "aarch_64" : "x86_64";
  const os = Deno.build.os === "darwin" ? "osx" : "linux";
  const path = join(corpora, "node_modules/protoc/bin", `protoc-${os}-${arch}`);
  try {
    Deno.statSync(path);
    return path;
  } catch {
    return undefined;
  }
}

/** Runs protoc and gives its exit code and output. */
export async function protoc(
  path: string,
  args: string[],
  cwd?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = new Deno.Command(path, {
    args,
    stdout: "piped",
    stderr: "piped",
    ...(cwd === undefined ? {} : { cwd }),
  });
  const output = await command.output();
  const text = new TextDecoder();
  return {
    code: output.code,
    stdout: text.decode(output.stdout),
    stderr: text.decode(output.stderr),
  };
}

/** Compiles `names` under `roots`; the result has an entry for every name. */
export async function compileAll(
  path: string,
  roots: readonly string[],
  names: readonly string[],
  sourceInfo: boolean,
  cache: string,
): Promise<Map<string, Verdict>> {
  await Deno.mkdir(cache, { recursive: true });
  const key = await keyOf(path, roots, names, sourceInfo);
  const stored = join(cache, `${key}.pb`);
  const refused = join(cache, `${key}.json`);
  let refusals: Record<string, string>;
  let set: Uint8Array;
  try {
    refusals = JSON.parse(await Deno.readTextFile(refused));
    set = await Deno.readFile(stored);
  } catch {
    refusals = {};
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < names.length; at += BATCH) {
      await halve(path, roots, names.slice(at, at + BATCH), sourceInfo, cache, pieces, refusals);
    }
    set = new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    await Deno.writeFile(stored, set);
    await Deno.writeTextFile(refused, JSON.stringify(refusals));
  }
  const verdicts = new Map<string, Verdict>();
  for (const bytes of filesOfSet(set)) {
    verdicts.set(nameOfFile(bytes), { bytes, refusal: "" });
  }
  for (const [name, refusal] of Object.entries(refusals)) {
    verdicts.set(name, { bytes: undefined, refusal });
  }
  const absent = names.filter((name) => !verdicts.has(name));
  if (absent.length > 0) {
    throw new Error(`protoc gave no verdict on ${absent.length}: ${absent[0]}`);
  }
  return verdicts;
}

async function halve(
  path: string,
  roots: readonly string[],
  names: readonly string[],
  sourceInfo: boolean,
  cache: string,
  pieces: Uint8Array[],
  refusals: Record<string, string>,
): Promise<void> {
  const out = await Deno.makeTempFile({ dir: cache, suffix: ".pb" });
  const list = await Deno.makeTempFile({ dir: cache, suffix: ".txt" });
  try {
    await Deno.writeTextFile(
      list,
      [
        ...roots.map((root) => `-I${root}`),
        ...(sourceInfo ? ["--include_source_info"] : []),
        `--descriptor_set_out=${out}`,
        ...names,
      ].join("\n"),
    );
    const { code, stderr } = await protoc(path, [`@${list}`]);
    if (code === 0) {
      pieces.push(await Deno.readFile(out));
      return;
    }
    if (names.length === 1) {
      refusals[names[0]!] = stderr;
      return;
    }
  } finally {
    await Deno.remove(out);
    await Deno.remove(list);
  }
  const middle = names.length >> 1;
  for (const half of [names.slice(0, middle), names.slice(middle)]) {
    await halve(path, roots, half, sourceInfo, cache, pieces, refusals);
  }
}

async function keyOf(
  path: string,
  roots: readonly string[],
  names: readonly string[],
  sourceInfo: boolean,
): Promise<string> {
  const hash = createHash("sha256");
  hash.update((await protoc(path, ["--version"])).stdout + sourceInfo + roots.join("\n"));
  for (const name of names) {
    for (const root of roots) {
      try {
        const stat = await Deno.stat(join(root, name));
        hash.update(`${name}\0${stat.size}\0${stat.mtime?.getTime()}\n`);
        break;
      } catch {
        // The name lies under another root.
      }
    }
  }
  return hash.digest("hex").slice(0, 24);
}

/** The serialized files of a serialized `FileDescriptorSet`: field 1, length-delimited, repeated. */
export function filesOfSet(set: Uint8Array): Uint8Array[] {
  const files: Uint8Array[] = [];
  let at = 0;
  while (at < set.length) {
    if (set[at++] !== 0x0a) throw new Error(`not a FileDescriptorSet at byte ${at - 1}`);
    let length = 0;
    for (let shift = 0;; shift += 7) {
      const byte = set[at++]!;
      length += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    files.push(set.subarray(at, at + length));
    at += length;
  }
  return files;
}

/** `FileDescriptorProto.name`, which protoc writes first. */
function nameOfFile(bytes: Uint8Array): string {
  if (bytes[0] !== 0x0a) throw new Error("a file without a name");
  let at = 1;
  let length = 0;
  for (let shift = 0;; shift += 7) {
    const byte = bytes[at++]!;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  return new TextDecoder().decode(bytes.subarray(at, at + length));
}
