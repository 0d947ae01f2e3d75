/** Handlers given as object literals have the types of their methods, by either name. */
import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { assertEquals } from "@std/assert";
import { type CallContext, listen, newClient, newService, Registrar } from "../../../grpc/mod.ts";
import { Loader } from "../../../protoc/mod.ts";
import { type Item, service, type Shop } from "../../protoc/cli/testdata/shop_types.ts";

async function loadShop(): Promise<Loader> {
  const loader = new Loader();
  const root = new URL("../../protoc/cli/testdata/", import.meta.url);
  await loader.loadAll([root], { roots: [root.pathname] });
  return loader;
}

/** Compiles only if both types are one. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

Deno.test("handlers by proto names infer their types and see the context", async () => {
  const Shop = service((await loadShop()).registry, "shop.v1.Shop");
  const registrar = new Registrar();
  registrar.register(Shop, {
    GetItem: (request, context) => {
      const typed: Same<typeof context, CallContext> = true;
      assertEquals(typed, true);
      context.sendHeader();
      return {
        id: request.itemId satisfies string,
        note: context.peer satisfies string,
        stock: 1n,
      };
    },
    async *ListItems(_request, context) {
      context.responseHeader.set("x-a", "1");
      yield await Promise.resolve({ id: "1" });
    },
    PutItems: async (items) => {
      for await (const item of items) item satisfies Item;
      return create(EmptySchema);
    },
    async *Haggle(offers, { signal }) {
      signal satisfies AbortSignal;
      for await (const offer of offers) yield { cents: (offer.cents satisfies bigint) - 1n };
    },
  });
  await using server = listen({ addr: "127.0.0.1:0", registrar });
  await using conn = newClient({ targets: [server.addr] });
  const item = await newService(conn, Shop).GetItem({ itemId: "a" });
  assertEquals([item.id, item.stock], ["a", 1n]);
});

Deno.test("handlers by local names infer their types too", async () => {
  const Shop = service((await loadShop()).registry, "shop.v1.Shop");
  new Registrar().register(Shop, {
    getItem: (request, context) => {
      context.peer satisfies string;
      return { id: request.itemId satisfies string };
    },
    async *listItems(request) {
      request.$typeName satisfies "google.protobuf.Empty";
      yield await Promise.resolve({});
    },
  });
});

Deno.test("what does not fit a method does not compile", async () => {
  const Shop = service((await loadShop()).registry, "shop.v1.Shop");
  const check = (_run: () => void) => {};
  check(() => {
    // @ts-expect-error An id is text.
    new Registrar().register(Shop, { GetItem: () => ({ id: 5 }) });
  });
  check(() => {
    // @ts-expect-error A server stream gives several messages.
    new Registrar().register(Shop, { ListItems: () => ({ id: "5" }) });
  });
  check(() => {
    // @ts-expect-error There is no such method.
    new Registrar().register(Shop, { GetItm: () => ({ id: "5" }) });
  });
  check(() => {
    // Made for Connect: its context is the base of ours.
    const made: Partial<ServiceImpl<Shop>> = {
      getItem: (_request, _context: HandlerContext) => ({ id: "5" }),
    };
    new Registrar().register(Shop, made);
  });
});
