import { create, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { ServiceImpl } from "@connectrpc/connect";
import { writeTypes } from "../../../protoc/types/module.ts";
import { Loader } from "../../../protoc/mod.ts";
import { newService, Registrar } from "../../../grpc/mod.ts";
import { type Item, Item_Size, message, service, type Shop } from "../cli/testdata/shop_types.ts";

const TESTDATA = new URL("../cli/testdata/", import.meta.url);

async function loadShop(): Promise<Loader> {
  const loader = new Loader({ sourceInfo: true });
  await loader.loadAll([TESTDATA], { roots: [TESTDATA.pathname] });
  return loader;
}

Deno.test("writeTypes() writes the module that is checked in", async () => {
  const loader = await loadShop();
  const expected = await Deno.readTextFile(new URL("shop_types.ts", TESTDATA));
  const files = ["shop/v1/money.proto", "shop/v1/shop.proto"].map((name) => loader.loaded[name]!);
  assertEquals(writeTypes(files), expected);
});

Deno.test("writeTypes() gives messages the shapes that protobuf-es gives them", async () => {
  const { registry } = await loadShop();
  const ItemSchema = message(registry, "shop.v1.Item");
  // The types of this literal are what is tested: it must compile.
  const item: Item = create(ItemSchema, {
    id: "1",
    stock: 5n,
    serial: "9007199254740993",
    sizes: [Item_Size.SMALL],
    prices: { eur: { currency: "EUR", cents: 99n } },
    byShelf: { 3: Item_Size.LARGE },
    note: "unwrapped",
    notes: [{ value: "wrapped" }],
    extra: { json: [1, 2, 3] },
    offer: { case: "discount", value: 0.5 },
  });
  const back: MessageShape<typeof ItemSchema> = fromBinary(
    ItemSchema,
    toBinary(ItemSchema, item),
  );
  assertEquals(back.stock, 5n);
  assertEquals(back.serial, "9007199254740993");
  assertEquals(back.prices["eur"]?.cents, 99n);
  assertEquals(back.byShelf[3], Item_Size.LARGE);
  assertEquals(back.note, "unwrapped");
  assertEquals(back.extra, { json: [1, 2, 3] });
  assert(back.offer.case === "discount");
  assertEquals(back.offer.value satisfies number, 0.5);
  // @ts-expect-error A message has no fields but its own.
  assertEquals(back.nothing, undefined);
});

Deno.test("writeTypes() gives services the types that newService() and register() take", async () => {
  const { registry } = await loadShop();
  const Shop = service(registry, "shop.v1.Shop");
  const implementation: ServiceImpl<Shop> = {
    getItem: (request) => ({ id: request.itemId, stock: 1n }),
    async *listItems() {
      yield await Promise.resolve({ id: "1" });
    },
    async putItems(items) {
      for await (const item of items) assert(typeof item.stock === "bigint");
      return create(EmptySchema);
    },
    async *haggle(offers) {
      for await (const offer of offers) yield { cents: offer.cents - 1n };
    },
  };
  new Registrar().register(Shop, implementation);
  const call = (conn: Parameters<typeof newService>[0]) => newService(conn, Shop);
  type Client = ReturnType<typeof call>;
  // The methods that a typed client has, and no other.
  const methods: Record<keyof Client, true> = Object.fromEntries(
    Shop.methods.map((method) => [method.name, true]),
  ) as Record<keyof Client, true>;
  assertEquals(Object.keys(methods).length, 4);
});

Deno.test("service() and message() of a written module throw for what is not loaded", async () => {
  const { registry } = new Loader();
  assertThrows(() => service(registry, "shop.v1.Shop"), TypeError, "No service shop.v1.Shop");
  assertThrows(() => message(registry, "shop.v1.Item"), TypeError, "No message shop.v1.Item");
  const loaded = await loadShop();
  // @ts-expect-error Only the names of the module can be asked for.
  assertThrows(() => service(loaded.registry, "shop.v1.Shpo"), TypeError, "No service");
});

Deno.test("writeTypes() tells types of one name in two packages apart", () => {
  const loader = new Loader();
  const a = loader.load('syntax = "proto3"; package a; message M { string s = 1; }', "a.proto");
  const b = loader.load('syntax = "proto3"; package b; message M { int32 i = 1; }', "b.proto");
  const text = writeTypes([a, b]);
  assert(text.includes('export type a_M = Message<"a.M"> & {\n  s: string;\n};'), text);
  assert(text.includes('export type b_M = Message<"b.M"> & {\n  i: number;\n};'), text);
});

Deno.test("writeTypes() writes types of imported files that are referred to, and no others", () => {
  const loader = new Loader();
  loader.load('syntax = "proto3"; message Used {} message Unused {}', "other.proto");
  const file = loader.load(
    'syntax = "proto3"; import "other.proto"; message M { repeated Used used = 1; }',
    "a.proto",
  );
  const text = writeTypes([file]);
  assert(text.includes("export type Used "));
  assert(!text.includes("Unused"));
});

Deno.test("writeTypes() leaves a closed enum closed", () => {
  const loader = new Loader();
  const file = loader.load('syntax = "proto2"; enum E { A = 1; B = -1; }', "a.proto");
  assert(writeTypes([file]).includes("export type E = (typeof E)[keyof typeof E];"));
});
