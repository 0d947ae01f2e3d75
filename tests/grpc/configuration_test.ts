import { assertThrows } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { GREETER } from "../../support/greeter.ts";

Deno.test("wrong configuration throws at once and says what to change", async () => {
  const registrar = new grpc.Registrar();
  // deno-lint-ignore no-explicit-any
  const any = (value: unknown) => value as any;
  assertThrows(() => grpc.listen(any({ addr: ":0" })), TypeError, "registrar");
  assertThrows(() => grpc.listen({ addr: "nonsense", registrar }), TypeError, "host:port");
  assertThrows(() => grpc.listen({ addr: ":0", registrar, tls: true }), TypeError, "certs");
  assertThrows(
    () => grpc.listen({ addr: ":0", registrar, tls: true, certs: [{ cert: "x", key: "y" }] }),
    TypeError,
    "certs[0]",
  );
  assertThrows(() => grpc.newClient(any({})), TypeError, "targets");
  assertThrows(() => grpc.newClient({ targets: ["nohost"] }), TypeError, "host:port");
  await using conn = grpc.newClient({ targets: ["127.0.0.1:1"] });
  assertThrows(
    () => grpc.newService(conn, GREETER, "Nobody"),
    TypeError,
    "its services are Greeter",
  );
  assertThrows(
    () => registrar.register(GREETER, { SayHelo: () => ({}) }),
    TypeError,
    `"SayHelo"`,
  );
  assertThrows(() => registrar.register(GREETER, any({ SayHello: 5 })), TypeError, "function");
  registrar.register(GREETER, {});
  assertThrows(() => registrar.register(GREETER, {}), TypeError, "twice");
});

Deno.test("listen() throws the system's error when the port is in use", () => {
  const registrar = new grpc.Registrar();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const addr = `127.0.0.1:${taken.addr.port}`;
  assertThrows(() => grpc.listen({ addr, registrar }), Deno.errors.AddrInUse);
  taken.close();
});
