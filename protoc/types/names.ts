import type { DescEnum, DescMessage, DescService } from "@bufbuild/protobuf";
import { wktPublicImportPaths } from "@bufbuild/protobuf/codegenv2";

/** Types that get a name in a written module. */
export type Named = DescEnum | DescMessage | DescService;

/**
 * Names no type of a written module may have: those that its text uses, and those that mean something
 * else in TypeScript.
 */
const RESERVED: readonly string[] = (
  // Names the module imports, exports and uses.
  "GenEnum GenFile GenMessage GenService JsonObject Message Messages Name Pick Record Registry " +
  "Services TypeError Uint8Array enumDesc fileDesc found message messageDesc name registry service " +
  "serviceDesc types undefined " +
  // Built-in types.
  "any bigint boolean never null number object string symbol unknown void " +
  // Words of the language.
  "arguments as async await break case catch class const continue debugger declare default " +
  "delete do else enum eval export extends false finally for from function get if implements " +
  "import in instanceof interface is keyof let namespace new of package private protected " +
  "public readonly return set static super switch this throw true try type typeof var while " +
  "with yield"
).split(" ");

/** The names in one module: each is given once. */
export class ModuleNames {
  readonly #taken: Set<string> = new Set(RESERVED);
  readonly #names: Map<string, string> = new Map();

  /**
   * Gives names to `types`, whatever their packages are: as protobuf-es has them, where these do not
   * clash. With schemas, `ItemSchema` stands beside `Item`.
   */
  constructor(types: readonly Named[], schemas: boolean) {
    const claims = new Map<string, number>();
    for (const type of types) {
      const name = shortName(type);
      claims.set(name, (claims.get(name) ?? 0) + 1);
    }
    const needed = (type: Named, name: string) =>
      schemas && type.kind !== "service" ? [name, `${name}Schema`] : [name];
    // protobuf-es's own types are imported under the names they have there, so they choose first.
    for (const type of [...types.filter(isShipped), ...types.filter((type) => !isShipped(type))]) {
      const short = shortName(type);
      const isClear = claims.get(short) === 1 || isShipped(type);
      let name = isClear ? short : type.typeName.replaceAll(".", "_");
      while (needed(type, name).some((one) => this.#taken.has(one))) name += "$";
      for (const one of needed(type, name)) this.#taken.add(one);
      this.#names.set(type.typeName, name);
    }
  }

  /** The name of a type that the constructor was given, or that was imported. */
  of(type: Named): string {
    const name = this.#names.get(type.typeName);
    if (name === undefined) throw new RangeError(`No name was made for ${type.typeName}`);
    return name;
  }

  /** Gives a type of another module the name it has there, or one like it when that is taken. */
  import(type: Named, exported: string): string {
    const name = this.free(exported);
    this.#names.set(type.typeName, name);
    return name;
  }

  /** Takes `wanted`, or a name like it. */
  free(wanted: string): string {
    let name = wanted;
    while (this.#taken.has(name)) name += "$";
    this.#taken.add(name);
    return name;
  }
}

/** Whether protobuf-es exports this type. */
export function isShipped(type: Named): boolean {
  return Object.hasOwn(wktPublicImportPaths, type.file.proto.name);
}

/** The name of a type inside its package, as one word. */
function shortName(type: Named): string {
  const { package: scope } = type.file.proto;
  const relative = scope === "" ? type.typeName : type.typeName.slice(scope.length + 1);
  return relative.replaceAll(".", "_");
}
