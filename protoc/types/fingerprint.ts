import type { DescFile } from "@bufbuild/protobuf";
import type { Named } from "./names.ts";
import { typesOf } from "./reach.ts";
import { fieldType, writeField } from "./shape.ts";

/**
 * Fingerprints of types, by the file they are of and their full names: what `--types` writes as
 * `types`, and the option `types` of {@linkcode Loader} takes.
 */
export type Fingerprints = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Most types that an error names. */
const MAX_NAMED = 5;

/** A hash of all that the TypeScript type of `type` depends on, as 16 hexadecimal digits. */
export function fingerprint(type: Named): string {
  return hash(describe(type));
}

/** Whether `value` has the form of {@linkcode Fingerprints}. */
export function isFingerprints(value: unknown): value is Fingerprints {
  const isRecord = (it: unknown): it is object => typeof it === "object" && it !== null;
  return isRecord(value) &&
    Object.values(value).every((types) =>
      isRecord(types) && Object.values(types).every((hash) => typeof hash === "string")
    );
}

/** Types that were written before, to be held against what is loaded. */
export class WrittenTypes {
  readonly #hashes: Map<string, Set<string>> = new Map();
  readonly #files: Map<string, Set<string>> = new Map();

  /** Knows the fingerprints of these modules. */
  constructor(modules: readonly Fingerprints[]) {
    for (const module of modules) {
      for (const [file, types] of Object.entries(module)) {
        for (const [typeName, hash] of Object.entries(types)) {
          add(this.#hashes, typeName, hash);
          add(this.#files, file, typeName);
        }
      }
    }
  }

  /** Why the types do not fit a loaded file; undefined when they do. */
  misfit(file: DescFile): string | undefined {
    const { name } = file.proto;
    const types = new Map(typesOf(file).map((type) => [type.typeName, type]));
    const faults: string[] = [];
    for (const [typeName, type] of types) {
      const hashes = this.#hashes.get(typeName);
      if (hashes === undefined) continue;
      const found = fingerprint(type);
      if ([...hashes].some((hash) => hash !== found)) {
        faults.push(`${type.kind} ${typeName} has changed`);
      }
    }
    for (const typeName of this.#files.get(name) ?? []) {
      if (!types.has(typeName)) faults.push(`${typeName} is gone`);
    }
    if (faults.length === 0) return undefined;
    const more = faults.length - MAX_NAMED;
    const named = faults.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return `Cannot load "${name}" with types written for another text of it: ${named}. ` +
      "Write the types again with --types";
  }
}

function add(to: Map<string, Set<string>>, key: string, value: string): void {
  const values = to.get(key);
  if (values) values.add(value);
  else to.set(key, new Set([value]));
}

const fullName = (type: Named) => type.typeName;

function describe(type: Named): string {
  switch (type.kind) {
    case "enum": {
      const values = type.values.map(({ localName, number }) => `${localName}=${number}`);
      return `enum ${type.open ? "open" : "closed"} ${values.join()}`;
    }
    case "service": {
      const methods = type.methods.map(({ localName, methodKind, input, output }) =>
        `${localName} ${methodKind} ${input.typeName} ${output.typeName}`
      );
      return `service ${methods.sort().join()}`;
    }
    case "message": {
      const members = type.members.map((member) => {
        if (member.kind === "field") return writeField(member, fullName);
        const cases = member.fields.map((one) => `${one.localName}: ${fieldType(one, fullName)}`);
        return `${member.localName}: oneof ${cases.sort().join()}`;
      });
      return `message ${members.sort().join(";")}`;
    }
  }
}

/** FNV-1a over the code units, 32 bits from either end: against chance, not against attackers. */
function hash(text: string): string {
  let forward = 0x811c9dc5;
  let backward = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    forward = Math.imul(forward ^ text.charCodeAt(i), 0x01000193);
    backward = Math.imul(backward ^ text.charCodeAt(text.length - 1 - i), 0x01000193);
  }
  const digits = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
  return digits(forward) + digits(backward);
}
