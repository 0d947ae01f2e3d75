import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Loader } from "../../../protoc/mod.ts";
import { writeTypeModules, writeTypes } from "../../../protoc/types/module.ts";
import { typeFaults } from "../../support/check_module.ts";

const MONEY =
  'syntax = "proto3"; package a; message Money { int64 cents = 1; enum Kind { CASH = 0; } }';
const SHOP =
  `syntax = "proto3"; package b; import "a/money.proto"; import "google/protobuf/empty.proto";
  message Item { a.Money price = 1; Money own = 2; a.Money.Kind kind = 3; repeated Item parts = 4; }
  message Money {}
  service Shop { rpc Buy(Item) returns (google.protobuf.Empty); rpc List(a.Money) returns (stream Item); }`;

function load() {
  const loader = new Loader();
  const money = loader.load(MONEY, "a/money.proto");
  return { money, shop: loader.load(SHOP, "b/c/shop.proto") };
}

Deno.test("writeTypeModules() writes a module a file, each with what it refers to", async () => {
  const modules = writeTypeModules([load().shop], { protobuf: "@bufbuild/protobuf" });
  assertEquals([...modules.keys()], ["b/c/shop_types.ts", "a/money_types.ts"]);
  const text = modules.get("b/c/shop_types.ts")!;
  assertStringIncludes(
    text,
    'import type { Money as Money$, Money_Kind } from "../../a/money_types.ts";',
  );
  assertStringIncludes(text, 'import type { Message, Registry } from "@bufbuild/protobuf";');
  const user = `import { type Item, service } from "./b/c/shop_types.ts";
    import type { Money } from "./a/money_types.ts";
    export const price = (item: Item): Money | undefined => item.price;
    export type Shop = ReturnType<typeof service<"b.Shop">>["method"]["list"]["methodKind"];
    export const kind: Shop = "server_streaming";`;
  assertEquals(await typeFaults([...modules, ["user.ts", user]]), "");
});

Deno.test("written schemas make, read and describe messages with nothing loaded", async () => {
  const { shop } = load();
  const directory = await Deno.makeTempDir({ dir: new URL(".", import.meta.url).pathname });
  try {
    for (const one of [true, false]) {
      const options = { protobuf: "@bufbuild/protobuf", schemas: true };
      const modules = one
        ? new Map([["b/c/shop_types.ts", writeTypes([shop], options)]])
        : writeTypeModules([shop], options);
      for (const [path, text] of modules) {
        await Deno.mkdir(`${directory}/${one}/${path}/..`.replace(/[^/]+\/\.\.$/, ""), {
          recursive: true,
        });
        await Deno.writeTextFile(`${directory}/${one}/${path}`, text);
      }
      const user = `import { create } from "@bufbuild/protobuf";
        import { ItemSchema, Shop } from "./b/c/shop_types.ts"; import { newService, Registrar } from "@sluice/sluice/grpc";
        const item = create(ItemSchema, { price: { cents: 5n } }); export const cents: bigint | undefined = item.price?.cents;
        new Registrar().register(Shop, { Buy: (item) => { item.price?.cents satisfies bigint | undefined; return {}; } });
        export const call = (conn: Parameters<typeof newService>[0]) => newService(conn, Shop).Buy({ kind: 0 });
        // @ts-expect-error There is no such field.
        create(ItemSchema, { prize: {} });`;
      assertEquals(await typeFaults([...modules, ["user.ts", user]]), "");
      const { ItemSchema, Shop } = await import(`${directory}/${one}/b/c/shop_types.ts`);
      const item = create(ItemSchema, { price: { cents: 5n }, parts: [{}] });
      assertEquals(fromBinary(ItemSchema, toBinary(ItemSchema, item)), item);
      assertEquals(Shop.method.buy.input, ItemSchema);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("written types carry comments and deprecation", async () => {
  const text = `syntax = "proto3";
    // A shelf. */ ends nothing.
    //
    // Second paragraph.
    message Shelf {
      string name = 1; // Behind it.
      /* Star. */
      int32 old = 2 [deprecated = true];
      oneof one {
        // In a case.
        bool yes = 3;
        bool no = 4 [deprecated = true];
      }
    }
    // Kinds.
    enum Kind { option deprecated = true;
      // None.
      NONE = 0;
    }
    service S {
      // Does it.
      rpc Do(Shelf) returns (Shelf) { option deprecated = true; }
    }`;
  const file = new Loader({ sourceInfo: true }).load(text, "shelf.proto");
  const written = writeTypes([file], { protobuf: "@bufbuild/protobuf" });
  for (
    const piece of [
      "/**\n * A shelf. *\\/ ends nothing.\n *\n * Second paragraph.\n *\n * Shelf\n */\nexport type Shelf",
      "  /** Behind it. */\n  name: string;",
      "  /**\n   * Star.\n   *\n   * @deprecated\n   */\n  old: number;",
      "      /** In a case. */\n      value: boolean;",
      "      /** @deprecated */\n      value: boolean;",
      "/**\n * Kinds.\n *\n * Kind\n *\n * @deprecated\n */\nexport const Kind",
      "  /** None. */\n  NONE: 0,",
      "  /**\n   * Does it.\n   *\n   * @deprecated\n   */\n  do: {",
    ]
  ) assertStringIncludes(written, piece);
  assertEquals(await typeFaults([["shelf_types.ts", written]]), "");
});

/** The `types` that the writer puts into a module. */
async function typesOf(text: string, name = "a.proto") {
  const written = writeTypes([new Loader().load(text, name)]);
  const { types } = await import(`data:application/typescript,${encodeURIComponent(written)}`);
  return types;
}

const BEFORE =
  `syntax = "proto3"; package p; message M { int32 a = 1; oneof o { string s = 2; } } message Gone {}
  enum E { NONE = 0; } service S { rpc Do(M) returns (M); }`;

Deno.test("a loader refuses text that its types were not written for", async () => {
  const types = [await typesOf(BEFORE)];
  for (
    const [text, ...faults] of [
      [BEFORE.replace("int32 a", "int64 a"), "message p.M has changed"],
      [BEFORE.replace("int32 a", "optional int32 a"), "message p.M has changed"],
      [BEFORE.replace("string s", "bytes s"), "message p.M has changed"],
      [BEFORE.replace("(M) returns", "(stream M) returns"), "service p.S has changed"],
      [BEFORE.replace("NONE = 0;", "NONE = 0; ONE = 1;"), "enum p.E has changed"],
      [BEFORE.replace("message Gone {}", ""), "p.Gone is gone"],
      [BEFORE.replaceAll("M", "N").replaceAll("NONE", "X").replaceAll("NOXE", "X"), "p.M is gone"],
    ] as const
  ) {
    const loader = new Loader({ types });
    const error = assertThrows(() => loader.load(text, "a.proto"), TypeError);
    for (const fault of faults) assertStringIncludes(error.message, fault);
    assertStringIncludes(
      error.message,
      'Cannot load "a.proto" with types written for another text',
    );
    assertThrows(() => loader.load(text, "a.proto"), TypeError, faults[0]);
  }
});

Deno.test("a loader refuses an import that its types were not written for", async () => {
  const types = [await typesOf(BEFORE)];
  const loader = new Loader({ types, resolve: () => BEFORE.replace("int32 a", "int32 b") });
  assertThrows(
    () => loader.load('syntax = "proto3"; import "a.proto"; message X { p.M m = 1; }', "x.proto"),
    TypeError,
    "message p.M has changed",
  );
});

Deno.test("a loader takes text that says the same in other words", async () => {
  const types = [await typesOf(BEFORE)];
  const same = BEFORE.replace(
    "message Gone {}",
    "// Words.\n message Gone {} message New { M m = 1; }",
  )
    .replace("int32 a = 1;", "sint32 a = 7 [deprecated = true];");
  for (const name of ["a.proto", "elsewhere.proto"]) {
    assert(new Loader({ types }).load(same, name).messages.length > 2);
  }
});

Deno.test("a loader takes nothing for types but what modules export", () => {
  for (const types of [{}, [null], ["a"], [{ a: "b" }], [{ a: { b: 1 } }]]) {
    assertThrows(() => new Loader({ types: types as never }), TypeError, "types must be a list");
  }
});
