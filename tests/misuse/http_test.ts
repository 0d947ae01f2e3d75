/** Wrong arguments of every public function of the HTTP entry are refused in words of its own. */
import { assertEquals } from "@std/assert";
import * as http from "../../http/mod.ts";
import { CLIENT_NAMES, REQUEST_NAMES, STREAM_NAMES } from "../../http/client/check_options.ts";
import { NAMES as SERVER_NAMES } from "../../http/server/options.ts";
import { eachOption, end, misuse, type Subject } from "../../support/misuse.ts";

const VERSIONS = ["http/1.1", "h2"];

function pair() {
  const server = http.listen({
    addr: "127.0.0.1:0",
    onError: null,
    handler: async (stream) => {
      await stream.readAll();
      stream.closeWrite("ok");
    },
  });
  const client = http.newClient();
  return {
    url: `http://${server.addr}/`,
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await http.defaultClient().close();
      await server.close();
    },
  };
}

Deno.test("wrong arguments of requests are refused by name", async () => {
  await using p = pair();
  const { url, client } = p;
  const any = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const plain = http as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const subjects: Record<string, Subject> = {
    request: { args: ["GET", url, {}, {}], call: http.request, over: end },
    "client.request": {
      args: ["GET", url, {}, {}],
      call: (...args) => any["request"]!(...args),
      over: end,
    },
    "client.send": {
      args: ["GET", url, {}],
      call: (...args) => any["send"]!(...args),
      over: end,
    },
    "client.fetch": {
      args: [url, {}],
      call: (...args) => any["fetch"]!(...args),
      over: async (response: Response) => await response.body?.cancel(),
    },
    ...eachOption("get", REQUEST_NAMES, (o) => client.get(url, null, o)),
    ...eachOption("get", [...REQUEST_NAMES, "headers", "body"], (o) => client.get(url, o)),
    ...eachOption("request", STREAM_NAMES, (o) => client.request("GET", url, null, o), end),
  };
  for (const method of ["get", "head", "post", "put", "patch", "delete"]) {
    const args = method === "get" || method === "head" ? [url, {}, {}] : [url, {}, "x", {}];
    subjects[`client.${method}`] = { args, call: (...given) => any[method]!(...given) };
    const name = method === "delete" ? "del" : method;
    subjects[name] = { args, call: (...given) => plain[name]!(...given) };
  }
  assertEquals(await misuse(subjects), []);
});

Deno.test("wrong options of clients and servers are refused by name", async () => {
  await using p = pair();
  const use = async (client: http.Client) => {
    try {
      await client.get(p.url);
    } finally {
      await client.close();
    }
  };
  const subjects: Record<string, Subject> = {
    newClient: { args: [{}], call: http.newClient, over: end },
    listen: { args: [{ addr: "127.0.0.1:0", handler() {} }], call: http.listen, over: end },
    fetchHandler: { args: [{ handler() {} }], call: http.fetchHandler },
    proxyFromEnv: { args: [() => ""], call: http.proxyFromEnv },
    attempt: { args: [Promise.resolve(1)], call: http.attempt },
    ...eachOption("newClient", CLIENT_NAMES, http.newClient, use),
  };
  for (const engine of ["own", "deno"] as const) {
    const listen = (options: object) =>
      http.listen({ addr: "127.0.0.1:0", engine, handler() {}, onError: null, ...options });
    Object.assign(subjects, eachOption(`listen, ${engine}`, SERVER_NAMES, listen, end));
  }
  assertEquals(await misuse(subjects), []);
  for (const limits of [null, 5, "", NaN, [], () => {}]) {
    const listening = await http.attempt((async () => {
      await end(http.listen({ addr: "127.0.0.1:0", handler() {}, limits: limits as never }));
    })());
    assertEquals(listening[1]?.name, "TypeError", `limits: ${String(limits)}`);
  }
});

Deno.test("wrong arguments of streams are refused by name, and their exchange ends", async () => {
  const calls: Record<string, unknown[]> = {
    respond: [200, {}, false],
    inform: [103, {}],
    write: ["x"],
    closeWrite: ["x", {}],
    upgradeWebSocket: [{}],
  };
  const subjects: Record<string, Subject> = {};
  for (const version of VERSIONS) {
    for (const engine of ["own", "deno"] as const) {
      for (const [method, args] of Object.entries(calls)) {
        const call = async (...given: unknown[]) => {
          let fault: unknown;
          await using server = http.listen({
            addr: "127.0.0.1:0",
            engine,
            onError: null,
            handler: async (stream) => {
              const any = stream as unknown as Record<string, (...args: unknown[]) => unknown>;
              try {
                await any[method]!(...given);
                stream.closeWrite();
              } catch (error) {
                fault = error;
                throw error;
              }
            },
          });
          await using client = http.newClient({ alpnProtos: [version] });
          await client.get(`http://${server.addr}/`).catch(() => {});
          if (fault !== undefined) throw fault;
        };
        subjects[`${version}, ${engine}, stream.${method}`] = { args, call };
      }
    }
    for (const [method, args] of Object.entries({ write: ["x"], closeWrite: ["x", {}] })) {
      const call = async (...given: unknown[]) => {
        await using p = pair();
        await using client = http.newClient({ alpnProtos: [version] });
        using stream = await client.request("POST", p.url);
        const any = stream as unknown as Record<string, (...args: unknown[]) => unknown>;
        await any[method]!(...given);
      };
      subjects[`${version}, client's stream.${method}`] = { args, call };
    }
  }
  assertEquals(await misuse(subjects), []);
});

Deno.test("errors made with wrong arguments are errors", async () => {
  const subjects: Record<string, Subject> = {};
  for (const [name, value] of Object.entries(http)) {
    if (!name.endsWith("Error")) continue;
    const Made = value as new (...args: never[]) => Error;
    subjects[name] = {
      args: ["a", "b", "c"],
      call: (...args) => [String(new Made(...args)), Deno.inspect(new Made(...args))],
    };
  }
  assertEquals(await misuse(subjects), []);
});
