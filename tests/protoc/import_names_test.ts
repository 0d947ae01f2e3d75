/** Names of imports that could lead out of the roots, or are none of any file. */
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { isCanonicalName, nameFault } from "../../protoc/import_names.ts";
import { Loader, ProtoError } from "../../protoc/mod.ts";

const OUTSIDE = [
  "../secret.proto",
  "a/../../secret.proto",
  "./a.proto",
  "a//b.proto",
  "..\\..\\secret.proto",
  "a\\b.proto",
  "\\\\server\\share\\a.proto",
  "C:/secret.proto",
  "c:secret.proto",
  "a\0b.proto",
];

/** As a literal of the language. */
function quoted(name: string): string {
  return `"${name.replaceAll("\\", "\\\\").replaceAll("\0", "\\000")}"`;
}

Deno.test("an import name that is not canonical is a ProtoError, and nobody is asked for it", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/root/a`, { recursive: true });
  for (const place of ["secret.proto", "root/a.proto", "root/..\\..\\secret.proto"]) {
    await Deno.writeTextFile(`${folder}/${place}`, 'syntax = "proto3"; message Secret {}');
  }
  for (const name of OUTSIDE) {
    assertEquals(isCanonicalName(name), false, name);
    const text = `syntax = "proto3"; import ${quoted(name)};`;
    const asked: string[] = [];
    const loader = new Loader({
      resolve: (name) => {
        asked.push(name);
        return 'syntax = "proto3"; message Secret {}';
      },
    });
    const expected = nameFault(name)!;
    assertStringIncludes(
      assertThrows(() => loader.load(text, "x.proto"), ProtoError).message,
      expected,
    );
    const late = await assertRejects(() => loader.loadAsync(text, "y.proto"), ProtoError);
    assertStringIncludes(late.message, expected);
    assertEquals(asked, [], name);
    await Deno.writeTextFile(`${folder}/root/x.proto`, text);
    const root = `${folder}/root`;
    const read = await assertRejects(
      () => new Loader().loadFile(`${root}/x.proto`, { roots: [root] }),
      ProtoError,
    );
    assertStringIncludes(read.message, expected);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("names as they usually are, and unusual ones of one spelling, are canonical", () => {
  for (const name of ["a.proto", "a/b.proto", "ä/…/b c.proto", "a:b/c.proto", "...proto"]) {
    assertEquals(isCanonicalName(name), name !== "a:b/c.proto", name);
  }
});

Deno.test("options of a loader are checked by name and value", async () => {
  const wrong: [unknown, string][] = [
    [{ resolver: () => null }, 'did you mean "resolve"?'],
    [{ source_info: true }, 'did you mean "sourceInfo"?'],
    [{ resolve: "x" }, "resolve must be a function"],
    [{ retainOptions: 1 }, "retainOptions must be true or false"],
    [5, "must be an object"],
  ];
  for (const [options, hint] of wrong) {
    const { message } = assertThrows(() => new Loader(options as never), TypeError);
    assertStringIncludes(message, hint);
  }
  for (
    const [options, hint] of [[{ root: [] }, 'did you mean "roots"?'], [{ roots: "." }, "a list"]]
  ) {
    const error = await assertRejects(() => new Loader().loadAll([], options as never), TypeError);
    assertStringIncludes(error.message, hint as string);
  }
});
