import { assert } from "@std/assert";
import { http, kv } from "@sluice/sluice";

const signal = AbortSignal.abort();
const NOBODY = "http://127.0.0.1:1/";

/** Calls that fail without having waited for anything, on a client that is open and one that is not. */
const CALLS: Readonly<
  Record<string, (open: http.Client, closed: http.Client) => Promise<unknown>>
> = {
  "get() of what is no URL": (open) => open.get("nope:"),
  "get() with an aborted signal": (open) => open.get(NOBODY, { signal }),
  "get() of a closed client": (_, closed) => closed.get(NOBODY),
  "send() of a closed client": (_, closed) => closed.send("POST", NOBODY),
  "request() of a closed client": (_, closed) => closed.request("POST", NOBODY),
  "fetch() of a closed client": (_, closed) => closed.fetch(NOBODY),
};

/** Calls until a timer of the process has had its turn; false if it has not within two seconds. */
async function letsTimersFire(call: () => Promise<unknown>): Promise<boolean> {
  let fired = false;
  const timer = setTimeout(() => fired = true, 0);
  for (const end = performance.now() + 2000; !fired && performance.now() < end;) {
    await call().catch(() => {});
  }
  clearTimeout(timer);
  return fired;
}

for (const [what, call] of Object.entries(CALLS)) {
  Deno.test(`a loop of ${what} lets the event loop turn`, async () => {
    await using open = http.newClient();
    const closed = http.newClient();
    await closed.close();
    assert(await letsTimersFire(() => call(open, closed)));
  });
}

Deno.test("a loop of calls of a closed client of kv lets the event loop turn", async () => {
  const client = kv.newClient({ endpoints: ["127.0.0.1:1"] });
  await client.close();
  for (const call of [() => client.get({ key: "a" }), () => client.watch({ key: "a" })]) {
    assert(await letsTimersFire(call));
  }
});
