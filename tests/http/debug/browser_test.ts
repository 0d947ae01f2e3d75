/** The page that shows a server, in a browser. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { grpc, http } from "@sluice/sluice";
import { Browser, CHROMIUM, CONTRAST, type Page, type View } from "../../../support/browser.ts";
import { registerWork, workFile } from "../../../support/debug_server.ts";
import { peerTest } from "../../../support/peers.ts";

const DESKTOP: View = { size: [1200, 900] };
const PHONE: View = { size: [360, 740], scale: 2 };

/** A server with some calls behind it, a client of it, and the address of its page. */
async function withPage(
  use: (
    url: string,
    service: grpc.DynamicService,
    admin: http.HttpServer,
  ) => Promise<void>,
): Promise<void> {
  const registrar = new grpc.Registrar();
  const work = registerWork(registrar);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using admin = http.listen({ addr: "127.0.0.1:0", handler: http.debugPage(server) });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const service = grpc.newService(conn, workFile);
  try {
    for (let i = 0; i < 20; i++) await service.Quick({});
    for (let i = 0; i < 3; i++) await http.attempt(service.Quick({ fail: true }));
    const watch = await service.Watch({});
    await watch.read();
    await use(`http://${admin.addr}/`, service, admin);
  } finally {
    work.release();
  }
}

const cell = (method: string, nth: number): string =>
  `document.querySelector('[data-method="debug.Work/${method}"]').cells[${nth}].textContent`;

async function loaded(page: Page): Promise<void> {
  await page.until(`document.querySelector("#status").dataset.state === "open"`);
}

const visits: Record<string, (browser: Browser) => Promise<void>> = {
  "calls, errors and connections are shown live": (browser) =>
    withPage(async (url, service) => {
      await using page = await browser.open(url);
      await page.view(DESKTOP);
      await loaded(page);
      assertEquals(
        await page.evaluate([1, 3, 4].map((nth) => cell("Quick", nth)).join(" + ',' + ")),
        "23,0,3",
      );
      assertEquals(await page.evaluate(cell("Watch", 3)), "1");
      assertMatch(await page.evaluate(cell("Quick", 5)), /^≤ [\d.]+$/);
      assertEquals(await page.evaluate(`document.querySelector("#errors").textContent`), "3");
      for (let i = 0; i < 7; i++) await service.Quick({});
      await page.until(`${cell("Quick", 1)} === "30"`);
      assertEquals(
        await page.evaluate(`document.querySelectorAll("tbody tr:first-child rect").length > 16`),
        true,
      );
      assertEquals(page.complaints, []);
    }),
  "all of it is reached by keys": (browser) =>
    withPage(async (url, service) => {
      await using page = await browser.open(url);
      await page.view(DESKTOP);
      await loaded(page);
      const focus = `document.activeElement.id || document.activeElement.tagName`;
      await page.press("Tab");
      assertEquals(await page.evaluate(`document.activeElement.className`), "skip");
      await page.press("Tab");
      assertEquals(await page.evaluate(focus), "pause");
      await page.press("Tab");
      assertEquals(await page.evaluate(focus), "SUMMARY");
      await page.press("Enter");
      await page.until(`document.querySelector("details[open] tbody td") !== null`);
      const texts = `[...document.querySelectorAll("details[open] tbody tr > *")]
        .map((one) => one.textContent)`;
      const [id, state, maySend] = await page.evaluate<string[]>(texts);
      assertEquals(state, "half-closed (remote)");
      assertMatch(`${id} ${maySend}`, /^\d+ [\d.]+ (?:KiB|MiB)$/);
      // What is open stays open, and has the focus still, while the page goes on.
      await service.Quick({});
      await page.until(`${cell("Quick", 1)} === "24"`);
      assertEquals(await page.evaluate(focus), "SUMMARY");
      assertEquals(await page.evaluate(`document.querySelectorAll("details[open]").length`), 1);
      await page.evaluate(`document.querySelector("#pause").focus()`);
      await page.press("Space");
      await page.until(`document.querySelector("#status").textContent === "paused"`);
      await service.Quick({});
      assertEquals(await page.evaluate(cell("Quick", 1)), "24");
      await page.press("Space");
      await page.until(`${cell("Quick", 1)} === "25"`);
      assertEquals(page.complaints, []);
    }),
  "it can be read in light and dark, and on a phone without scrolling sideways": (browser) =>
    withPage(async (url) => {
      await using page = await browser.open(url);
      for (const size of [DESKTOP, PHONE]) {
        for (const scheme of ["light", "dark"] as const) {
          await page.view({ ...size, scheme });
          await loaded(page);
          await page.evaluate(`document.querySelector("details").open = true`);
          await page.until(`document.querySelector("details[open] tbody td") !== null`);
          const [contrast, where] = await page.evaluate<[number, string]>(CONTRAST);
          assert(contrast >= 4.5, `${scheme}: ${contrast.toFixed(2)} at ${where}`);
          const scrolls = await page.evaluate<number>(`document.documentElement.scrollWidth`);
          assert(scrolls <= size.size[0], `${scrolls} of ${size.size[0]}`);
        }
      }
      // Fingers need room (WCAG 2.2, 2.5.8).
      const [height] = await page.evaluate<number[]>(
        `[...document.querySelectorAll("button, summary")]
          .map((one) => one.getBoundingClientRect().height).sort((a, b) => a - b)`,
      );
      assert(height! >= 24, `${height} px`);
      assertEquals(page.complaints, []);
    }),
  "it says when the server is gone, and a page of another origin gets nothing": (browser) =>
    withPage(async (url, _, admin) => {
      await using page = await browser.open(url);
      await loaded(page);
      // The same address by another name is another origin.
      await using other = await browser.open(url.replace("127.0.0.1", "localhost"));
      const read = (mode: string): Promise<string> =>
        other.evaluate(`fetch(${JSON.stringify(`${url}data.json`)}, { mode: "${mode}" })
          .then((response) => response.text(), () => "refused")`);
      for (const mode of ["cors", "no-cors"]) assertEquals(await read(mode), "refused");
      // A page that nobody sees asks for nothing.
      await page.call("Page.bringToFront");
      await admin.close();
      await page.until(`document.querySelector("#status").dataset.state === "failed"`);
    }),
};

peerTest("the debug page works in Chromium", { needs: [CHROMIUM] }, async (t) => {
  await using browser = await Browser.start();
  for (const [name, visit] of Object.entries(visits)) await t.step(name, () => visit(browser));
});
