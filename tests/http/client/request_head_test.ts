/** What a client puts into the head of a request, and what it says of URLs it cannot use. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { checkMethod } from "../../../http/client/request_head.ts";
import { maskUserinfo, parseTarget } from "../../../http/message/url.ts";
import { newClient as newGrpcClient } from "../../../grpc/mod.ts";
import { listen, newClient } from "../../../http/mod.ts";
import { newClient as newKvClient } from "../../../kv/mod.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

for (const transport of TRANSPORTS) {
  Deno.test(`six methods may be given in any case, others are sent as given (${transport.name})`, async () => {
    await using p = await pair(transport, (stream) => new Response(stream.method));
    for (const method of ["get", "Post", "pUT", "delete", "OPTIONS"]) {
      using stream = await p.client.send(method, p.url);
      assertEquals(await stream.readAll(), method.toUpperCase());
    }
    using stream = await p.client.request("get", p.url);
    stream.closeWrite();
    await stream.waitResponse();
    assertEquals(await stream.readAll(), "GET");
    using purge = await p.client.send("PURGE", p.url);
    assertEquals(await purge.readAll(), "PURGE");
  });

  Deno.test(`trailers that must come before the body are not sent (${transport.name})`, async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.readAll();
      return Response.json(stream.trailers);
    });
    using stream = await p.client.request("POST", p.url);
    await stream.write("body");
    for (const name of ["content-length", "transfer-encoding", "Host", "set-cookie", "upgrade"]) {
      assertThrows(() => stream.closeWrite(null, { [name]: "1" }), TypeError, "as a trailer");
    }
    stream.closeWrite(null, { "x-t": "1" });
    assertEquals(await stream.json(), { "x-t": "1" });
  });

  Deno.test(`a client sends one host and one length, or nothing (${transport.name})`, async () => {
    await using p = await pair(transport, () => new Response("ok"));
    for (
      const headers of [
        [["host", "a"], ["host", "a"]],
        [["content-length", "2"], ["content-length", "2"]],
        [["content-length", "3"]],
        [["content-length", "2,2"]],
        [["transfer-encoding", "gzip"]],
        [["host", "a:65536"]],
      ] as [string, string][][]
    ) {
      await assertRejects(() => p.client.post(p.url, headers, "hi"), TypeError, "Cannot request");
    }
    assertEquals((await p.client.post(p.url, { "content-length": 2 }, "hi")).body, "ok");
  });
}

Deno.test("checkMethod() leaves patch and unknown methods in their case", () => {
  assertEquals(["get", "Head", "patch", "Purge"].map(checkMethod), [
    "GET",
    "HEAD",
    "patch",
    "Purge",
  ]);
  for (const method of ["", "G T", "GET\r\n", "CONNECT", "é"]) {
    assertThrows(() => checkMethod(method), TypeError);
  }
});

/** Everything an error says, its causes included. */
function shown(error: unknown): string {
  let text = "";
  for (let at = error; at !== undefined; at = (at as Error).cause) text += Deno.inspect(at);
  return text;
}

Deno.test("errors show neither user nor password of a URL", async () => {
  await using client = newClient();
  const texts = [
    "http://user:SECRET@[::bad/",
    "http://user:SECRET@h:99999/",
    "http://user:SE/SECRET@h/",
    "https://SECRET@/",
    "user:SECRET@h",
    "//user:SECRET@h/",
  ];
  for (const url of texts) {
    const error = await assertRejects(() => client.get(url), TypeError);
    assert(!shown(error).includes("SECRET"), shown(error));
  }
  for (
    const given of [
      () => newClient({ proxy: { http: "ftp://user:SECRET@h" } }),
      () => newClient({ proxy: { https: "http://user:SE/SECRET@h:x" } }),
      () => listen({ addr: "user:SECRET@h:1", handler: () => {} }),
      () => newGrpcClient({ targets: ["user:SECRET@h:1"] }),
      () => newGrpcClient({ targets: ["dns:///user:SECRET@h:1"] }),
      () => newGrpcClient({ targets: ["dns://SECRET@h:1"] }),
      () => newKvClient({ endpoints: ["https://user:SECRET@h:1"] }),
      () => newKvClient({ endpoints: ["SECRET@h:1"] }),
    ]
  ) {
    const error = assertThrows(given, TypeError);
    assert(!shown(error).includes("SECRET"), shown(error));
  }
});

Deno.test("errors show neither user nor password of a location", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      stream.respond(302, { location: stream.query["to"]! });
      stream.closeWrite();
    },
  });
  await using client = newClient();
  for (const to of ["http://u:SECRET@[::bad", "ftp://u:SECRET@h/", "http://u:SECRET@h/"]) {
    const url = `http://${server.addr}/?to=${encodeURIComponent(to)}`;
    const options = to.endsWith("/") && to.startsWith("http") ? { redirect: "error" } as const : {};
    const error = await assertRejects(() => client.get(url, null, options));
    // The URL of the request itself is the caller's.
    const text = shown(error).replaceAll(encodeURIComponent(to), "");
    assert(!text.includes("SECRET"), text);
  }
});

Deno.test("maskUserinfo() leaves text without user as it is", () => {
  assertEquals(maskUserinfo("http://h/p"), "http://h/p");
  assertEquals(maskUserinfo("http://u:p@h/p"), "http://***@h/p");
  assertEquals(maskUserinfo("u@h"), "***@h");
  assertEquals(maskUserinfo(8080), 8080);
  assertThrows(() => parseTarget("/no/base"), TypeError, '"/no/base"');
});
