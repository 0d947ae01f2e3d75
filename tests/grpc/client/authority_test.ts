import { assertEquals, assertThrows } from "@std/assert";
import { grpc, protoc } from "@sluice/sluice";

const FILE = new protoc.Loader().load(
  'syntax = "proto3"; message M { string text = 1; } service S { rpc Say(M) returns (M); }',
  "authority.proto",
);

Deno.test("authority stands in the requests instead of the target", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(FILE, { Say: (_, context) => ({ text: context.url }) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  const urlOf = async (options: object): Promise<string> => {
    await using conn = grpc.newClient({ targets: [server.addr], ...options });
    return (await grpc.newService(conn, FILE).Say({})).text;
  };
  assertEquals(await urlOf({}), `http://${server.addr}/S/Say`);
  assertEquals(await urlOf({ authority: "shop.example:443" }), "http://shop.example:443/S/Say");
  for (const authority of ["", "a b", "a/b", "a@b", "a\n", 5]) {
    assertThrows(() => grpc.newClient({ targets: [server.addr], authority } as never), TypeError);
  }
});
