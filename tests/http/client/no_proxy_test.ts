import { assert } from "@std/assert";
import { matchesNoProxy } from "../../../http/client/no_proxy.ts";

Deno.test("matchesNoProxy() reads hosts, domains, ports, addresses and ranges", () => {
  const matches = (rule: string, host: string, port = 80) => matchesNoProxy(rule, host, port);
  assert(matches("*", "anything"));
  assert(matches("example.com", "example.com") && matches("example.com", "a.example.com"));
  assert(!matches("example.com", "badexample.com") && !matches("example.com", "example.org"));
  assert(matches(".example.com", "a.example.com") && matches("*.example.com", "a.example.com"));
  assert(matches("h:80", "h") && !matches("h:81", "h"));
  assert(matches("10.0.0.0/8", "10.1.2.3") && !matches("10.0.0.0/8", "11.1.2.3"));
  assert(matches("0.0.0.0/0", "1.2.3.4") && !matches("10.0.0.0/8", "ten.example"));
  assert(matches("::1", "::1") && matches("[::1]:80", "::1") && !matches("[::1]:81", "::1"));
});
