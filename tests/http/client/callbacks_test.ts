/** Callbacks of requests that fail, at once or later, end their request at most. */
import { assert, assertEquals } from "@std/assert";
import { newClient, type RequestOptions } from "../../../http/mod.ts";
import { printed } from "../../../support/console.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

const reason = new Error("callback is broken");

/** Ways to fail. */
const FAULTS: Record<string, () => unknown> = {
  throws: () => {
    throw reason;
  },
  rejects: () => Promise.reject(reason),
  "rejects later": async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    throw reason;
  },
  "is a thenable that fails": () => ({
    then(_resolve: unknown, reject: (error: unknown) => void) {
      reject(reason);
    },
  }),
  "throws nothing": () => {
    // deno-lint-ignore no-throw-literal
    throw undefined;
  },
};

for (const transport of TRANSPORTS.slice(0, 2)) {
  for (const name of ["onUpload", "onDownload", "onRedirect"] as const) {
    Deno.test(`${name} that fails ends its request at most (${transport.name})`, async () => {
      for (const [fault, fail] of Object.entries(FAULTS)) {
        let failed: unknown = "no";
        const lines = await printed(async () => {
          await using p = await pair(transport, async (stream) => {
            if (stream.path === "/away") {
              return Response.redirect(`http://${stream.authority}/`, 307);
            }
            const body = await stream.readBytes();
            await new Promise((resolve) => setTimeout(resolve, 5));
            await stream.respond(200);
            stream.closeWrite(body);
            return undefined;
          });
          // A request beside it on the same connection, where there is one.
          const bystander = p.client.post(p.url, null, "beside");
          const options = { [name]: fail } as RequestOptions;
          const body = new Uint8Array(200_000);
          await p.client.post(`${p.url}/away`, null, body, options).then(
            () => failed = "no",
            (error) => failed = error,
          );
          assertEquals((await bystander).body, "beside");
          assertEquals((await p.client.post(p.url, null, "after")).body, "after");
        });
        // Either the request has the fault or, if it was over already, the console.
        const told = failed === reason || (fault === "throws nothing" && failed !== "no") ||
          lines.some((line) => line.includes("callback is broken"));
        assert(told, `${fault}: ${failed} ${lines}`);
      }
    });
  }

  Deno.test(`lookup that fails is the request's error (${transport.name})`, async () => {
    for (const [fault, fail] of Object.entries(FAULTS)) {
      await using p = await pair(transport, () => new Response("fine"));
      await using client = newClient({
        lookup: (hostname) => hostname === "bad.test" ? fail() as never : ["127.0.0.1"],
        alpnProtos: [transport.version === "HTTP/2" ? "h2" : "http/1.1"],
      });
      const [bad, good] = await Promise.allSettled([
        client.get(`http://bad.test:${p.server.port}/`),
        client.get(`http://good.test:${p.server.port}/`),
      ]);
      assertEquals(bad.status, "rejected", fault);
      assertEquals(good.status, "fulfilled", fault);
    }
  });

  Deno.test(`a callback that never ends does not outlive its request (${transport.name})`, async () => {
    await using p = await pair(
      transport,
      (stream) =>
        stream.path === "/away"
          ? Response.redirect(`http://${stream.authority}/`, 302)
          : new Response("fine"),
    );
    const never = () => new Promise<boolean>(() => {});
    const slow = p.client.get(`${p.url}/away`, null, { onRedirect: never, timeout: 30 });
    const [outcome] = await Promise.allSettled([slow]);
    assertEquals(outcome.status, "rejected");
    assertEquals((await p.client.get(p.url)).body, "fine");
  });

  Deno.test(`listeners of a handler's signal that throw end nothing (${transport.name})`, async () => {
    const aborted = Promise.withResolvers<void>();
    const lines = await printed(async () => {
      await using p = await pair(transport, (stream) => {
        if (stream.path === "/") return new Response("fine");
        stream.signal.addEventListener("abort", () => {
          throw reason;
        });
        stream.signal.addEventListener("abort", () => aborted.resolve());
        return aborted.promise.then(() => new Response("late"));
      });
      await p.client.get(`${p.url}/slow`, null, { timeout: 30 }).catch(() => {});
      await aborted.promise;
      assertEquals((await p.client.get(p.url)).body, "fine");
    });
    assertEquals(lines.length, 1);
    assert(lines[0]!.includes("callback is broken"), lines[0]);
  });
}
