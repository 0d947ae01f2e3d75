import { assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, protoc } from "@sluice/sluice";
import { healthFile } from "../../../grpc/wire/proto/health.ts";

const TEXT = `
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
message HealthListRequest {}
message HealthListResponse { map<string, HealthCheckResponse> statuses = 1; }
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc List(HealthListRequest) returns (HealthListResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}`;

const [UNKNOWN, SERVING, NOT_SERVING, SERVICE_UNKNOWN] = [0, 1, 2, 3];

async function withHealth(
  run: (health: grpc.Health, client: grpc.DynamicService) => Promise<void>,
): Promise<void> {
  const registrar = new grpc.Registrar();
  const health = new grpc.Health().register(registrar);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  await run(health, grpc.newService(conn, healthFile()));
}

Deno.test("healthFile() is what the loader makes of the same text", () => {
  const loader = new protoc.Loader();
  loader.load(TEXT, "grpc/health/v1/health.proto");
  assertEquals(
    toBinary(FileDescriptorProtoSchema, healthFile().proto),
    loader.bytes("grpc/health/v1/health.proto"),
  );
});

Deno.test("Check tells the status, NOT_FOUND for a service nobody spoke of", async () => {
  await withHealth(async (health, client) => {
    const check = async (service: string) => (await client.Check({ service })).status;
    assertEquals(await check(""), SERVING);
    const error = await assertRejects(() => check("pkg.A"));
    assertInstanceOf(error, ConnectError);
    assertEquals(error.code, Code.NotFound);
    health.set("pkg.A", "UNKNOWN");
    assertEquals(await check("pkg.A"), UNKNOWN);
    health.set("pkg.A", "NOT_SERVING");
    assertEquals(await check("pkg.A"), NOT_SERVING);
    health.delete("pkg.A");
    assertEquals((await assertRejects(() => check("pkg.A")) as ConnectError).code, Code.NotFound);
  });
});

Deno.test("Watch tells the status at once and every change, also of services not known yet", async () => {
  await withHealth(async (health, client) => {
    using watch = await client.Watch();
    await watch.write({ service: "pkg.A" });
    const next = async () => (await watch.read(1000)).status;
    assertEquals(await next(), SERVICE_UNKNOWN);
    health.set("pkg.A", "SERVING");
    assertEquals(await next(), SERVING);
    // What is not a change is not told.
    health.set("pkg.A", "SERVING");
    health.set("pkg.B", "SERVING");
    health.set("pkg.A", "NOT_SERVING");
    assertEquals(await next(), NOT_SERVING);
    health.delete("pkg.A");
    assertEquals(await next(), SERVICE_UNKNOWN);
  });
});

Deno.test("List tells of all services, and of too many with RESOURCE_EXHAUSTED", async () => {
  await withHealth(async (health, client) => {
    health.set("pkg.A", "NOT_SERVING");
    const { statuses } = await client.List({});
    assertEquals(
      Object.entries(statuses as Record<string, { status: number }>)
        .map(([name, { status }]) => [name, status]).sort(),
      [["", SERVING], ["pkg.A", NOT_SERVING]],
    );
    for (let i = 0; i < grpc.MAX_LISTED_SERVICES; i++) health.set(`pkg.S${i}`, "SERVING");
    const error = await assertRejects(() => client.List({}));
    assertEquals((error as ConnectError).code, Code.ResourceExhausted);
  });
});

Deno.test("shutdown() makes everything NOT_SERVING until resume()", async () => {
  await withHealth(async (health, client) => {
    health.set("pkg.A", "SERVING");
    using watch = await client.Watch();
    await watch.write({ service: "pkg.A" });
    assertEquals((await watch.read(1000)).status, SERVING);
    health.shutdown();
    assertEquals((await watch.read(1000)).status, NOT_SERVING);
    health.set("", "SERVING");
    assertEquals((await client.Check({})).status, NOT_SERVING);
    health.resume();
    assertEquals((await watch.read(1000)).status, SERVING);
    assertEquals((await client.Check({})).status, SERVING);
  });
});

Deno.test("set() refuses what is no status", () => {
  assertThrows(
    () => new grpc.Health().set("pkg.A", "SICK" as grpc.HealthStatus),
    TypeError,
    'Cannot set the health of "pkg.A" as status must be one of UNKNOWN, SERVING, NOT_SERVING: current value is "SICK"',
  );
});
