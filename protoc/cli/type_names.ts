import type { DescEnum, DescMessage, DescService } from "@bufbuild/protobuf";
import { wktPublicImportPaths } from "@bufbuild/protobuf/codegenv2";

/** Types that get a name in the written module. */
export type Named = DescEnum | DescMessage | DescService;

/** Names that the written module uses itself, or that mean something else in TypeScript. */
const TAKEN: ReadonlySet<string> = new Set(
  (
    // Names the module imports, exports and uses.
    "GenMessage GenService JsonObject Message Messages Registry Services TypeError Uint8Array " +
    "message service undefined " +
    // Built-in types.
    "any bigint boolean never null number object string symbol unknown void " +
    // Words of the language.
    "arguments as async await break case catch class const continue debugger declare default " +
    "delete do else enum eval export extends false finally for from function get if implements " +
    "import in instanceof interface is keyof let namespace new of package private protected " +
    "public readonly return set static super switch this throw true try type typeof var while " +
    "with yield"
  ).split(" "),
);

/** The names of types in a written module: as protobuf-es has them, where these do not clash. */
export class TypeNames {
  readonly #names: Map<string, string> = new Map();

  /** Gives names to `types`, whatever their packages are. */
  constructor(types: Iterable<Named>) {
    const claims = new Map<string, Named[]>();
    for (const type of types) {
      const name = shortName(type);
      const others = claims.get(name);
      if (others) others.push(type);
      else claims.set(name, [type]);
    }
    for (const [name, claimants] of claims) {
      for (const type of claimants) {
        // protobuf-es's own types are imported under the names they have there.
        const keepsName = claimants.length === 1 || isShipped(type);
        const chosen = keepsName ? name : type.typeName.replaceAll(".", "_");
        this.#names.set(type.typeName, TAKEN.has(chosen) ? `${chosen}$` : chosen);
      }
    }
  }

  /** The name of a type that the constructor was given. */
  of(type: Named): string {
    const name = this.#names.get(type.typeName);
    if (name === undefined) throw new RangeError(`No name was made for ${type.typeName}`);
    return name;
  }
}

/** Whether protobuf-es exports this type. */
export function isShipped(type: Named): boolean {
  return Object.hasOwn(wktPublicImportPaths, type.file.proto.name);
}

function shortName(type: Named): string {
  const { package: scope } = type.file.proto;
  const relative = scope === "" ? type.typeName : type.typeName.slice(scope.length + 1);
  return relative.replaceAll(".", "_");
}
