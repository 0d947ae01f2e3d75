import { assertEquals } from "@std/assert";
import { proxyFor, proxyFromEnv } from "../../../http/client/proxy.ts";
import { parseTarget } from "../../../http/message/url.ts";

Deno.test("proxyFromEnv() reads the usual names and not what CGI clients can set", () => {
  const env = (vars: Record<string, string>) => proxyFromEnv((name) => vars[name]);
  assertEquals(env({}), { noProxy: [] });
  assertEquals(env({ HTTP_PROXY: "http://p", NO_PROXY: "a, b" }), {
    http: "http://p",
    noProxy: ["a", "b"],
  });
  assertEquals(env({ HTTP_PROXY: "http://p", REQUEST_METHOD: "GET" }), { noProxy: [] });
  assertEquals(env({ https_proxy: "http://q", HTTPS_PROXY: "http://p" }).https, "http://q");
  const config = env({ ALL_PROXY: "p:3128", NO_PROXY: "direct" });
  assertEquals(proxyFor(parseTarget("http://h/"), config)?.origin, "http://p:3128");
  assertEquals(proxyFor(parseTarget("http://direct/"), config), null);
});
