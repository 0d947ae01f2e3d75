import { assert, assertEquals, assertMatch } from "@std/assert";
import { playgroundFiles, serve } from "../../examples/playground/site.ts";
import { Browser, CHROMIUM, type Page, type View } from "../../support/browser.ts";
import { peerTest } from "../../support/peers.ts";

const DESKTOP: View = { size: [1280, 860] };
const PHONE: View = { size: [360, 740], scale: 2 };

/** Shows the page in Chromium; nothing on it may have gone wrong at the end. */
function pageTest(name: string, view: View, use: (page: Page) => Promise<void>): void {
  peerTest(name, { needs: [CHROMIUM] }, async () => {
    await using server = serve(await playgroundFiles(), "127.0.0.1:0");
    await using browser = await Browser.start();
    const page = await browser.open(`http://${server.addr}/`);
    await page.view(view);
    await page.until(GOOD);
    await use(page);
    assertEquals(page.complaints, []);
  });
}

const GOOD = `document.querySelector("#status").dataset.state === "good"`;
const textOf = (selector: string): string =>
  `document.querySelector(${JSON.stringify(selector)}).textContent`;

/** Puts text into a field, as typing does. */
async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)});
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
}

pageTest(
  "files that import each other show descriptor, types and message",
  DESKTOP,
  async (page) => {
    assertEquals(await page.evaluate(textOf("#diagnostics")), "");
    assertMatch(await page.evaluate(textOf("#tree")), /file shop\/v1\/shop\.proto shop\.v1/);
    assertMatch(await page.evaluate(textOf("#tree")), /rpc Watch \(.*\) → stream shop\.v1\.Order/);
    assertMatch(
      await page.evaluate(textOf("#types")),
      /export type Order = Message<"shop\.v1\.Order">/,
    );
    // Bytes that a program of others made of this JSON would be read back as it.
    const hex = await page.evaluate<string>(`document.querySelector("#hex").value`);
    assertMatch(hex, /^0a 09 32 30 32 36/);
    await fill(page, "#hex", "0a 01 78 30 01");
    await page.until(`JSON.parse(document.querySelector("#json").value).id === "x"`);
    assertEquals(JSON.parse(await page.evaluate(`document.querySelector("#json").value`)), {
      id: "x",
      collect: true,
    });
    await fill(page, "#hex", "0a 01 7");
    await page.until(`${textOf("#outcome")}.includes("digit is missing")`);
  },
);

pageTest(
  "errors stand at their place, in protoc's words, and lead there",
  DESKTOP,
  async (page) => {
    const before = await page.evaluate<string>(`document.querySelector("#text").value`);
    await fill(page, "#text", before.replace("repeated Item items", "repeated Itm\titems"));
    await page.until(`document.querySelectorAll("#diagnostics button").length === 1`);
    assertEquals(
      await page.evaluate(textOf("#diagnostics")),
      'shop/v1/shop.proto:20:12: "Itm" is not defined.',
    );
    assertEquals(await page.evaluate(textOf("#marks mark")), "Itm");
    assertEquals(await page.evaluate(textOf("#files [data-fault=true]")), "shop.proto");
    await page.click("#diagnostics button");
    assertEquals(
      await page.evaluate(`(() => {
      const { value, selectionStart } = document.querySelector("#text");
      return value.slice(selectionStart, selectionStart + 3);
    })()`),
      "Itm",
    );
    await fill(page, "#text", before);
    await page.until(GOOD);
  },
);

pageTest("text is never markup, and hostile text freezes nothing", DESKTOP, async (page) => {
  await fill(page, "#text", 'syntax = "<img src=x onerror=alert(1)>";');
  await page.until(`document.querySelectorAll("#diagnostics button").length > 0`);
  assertEquals(await page.evaluate(`document.querySelectorAll("img").length`), 0);
  // A worker that never answers stands for a text that takes for ever.
  await page.evaluate(`(() => {
    const text = document.querySelector("#text");
    const values = Array.from({ length: 400000 }, (_, i) => "V" + i + " = " + i + ";");
    text.value = 'syntax = "proto3"; enum E {' + values.join("") + "}";
    text.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
  await page.until(
    `/Stopped: it took longer|^1 file|^3 files|error/.test(${textOf("#status")}) &&
      document.querySelector("#status").dataset.state !== "working"`,
  );
  await page.click("#reset");
  await page.until(GOOD);
});

pageTest("the keyboard is enough, and every control has a name", DESKTOP, async (page) => {
  const seen = new Set<string>();
  await page.evaluate(`document.body.focus()`);
  for (let i = 0; i < 25; i++) {
    await page.press("Tab");
    seen.add(await page.evaluate(`document.activeElement.id || document.activeElement.title`));
  }
  for (const id of ["add", "name", "text", "tab-tree", "tree"]) {
    assert(seen.has(id) || id === "text", `${id} is not reached: ${[...seen].join()}`);
  }
  await page.evaluate(`(() => {
    const tab = document.querySelector("#tab-tree");
    tab.focus();
    tab.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  })()`);
  assertEquals(await page.evaluate(`document.querySelector("#types").hidden`), false);
  const nameless =
    `[...document.querySelectorAll("button, input, select, textarea")].filter((one) =>
    !one.textContent.trim() && !one.labels?.length && !one.ariaLabel).map((one) => one.outerHTML)`;
  assertEquals(await page.evaluate(nameless), []);
});

for (const scheme of ["light", "dark"] as const) {
  pageTest(
    `a phone shows all of it without scrolling sideways, ${scheme}`,
    { ...PHONE, scheme },
    async (page) => {
      const width = `document.documentElement.scrollWidth <= innerWidth`;
      assertEquals(await page.evaluate(width), true);
      await page.click("#tab-message");
      assertEquals(await page.evaluate(width), true);
    },
  );
}
