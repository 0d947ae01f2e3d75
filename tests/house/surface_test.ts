/** What users see: the public names of the entries, their words, and what is not theirs to call. */
import { assertEquals } from "@std/assert";
import { exportsOf } from "./exports.ts";
import { areaOf, AREAS, entries, ROOT } from "./graph.ts";
import { literalsOf, textsOf } from "./texts.ts";

/**
 * Names that stand twice in an area. The list only gets shorter; the codec's readers and writers are
 * pairs.
 */
const TWICE: readonly string[] = [
  "grpc double",
  "grpc fixed32",
  "grpc fixed64",
  "grpc float",
  "grpc varint32",
  "http Connection",
  "http Found",
  "http FrameReader",
  "http RequestHead",
];

interface Comment {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string; readonly doc?: string }[];
}

/** A comment of the documentation: whose it is, and whether users can reach that. */
interface Documented {
  readonly name: string;
  readonly comment: Comment;
  readonly open: boolean;
}

/** All comments below a node of `deno doc --json`. */
function commentsOf(node: unknown, path: string, open: boolean, found: Documented[]): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const one of node) commentsOf(one, path, open, found);
    return;
  }
  const { name, accessibility, jsDoc } = node as {
    name?: unknown;
    accessibility?: string;
    jsDoc?: Comment;
  };
  const here = typeof name === "string" ? `${path}.${name}` : path;
  const reachable = open && accessibility !== "protected" && accessibility !== "private";
  if (jsDoc !== undefined) found.push({ name: here, comment: jsDoc, open: reachable });
  for (const value of Object.values(node)) commentsOf(value, here, reachable, found);
}

async function documentation(): Promise<Documented[]> {
  const found: Documented[] = [];
  for (const entry of Object.values(entries())) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["doc", "--json", entry],
      cwd: new URL(ROOT),
      stderr: "null",
    }).output();
    const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
    for (const node of Object.values<{ module_doc?: Comment; symbols: unknown }>(nodes)) {
      if (node.module_doc) found.push({ name: entry, comment: node.module_doc, open: true });
      commentsOf(node.symbols, entry, true, found);
    }
  }
  return found;
}

const documented = await documentation();
const code = textsOf(AREAS);

Deno.test("the documentation is seen whole", () => {
  assertEquals(documented.length > 500, true, `${documented.length} comments`);
  assertEquals(documented.some(({ name }) => name === "http/mod.ts.ServerStream.respond"), true);
});

Deno.test("public documentation and messages count in bytes, not octets", () => {
  const octets = /octet(?!-stream)/i;
  const docs = documented.filter(({ comment: { doc = "", tags = [] } }) =>
    octets.test(doc) || tags.some((tag) => octets.test(tag.doc ?? ""))
  );
  assertEquals(docs.map(({ name }) => name), []);
  const messages = [...code].flatMap((
    [file, text],
  ) =>
    literalsOf(text).filter((literal) => octets.test(literal)).map((literal) =>
      `${file} ${literal}`
    )
  );
  assertEquals(messages, []);
});

Deno.test("nothing public is there for the engine alone", () => {
  const engine = /^(?:For (?:engines|the client|the server|servers|clients)\b|Made by )/;
  const wrong = documented.filter(({ comment: { doc = "", tags = [] }, open }) =>
    open && (engine.test(doc) || tags.some(({ kind }) => kind === "internal"))
  );
  assertEquals(wrong.map(({ name }) => name), [], "use a friend: a function set in a static block");
});

Deno.test("an exported name stands once in an area", () => {
  const files = new Map<string, Set<string>>();
  for (const [file, text] of code) {
    for (const { name } of exportsOf(file, text)) {
      // The store has an entry of its own.
      const area = file.startsWith("kv/server/") ? "kv/server" : areaOf(file);
      const key = `${area} ${name}`;
      files.set(key, (files.get(key) ?? new Set()).add(file));
    }
  }
  const twice = [...files].filter(([, { size }]) => size > 1);
  assertEquals(
    twice.filter(([name]) => !TWICE.includes(name)).map(([name, where]) =>
      `${name}: ${[...where].join(" ")}`
    ),
    [],
  );
  assertEquals(
    TWICE.filter((name) => !twice.some(([other]) => other === name)),
    [],
    "these stand once now: take them off the list",
  );
});

/** Places whose comments keep the rule below; the others follow. */
const PLAIN = ["grpc/", "kv/", "protoc/", "http/message/", "http/time/"];

Deno.test("comments begin with the thing or its action, not with who or what", () => {
  const relative =
    /(?:\/\*\*|^\s*\*|\/\/) +(?:What|Who|Whoever|Whatever)\b|\bwhoever\b|\bto be had\b/;
  const wrong = [...code].filter(([file]) => PLAIN.some((place) => file.startsWith(place)))
    .flatMap(([file, text]) =>
      text.split("\n").map((line, i) => ({ at: `${file}:${i + 1}`, line }))
        .filter(({ line }) => relative.test(line))
    );
  assertEquals(wrong.map(({ at, line }) => `${at} ${line.trim()}`), []);
});

Deno.test("iterators that are handed out give promises that may be left alone", () => {
  const generators = [...code]
    .filter(([path]) => !path.startsWith("kv/server/"))
    .flatMap(([path, text]) =>
      (text.match(/^ {2}async \*[^#].*$/gm) ?? []).map((line) => `${path}: ${line.trim()}`)
    );
  assertEquals(generators, [], "give quietIterator(…) of a private one");
});
