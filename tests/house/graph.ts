/**
 * Who imports whom in the published code, as `deno info` sees it: type-only and dynamic imports count
 * as any other.
 *
 * An *area* is a top-level folder. A *room* is a folder of an area, or a file that lies directly in
 * it. An *arrow* is an ordered pair of rooms of one area of which the first imports the second.
 *
 * @module
 */

/** Top-level folders with code. */
export const AREAS = ["http", "grpc", "kv", "protoc"] as const;

/** One import of one file by another; both relative to the root, or a package's specifier. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Whether `to` is a file of this repository. */
  readonly own: boolean;
}

interface Resolved {
  readonly specifier?: string;
}

interface Info {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly code?: Resolved;
      readonly type?: Resolved;
    }[];
  }[];
}

/** The repository's root, as a URL that ends with a slash. */
export const ROOT: string = new URL("../../", import.meta.url).href;

/** Entries of the package, relative to the root. */
export function entries(): Record<string, string> {
  const { exports } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));
  return Object.fromEntries(
    Object.entries<string>(exports).map(([name, path]) => [name, path.replace(/^\.\//, "")]),
  );
}

/** All imports of the files that the given modules reach. */
export async function importsFrom(modules: Iterable<string>): Promise<Import[]> {
  const found = new Map<string, Import>();
  for (const module of modules) {
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", module],
      cwd: new URL(ROOT),
    }).output();
    if (!success) throw new Error(`deno info ${module} failed`);
    const info: Info = JSON.parse(new TextDecoder().decode(stdout));
    for (const { specifier, dependencies } of info.modules) {
      if (!isOwn(specifier)) continue;
      const from = specifier.slice(ROOT.length);
      for (const dependency of dependencies ?? []) {
        const target = (dependency.code ?? dependency.type)?.specifier ?? dependency.specifier;
        const own = isOwn(target);
        const to = own ? target.slice(ROOT.length) : dependency.specifier;
        found.set(`${from} ${to}`, { from, to, own });
      }
    }
  }
  return [...found.values()];
}

function isOwn(specifier: string): boolean {
  return specifier.startsWith(ROOT) && !specifier.includes("/std/") &&
    !specifier.includes("/node_modules/");
}

/** The area of a file, or "" for the root. */
export function areaOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

/** The room of a file of an area, without the area: `client`, `mod.ts`. */
export function roomOf(path: string): string {
  const inside = path.slice(areaOf(path).length + 1);
  return inside.includes("/") ? inside.slice(0, inside.indexOf("/")) : inside;
}

/** Sets of nodes that reach each other, larger than one. */
export function circles(edges: Iterable<readonly [string, string]>): string[][] {
  const next = new Map<string, Set<string>>();
  for (const [a, b] of edges) {
    if (a === b) continue;
    if (!next.has(a)) next.set(a, new Set());
    if (!next.has(b)) next.set(b, new Set());
    next.get(a)!.add(b);
  }
  // Tarjan's algorithm.
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    stack.push(node);
    for (const to of next.get(node)!) {
      if (!index.has(to)) {
        visit(to);
        low.set(node, Math.min(low.get(node)!, low.get(to)!));
      } else if (stack.includes(to)) low.set(node, Math.min(low.get(node)!, index.get(to)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return found;
}

/** The structure of one area. */
export interface Structure {
  readonly rooms: readonly string[];
  /** `from to`, each once, with the number of imports behind it. */
  readonly arrows: ReadonlyMap<string, number>;
  /** Arrows that run up, in the order of rooms that has fewest. */
  readonly up: readonly string[];
  /** Files that import each other. */
  readonly circles: readonly string[][];
}

/** Rooms and arrows of one area. */
export function structureOf(area: string, imports: readonly Import[]): Structure {
  const rooms = new Set<string>();
  const arrows = new Map<string, number>();
  const edges: [string, string][] = [];
  for (const { from, to, own } of imports) {
    if (areaOf(from) === area) rooms.add(roomOf(from));
    if (!own || areaOf(from) !== area || areaOf(to) !== area) continue;
    edges.push([from, to]);
    const [a, b] = [roomOf(from), roomOf(to)];
    if (a !== b) arrows.set(`${a} ${b}`, (arrows.get(`${a} ${b}`) ?? 0) + 1);
  }
  return { rooms: [...rooms].sort(), arrows, up: runningUp(arrows), circles: circles(edges) };
}

/** The arrows to leave out so that the others make no circle, by the fewest imports found. */
function runningUp(arrows: ReadonlyMap<string, number>): string[] {
  const up: string[] = [];
  const left = new Map(arrows);
  for (;;) {
    const pairs = [...left.keys()].map((key) => key.split(" ") as [string, string]);
    const circle = circles(pairs)[0];
    if (circle === undefined) return up.sort();
    const inside = [...left].filter(([key]) =>
      key.split(" ").every((room) => circle.includes(room))
    );
    // The arrow that carries least, first of those whose opposite carries more.
    inside.sort((a, b) => a[1] - b[1]);
    const [key] = inside[0]!;
    left.delete(key);
    up.push(key);
  }
}
