import { assertEquals, assertThrows } from "@std/assert";
import { checkOrigins, expose, preflight } from "../../../grpc/web/cors.ts";

const APP = "https://app.example";

Deno.test("checkOrigins() takes what browsers send as origin, and `*`", () => {
  for (const origins of [[], ["*"], [APP], ["http://localhost:8080", "http://[::1]:1", APP]]) {
    assertEquals(checkOrigins(origins), origins);
  }
  for (
    const bad of [
      `${APP}/`,
      `${APP}/path`,
      "app.example",
      "https://APP.example",
      "https://app.example:443",
      "null",
      "",
      5,
      null,
    ]
  ) {
    assertThrows(() => checkOrigins([APP, bad as string]), TypeError, JSON.stringify(bad));
  }
  for (const bad of ["*", null, {}, 5]) {
    assertThrows(() => checkOrigins(bad as never), TypeError, "list of origins");
  }
});

Deno.test("preflight() answers origins that may call, with what they ask for", () => {
  const ask = (origins: readonly string[], fields: Record<string, string>) =>
    preflight(origins, new Headers(fields));
  assertEquals(ask([], { origin: APP }), null);
  assertEquals(ask([APP], {}), null);
  assertEquals(ask(["*"], {}), null);
  assertEquals(ask([APP], { origin: `${APP}.evil.example` }), null);
  assertEquals(ask([APP], { origin: "null" }), null);
  const answer = ask([APP], { origin: APP, "access-control-request-headers": "x-a, x-b" })!;
  assertEquals(answer["access-control-allow-origin"], APP);
  assertEquals(answer["access-control-allow-headers"], "x-a, x-b");
  assertEquals(answer["access-control-allow-methods"]!.split(", ").sort(), ["GET", "POST"]);
  assertEquals(answer["vary"], "origin, access-control-request-headers");
  // Whoever asks is named: credentials go with no "*".
  const any = ask(["*"], { origin: "https://other.example" })!;
  assertEquals(any["access-control-allow-origin"], "https://other.example");
  assertEquals(/(?:^|, )grpc-timeout(?:, |$)/i.test(any["access-control-allow-headers"]!), true);
});

Deno.test("expose() lets scripts of allowed origins see every field, and tells caches", () => {
  const exposed = (origins: readonly string[], origin?: string) => {
    const response = new Headers({ "x-own": "1", vary: "accept" });
    expose(origins, new Headers(origin === undefined ? {} : { origin }), response);
    return response;
  };
  for (const response of [exposed([APP]), exposed([APP], "https://other.example"), exposed([])]) {
    assertEquals([...response], [["vary", "accept, origin"], ["x-own", "1"]]);
  }
  const response = exposed([APP], APP);
  assertEquals(response.get("access-control-allow-origin"), APP);
  assertEquals(response.get("vary"), "accept, origin");
  const names = response.get("access-control-expose-headers")!.split(", ");
  assertEquals(names.includes("x-own") && names.includes("grpc-status"), true);
  assertEquals(new Set(names).size, names.length);
});
