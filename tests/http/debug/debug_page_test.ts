/** The page that shows a server: who may read it, and what it counts. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { grpc, http } from "@sluice/sluice";
import { registerWork, workFile } from "../../../support/debug_server.ts";

/** State of the page, as it is read. */
// deno-lint-ignore no-explicit-any
async function stateOf(url: string): Promise<any> {
  const response = await http.get(`${url}data.json`, { connection: "close" });
  assertEquals(response.status, 200);
  return response.json();
}

Deno.test("calls are counted by method with errors and durations, whatever their protocol", async () => {
  const registrar = new grpc.Registrar();
  const work = registerWork(registrar);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar,
    telemetry: false,
    onError: null,
    handler: (stream) => {
      if (stream.path === "/bad") throw new Error("broken");
      return new Response("well");
    },
  });
  const unseen = await http.get(`http://${server.addr}/`, { connection: "close" });
  assertEquals(unseen.status, 200);
  await using admin = http.listen({ addr: "127.0.0.1:0", handler: http.debugPage(server) });
  const url = `http://${admin.addr}/`;
  // Nothing was counted before the page was mounted.
  assertEquals((await stateOf(url)).calls, []);
  await using client = http.newClient();
  await client.get(`http://${server.addr}/`);
  await client.get(`http://${server.addr}/bad`);
  await client.send("BREW", `http://${server.addr}/`).then((stream) => stream.readAll());
  for (const protocol of ["grpc", "grpc-web", "connect"] as const) {
    await using conn = grpc.newClient({ targets: [server.addr], protocol });
    const service = grpc.newService(conn, workFile);
    await service.Quick({});
    await http.attempt(service.Quick({ fail: true }));
  }
  await using conn = grpc.newClient({ targets: [server.addr] });
  const hanging = http.attempt(grpc.newService(conn, workFile).Hang({}));
  await work.hanging;
  const { calls, clients, addr, connections } = await stateOf(url);
  assertEquals(addr, server.addr);
  assertEquals(
    // deno-lint-ignore no-explicit-any
    calls.map(({ name, calls, running, failed }: any) => [name, calls, running, failed]),
    [
      ["GET", 2, 0, 1],
      ["_OTHER", 1, 0, 0],
      ["debug.Work/Hang", 1, 1, 0],
      ["debug.Work/Quick", 6, 0, 3],
    ],
  );
  for (const { durations, last, lastFailed, calls: all, running, failed } of calls) {
    const sum = (list: number[]): number => list.reduce((total, n) => total + n, 0);
    assertEquals([sum(durations), sum(last), sum(lastFailed)], [
      all - running,
      all - running,
      failed,
    ]);
  }
  assert(connections >= 2);
  // deno-lint-ignore no-explicit-any
  const busy = clients.find(({ carries }: any) => carries.open === 1);
  assertEquals(busy.carries.version, "HTTP/2");
  const [stream] = busy.carries.streams;
  assertEquals(stream.state, "half-closed (remote)");
  assert(stream.sendWindow > 0 && stream.receiveWindow > 0 && busy.carries.sendWindow > 0);
  // deno-lint-ignore no-explicit-any
  const plain = clients.find(({ carries }: any) => carries.version === "HTTP/1.1");
  assertMatch(JSON.stringify(plain.carries), /"requests":[1-9]/);
  work.release();
  await hanging;
  // deno-lint-ignore no-explicit-any
  const over = (await stateOf(url)).calls.find(({ name }: any) => name === "debug.Work/Hang");
  assertEquals([over.calls, over.running, over.failed], [1, 0, 0]);
});

Deno.test("the page is refused to pages of other origins, other hosts and other methods", async () => {
  await using server = http.listen({ addr: "127.0.0.1:0", handler: () => new Response("") });
  const page = http.debugPage(server, { path: "/debug/", hosts: ["admin.example"] });
  await using admin = http.listen({ addr: "127.0.0.1:0", handler: page });
  await using client = http.newClient();
  const own = `http://${admin.addr}`;
  const ask = async (
    path: string,
    headers: Record<string, string> = {},
    method = "GET",
  ): Promise<number> => {
    const stream = await client.send(method, `${own}${path}`, { headers, redirect: "manual" });
    await stream.readAll();
    assertStringIncludes(`${stream.header["content-security-policy"]}`, "default-src 'none'");
    assertEquals(stream.header["cross-origin-resource-policy"], "same-origin");
    assertEquals(stream.header["access-control-allow-origin"], undefined);
    return stream.status;
  };
  for (const file of ["", "style.css", "main.js", "data.json"]) {
    assertEquals(await ask(`/debug/${file}`), 200);
    assertEquals(
      await ask(`/debug/${file}`, { "sec-fetch-site": "same-origin", origin: own }),
      200,
    );
    assertEquals(await ask(`/debug/${file}`, { "sec-fetch-site": "none" }), 200);
    for (const site of ["cross-site", "same-site", "anything"]) {
      assertEquals(await ask(`/debug/${file}`, { "sec-fetch-site": site }), 403);
    }
    for (const origin of ["null", "https://evil.example", `https://${admin.addr}`, ""]) {
      assertEquals(await ask(`/debug/${file}`, { origin }), 403, origin);
    }
    // A name that somebody else lets point here.
    assertEquals(await ask(`/debug/${file}`, { host: "evil.example" }), 421);
    assertEquals(await ask(`/debug/${file}`, { host: "admin.example" }), 200);
    assertEquals(await ask(`/debug/${file}`, { host: "localhost:80" }), 200);
    for (const method of ["POST", "PUT", "OPTIONS", "BREW"]) {
      assertEquals(await ask(`/debug/${file}`, {}, method), 405);
    }
    assertEquals(await ask(`/debug/${file}`, {}, "HEAD"), 200);
  }
  assertEquals(await ask("/debug"), 308);
  for (const path of ["/", "/debug/else", "/debug/data.json/", "/debug//", "/debug/__proto__"]) {
    assertEquals(await ask(path), 404, path);
  }
});

Deno.test("a page needs a server of this engine, and options that can be used", async () => {
  await using server = http.listen({ addr: "127.0.0.1:0", handler: () => new Response("") });
  await using platform = http.listen({
    addr: "127.0.0.1:0",
    engine: "deno",
    handler: () => new Response(""),
  });
  await using calls = grpc.listen({ addr: "127.0.0.1:0", registrar: new grpc.Registrar() });
  http.debugPage(calls);
  for (const wrong of [platform, {}, null, 5]) {
    assertThrows(() => http.debugPage(wrong as never), TypeError, 'with engine "own"');
  }
  for (const path of ["debug", "/debug", "/a//b/", "/ä/", "", 5]) {
    assertThrows(() => http.debugPage(server, { path: path as never }), TypeError, "path must");
  }
  assertThrows(() => http.debugPage(server, { hosts: "x" as never }), TypeError, "hosts must");
  assertThrows(() => http.debugPage(server, { hots: [] } as never), TypeError, '"hosts"');
});
