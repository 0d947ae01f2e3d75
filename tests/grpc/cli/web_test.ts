/** The page with a form for each method, and the bridge it calls by, which is for nobody else. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { http } from "@sluice/sluice";
import { Browser, CHROMIUM } from "../../../support/browser.ts";
import { peerTest } from "../../../support/peers.ts";
import { ours, ownServer } from "./support.ts";

/** Shows the page of a server while `use` runs. */
async function withPage(use: (url: string) => Promise<void>, ...flags: string[]): Promise<void> {
  await using server = ownServer();
  const controller = new AbortController();
  const shown = Promise.withResolvers<string>();
  const args = ["-plaintext", ...flags, "-web", "-web-addr", "127.0.0.1:0", server.addr];
  const running = ours(args, {
    interrupted: controller.signal,
    onPrint: (text) => shown.resolve(text.trim()),
  });
  const url = await Promise.race([
    shown.promise,
    running.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);
  try {
    await use(url);
  } finally {
    controller.abort();
    await running;
  }
}

const call = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}test.all.Echo/Unary`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

Deno.test("the bridge refuses scripts of other pages and other names for its address", async () => {
  await withPage(async (url) => {
    const { origin, port } = new URL(url);
    const status = async (headers: Record<string, string>) => {
      const response = await call(url, { s: "x" }, headers);
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await status({}), 200);
    assertEquals(await status({ origin }), 200);
    assertEquals(await status({ origin: `http://localhost:${port}` }), 200);
    for (
      const foreign of [
        "http://evil.example",
        `http://evil.example:${port}`,
        "null",
        `https://127.0.0.1:${port}`,
      ]
    ) {
      assertEquals(await status({ origin: foreign }), 403, foreign);
    }
    await using client = http.newClient();
    const refused = await client.get(url, { host: `evil.example:${port}` });
    assertEquals(refused.status, 421);
    for (const path of ["index.html", "page/", "x", "__proto__", "%2e%2e/command.ts"]) {
      const response = await fetch(url + path);
      await response.body?.cancel();
      assertEquals(response.status, 404, path);
    }
    const page = await fetch(url);
    assertStringIncludes(page.headers.get("content-security-policy")!, "default-src 'self'");
    await page.body?.cancel();
  });
});

Deno.test("the bridge hands on metadata, deadlines and errors", async () => {
  await withPage(async (url) => {
    const echoed = await call(url, { s: "x" }, { "x-grpc-x-header": "a%20b" });
    assertEquals(await echoed.json(), { s: "x" });
    assertEquals(echoed.status, 200);
    const failed = await call(url, {}, { "x-grpc-x-code": "5" });
    assertEquals([failed.status, (await failed.json()).code], [404, "not_found"]);
    const always = await call(url, {}, { "x-code": "5" });
    await always.body?.cancel();
    assertEquals(always.status, 200, "headers of the page's own requests are none of the call's");
  });
  await withPage(
    async (url) => {
      const failed = await call(url, {});
      assertEquals((await failed.json()).code, "not_found");
    },
    "-rpc-header",
    "x-code: 5",
  );
});

peerTest("in a browser, forms call methods, and streams show as they come", {
  needs: [CHROMIUM],
}, async () => {
  await using browser = await Browser.start();
  await withPage(async (url) => {
    await using page = await browser.open(url);
    const choose = (method: string) =>
      page.until(`document.querySelector('[data-path="/test.all.Echo/${method}"]')`)
        .then(() => page.click(`[data-path="/test.all.Echo/${method}"]`));
    const outcome = (text: string) =>
      page.until(
        `document.querySelector("#outcome").textContent.startsWith(${JSON.stringify(text)})`,
      );
    const shown = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll("#responses pre")].map((one) => one.textContent)`,
      );
    await choose("Unary");
    await page.click('[name="s"]');
    await page.type("hello <b>");
    await page.click("#send");
    await outcome("OK: 1 response");
    assertEquals(JSON.parse((await shown())[0]!).s, "hello <b>");
    await choose("Down");
    await page.click('[name="s"]');
    await page.type("three");
    await page.click("#send");
    await outcome("OK: 3 responses");
    assertEquals((await shown()).map((text) => JSON.parse(text).s), ["three", "three", "three"]);
    for (const method of ["Up", "Both"]) {
      await choose(method);
      for (const text of ["one", "two"]) {
        await page.click('[name="s"]');
        await page.type(text);
        await page.click("#add");
      }
      await page.click("#send");
      await outcome("OK");
      const texts = (await shown()).map((text) => JSON.parse(text).s);
      assertEquals(texts, method === "Up" ? ["two"] : ["one", "two"]);
    }
    await choose("Nothing");
    await page.click("summary");
    await page.click("#metadata");
    await page.type("x-code: 7");
    await page.click("#send");
    await outcome("permission_denied: as asked: <7>");
    await page.click("#find");
    await page.type("both");
    await page.until(`document.querySelectorAll("#methods button").length === 1`);
    assertEquals(page.complaints.filter((text) => !/status of 403/.test(text)), []);
  });
});
