/** Wrong arguments of every public function of the etcd client are refused in words of its own. */
import { assertEquals } from "@std/assert";
import * as kv from "../../kv/mod.ts";
import { NAMES } from "../../kv/endpoints.ts";
import { eachOption, end, misuse, type Subject } from "../../support/misuse.ts";

const endpoints = ["127.0.0.1:1"];

Deno.test("wrong options of an etcd client are refused by name", async () => {
  const make = (options: object) => kv.newClient({ endpoints, ...options });
  assertEquals(
    await misuse({
      newClient: { args: [{ endpoints }], call: kv.newClient, over: end },
      ...eachOption("newClient", NAMES, make, end),
      ...eachOption("tls", ["serverName", "caCerts", "cert", "key"], (tls) => make({ tls }), end),
      ...eachOption("keepalive", ["interval", "timeout"], (keepalive) => make({ keepalive }), end),
    }),
    [],
  );
});

Deno.test("wrong requests to etcd are refused by name", async () => {
  await using client = kv.newClient({ endpoints, retry: 0 });
  // deno-lint-ignore no-explicit-any
  const any = client as any;
  // Nobody is there to answer what is right.
  const options = { timeout: 0.02 };
  const fields: Record<string, string[]> = {
    put: ["key", "value", "lease", "prevKv", "ignoreValue", "ignoreLease"],
    get: ["key", "prefix", "fromKey", "rangeEnd", "limit", "revision", "keysOnly", "countOnly"],
    delete: ["key", "prefix", "fromKey", "rangeEnd", "prevKv"],
    txn: ["compare", "success", "failure"],
    compact: ["revision", "physical"],
    grant: ["TTL", "ID"],
    revoke: ["ID"],
    ttl: ["ID", "keys"],
    watch: ["key", "prefix", "startRevision", "filters", "noPut", "progressNotify"],
  };
  const subjects: Record<string, Subject> = {
    keepalive: { args: [1n], call: (ID) => void client.keepalive(ID).catch(() => {}) },
    leaseSignal: { args: [1n], call: (ID) => client.leaseSignal(ID) },
    "leases, options": {
      args: [options],
      call: (given: unknown) => any.leases(usual(given) ? options : given),
    },
  };
  for (const [method, names] of Object.entries(fields)) {
    subjects[method] = { args: [{}], call: (request) => any[method](request, options), over: end };
    subjects[`${method}, options`] = {
      args: [options],
      call: (given) => any[method]({ key: "a" }, usual(given) ? options : given),
      over: end,
    };
    const key = ["put", "get", "delete", "watch"].includes(method) ? { key: "a" } : {};
    const call = (request: object) => any[method]({ ...key, ...request }, options);
    Object.assign(subjects, eachOption(method, names, call, end));
  }
  assertEquals(await misuse(subjects), []);
});

/** Options that would wait as long as the client does. */
function usual(given: unknown): boolean {
  return given === undefined || given === 5 ||
    (typeof given === "object" && given !== null && Object.keys(given).length === 0);
}

Deno.test("errors of etcd made with wrong arguments are errors", async () => {
  const subjects: Record<string, Subject> = {};
  for (const [name, value] of Object.entries(kv)) {
    if (!name.endsWith("Error")) continue;
    const Made = value as new (...args: never[]) => Error;
    subjects[name] = { args: ["a", "b", "c"], call: (...args) => String(new Made(...args)) };
  }
  assertEquals(await misuse(subjects), []);
});
