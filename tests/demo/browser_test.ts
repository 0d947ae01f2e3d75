import { assert, assertEquals, assertMatch } from "@std/assert";
import { kv } from "@sluice/sluice";
import { listen } from "@sluice/sluice/kv/server";
import { loadDemo, registerDemo } from "../../examples/demo/service.ts";
import { serveSite } from "../../examples/demo/site.ts";
import { Etcd, findEtcd } from "../../support/etcd.ts";
import { Browser, CHROMIUM, CONTRAST, type Page, type View } from "../../support/browser.ts";
import { peerTest } from "../../support/peers.ts";
import { type Site, withSite } from "./site.ts";

const DESKTOP: View = { size: [1200, 900] };
const PHONE: View = { size: [360, 740], scale: 2 };

type Visit = (browser: Browser) => Promise<void>;

/** All of these visit in one browser: to start one takes longer than most of them. */
const visits: [name: string, visit: Visit][] = [];

/** Shows the page in Chromium; nothing on it may have gone wrong at the end. */
function pageTest(
  name: string,
  view: View,
  use: (page: Page, site: Site, browser: Browser) => Promise<void>,
): void {
  visits.push([name, (browser) =>
    withSite(async (site) => {
      await using page = await browser.open(site.url);
      await page.view(view);
      await connected(page);
      await use(page, site, browser);
      assertEquals(page.complaints, []);
    })]);
}

async function connected(page: Page): Promise<void> {
  await page.until(`document.querySelector("#status").dataset.state === "open" &&
    document.querySelector("#method").options.length > 0`);
}

/** Fills a field in and leaves it, as by hand. */
async function fill(page: Page, selector: string, text: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
  await page.type(text);
}

/** Chooses from a list. */
async function choose(page: Page, selector: string, value: string): Promise<void> {
  await page.evaluate(`(() => {
    const list = document.querySelector(${JSON.stringify(selector)});
    list.value = [...list.options].find(({ value, text }) =>
      [value, text].includes(${JSON.stringify(value)})).value;
    list.dispatchEvent(new Event("change", { bubbles: true }));
  })()`);
}

async function put(page: Page, key: string, value: string, ttl = ""): Promise<void> {
  await fill(page, "#put [name=key]", key);
  await fill(page, "#put [name=value]", value);
  await choose(page, "#put [name=ttl]", ttl);
  await page.click("#put button");
  await page.until(`document.querySelector("#keys-outcome").textContent
    .startsWith(${JSON.stringify(`Put ${key} at revision`)})`);
}

const texts = (selector: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`;

pageTest(
  "keys are put, seen live by every page, and deleted",
  DESKTOP,
  async (page, site, browser) => {
    await using other = await browser.open(site.url);
    await connected(other);
    await put(page, "greeting", "hello");
    for (const one of [page, other]) {
      await one.until(`${texts("#events .what")}[0] === "putgreeting = hello"`);
      assertEquals(await one.evaluate(texts(".keys .name")), ["greeting"]);
    }
    await site.keys.put({ key: "elsewhere", value: "by a program" });
    await site.keys.put({ key: "greeting", value: "good evening" });
    await page.until(`${texts(".keys .value")}.join() === "by a program,good evening"`);
    assertMatch((await page.evaluate(texts(".keys .meta")))[1], /version 2$/);
    await other.click(`[aria-label="Delete greeting"]`);
    for (const one of [page, other]) {
      await one.until(`${texts("#events .what")}[0] === "deletedgreeting"`);
      assertEquals(await one.evaluate(texts(".keys .name")), ["elsewhere"]);
    }
    assertEquals((await site.keys.get({ key: "greeting" })).count, 0);
    assertEquals(other.complaints, []);
  },
);

pageTest("a lease counts down, is renewed, and its end is seen", DESKTOP, async (page, site) => {
  await put(page, "worker", "here", "60");
  const left = `Number(/(\\d+) s left/.exec(document.querySelector(".left")?.textContent)?.[1])`;
  await page.until(`${left} <= 60 && ${left} > 0`);
  site.store.advance(30_000);
  await page.until(`${left} <= 30`);
  assert(await page.evaluate<number>(`document.querySelector(".keys progress").value`) <= 30);
  await page.click(`[aria-label="Renew worker"]`);
  await page.until(`${left} > 45`);
  site.store.advance(60_000);
  await page.until(`${texts("#events .what")}[0] === "expiredworker"`);
  assertEquals(await page.evaluate(texts(".keys .name")), []);
  assertEquals(await page.evaluate(`document.querySelector("#no-keys").hidden`), false);
});

pageTest(
  "two contend for the lock: one holds it, tokens grow, an old one is refused",
  DESKTOP,
  async (page) => {
    const states =
      `[...document.querySelectorAll("#contenders li")].map((li) => li.dataset.state).join()`;
    const token = (nth: number) =>
      page.evaluate<string[]>(texts(".token b")).then((all) => all[nth]!);
    await page.until(`document.querySelectorAll("#contenders li").length === 2`);
    await page.click(`[aria-label="Ada: take"]`);
    await page.until(`${states} === "holding,idle"`);
    await page.click(`[aria-label="Ben: take"]`);
    await page.until(`${states} === "holding,waiting"`);
    await page.click(`[aria-label="Ada: write with the token"]`);
    await page.until(
      `/^Ada wrote with token \\d+$/.test(document.querySelector("#lock-outcome").textContent)`,
    );
    await page.click(`[aria-label="Ada: release"]`);
    await page.until(`${states} === "idle,holding"`);
    assert(Number(await token(1)) > Number(await token(0)));
    await page.click(`[aria-label="Ada: write with the token"]`);
    await page.until(
      `/refused: token \\d+ is/.test(document.querySelector("#lock-outcome").textContent)`,
    );
    await page.click(`[aria-label="Ada: take"]`);
    await page.until(`${states} === "waiting,holding"`);
    await page.click(`[aria-label="Ada: give up"]`);
    await page.until(`${states} === "idle,holding"`);
  },
);

pageTest("methods are called with forms made of their descriptors", DESKTOP, async (page) => {
  assertEquals(await page.evaluate(texts("#method option")), ["Greet", "Count", "Add", "Shout"]);
  await fill(page, "#fields [name=name]", "<b>Deno</b>");
  await choose(page, "#fields [name=language]", "SPANISH");
  await page.click("#fields [name=loudly]");
  await page.click("#go");
  await page.until(`document.querySelector("#call-outcome").textContent === "Answered"`);
  assertEquals((await page.evaluate(texts("#answers li span")))[0], `{"text":"HOLA <B>DENO</B>!"}`);
  assertEquals(await page.evaluate(`document.querySelectorAll("#chart rect").length`), 1);
  await page.click("#often");
  await page.until(`document.querySelector("#call-outcome").textContent === "Answered 50 times"`);
  await page.until(`document.querySelectorAll("#chart rect").length === 51`);
  const label = await page.evaluate(`document.querySelector("#chart").getAttribute("aria-label")`);
  assertMatch(label, /^Latency of Greet of the last 51: median [\d.]+ ms$/);

  await choose(page, "#method", "Add");
  for (const value of ["1", "2", "39"]) {
    await fill(page, "#fields [name=value]", value);
    await page.click("#add");
  }
  await page.click("#go");
  await page.until(`${texts("#answers li span")}[0] === '{"value":42}'`);
  await fill(page, "#fields [name=value]", "2147483648");
  await page.click("#add");
  await page.until(
    `/must be -2147483648 to/.test(document.querySelector("#call-outcome").textContent)`,
  );

  await choose(page, "#method", "Shout");
  assertEquals(await page.evaluate(`document.querySelector("#go").disabled`), true);
  assertMatch(await page.evaluate(`document.querySelector("#call-outcome").textContent`), /gRPC/);
});

pageTest(
  "a stream of answers is shown as it comes, can be stopped, and its errors are told",
  DESKTOP,
  async (page) => {
    await choose(page, "#method", "Count");
    assertEquals(await page.evaluate(`document.querySelector("[name=everyMs]").value`), "200");
    await fill(page, "[name=everyMs]", "50");
    await fill(page, "[name=to]", "5");
    await page.click("#go");
    await page.until(`document.querySelector("#call-outcome").textContent === "Ended after 5"`);
    const values = (await page.evaluate(texts("#answers li span"))).map((one: string) =>
      JSON.parse(one)
    );
    assertEquals(values.map(({ value }: { value: number }) => value), [5, 4, 3, 2, 1]);
    // It runs for minutes: what is seen meanwhile came before its end.
    await fill(page, "[name=to]", "10000");
    await page.click("#go");
    await page.until(`document.querySelectorAll("#answers li").length >= 8`);
    assertEquals(await page.evaluate(`document.querySelector("#stop").disabled`), false);
    await page.click("#stop");
    await page.until(`document.querySelector("#call-outcome").textContent === "Stopped"`);
    await fill(page, "[name=to]", "10001");
    await page.click("#go");
    await page.until(`document.querySelector("#call-outcome").textContent ===
    "invalid_argument: Cannot count as to must be 0 to 10000: current value is 10001"`);
  },
);

pageTest(
  "all of it can be done with the keyboard alone, and every control has a name",
  DESKTOP,
  async (page) => {
    const focused = () =>
      page.evaluate<string>(`(() => {
      const one = document.activeElement;
      return one.getAttribute("aria-label") ?? one.name ?? one.id;
    })()`);
    /** Tabs to a control; fails if that takes too long. */
    const tabTo = async (selector: string, shift = false) => {
      const seen: string[] = [];
      for (let i = 0; i < 60; i++) {
        await page.press("Tab", shift ? 8 : 0);
        if (
          await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)
        ) return;
        seen.push(await focused());
      }
      throw new Error(`${selector} is not reached: ${seen.join(", ")}`);
    };
    await tabTo(".skip");
    await page.press("Enter");
    await tabTo("#put [name=key]");
    await page.type("typed");
    await page.press("Tab");
    await page.type("by hand");
    await page.press("Enter");
    await page.until(`${texts(".keys .name")}.join() === "typed"`);
    await page.type("twice");
    await page.press("Tab", 8);
    await page.type("typed too");
    await page.press("Enter");
    await page.until(`${texts(".keys .name")}.join() === "typed,typed too"`);
    // The order of the focus is the order on the page.
    await tabTo(`[aria-label="Delete typed"]`);
    await page.press("Space");
    await page.until(`${texts(".keys .name")}.join() === "typed too"`);
    assertEquals(await focused(), "Delete typed too");
    await page.press("Enter");
    await page.until(`${texts(".keys .name")}.length === 0`);
    assertEquals(await focused(), "key");
    await tabTo(`[aria-label="Ada: take"]`);
    await page.press("Enter");
    await page.until(`document.activeElement.textContent === "Release"`);
    await tabTo(`[aria-label="Ben: take"]`);
    await page.press("Space");
    await page.until(`document.activeElement.textContent === "Give up"`);
    await tabTo(`[aria-label="Ada: release"]`, true);
    await page.press("Enter");
    await page.until(`document.querySelector("[aria-label='Ben: release']")`);
    await tabTo("#method");
    await page.press("ArrowDown");
    await page.until(`document.querySelector("#signature").textContent.includes("Count")`);
    await tabTo("#go");
    await page.press("Enter");
    await page.until(`document.activeElement.id === "stop"`);
    await page.press("Enter");
    await page.until(`document.activeElement.id === "go"`);
    const shown = await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`);
    assertEquals(shown, "solid");

    const { nodes } = await page.call("Accessibility.getFullAXTree");
    const nameless = nodes.filter((node: {
      ignored: boolean;
      role?: { value: string };
      name?: { value: string };
    }) =>
      !node.ignored && !node.name?.value &&
      /^(?:button|textbox|combobox|checkbox|link|image|region|progressindicator|log)$/
        .test(node.role?.value ?? "")
    );
    assertEquals(nameless, []);
  },
);

pageTest(
  "the page is light or dark as the reader likes, and can be read in both",
  DESKTOP,
  async (page, site) => {
    await put(page, "leased", "1", "60");
    await put(page, "gone", "1");
    await page.click(`[aria-label="Delete gone"]`);
    await page.until(`${texts("#events li")}.length === 3`);
    await page.click(`[aria-label="Ada: take"]`);
    await page.click("#go");
    await page.until(
      `document.querySelector("[data-state=holding]") !== null && ${
        texts("#answers li")
      }.length > 0`,
    );
    await site.keys.put({ key: "plain", value: "x" });
    await page.until(`${texts("#events li")}.length === 4`);
    const backgrounds: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      await page.view({ ...DESKTOP, scheme, reducedMotion: true });
      const [contrast, where] = await page.evaluate<[number, string]>(CONTRAST);
      // WCAG 2.2, 1.4.3.
      assert(contrast >= 4.5, `${scheme}: ${contrast.toFixed(2)} at ${where}`);
      backgrounds.push(await page.evaluate(`getComputedStyle(document.body).backgroundColor`));
      const motion = `getComputedStyle(document.querySelector("progress")).transitionDuration`;
      assertEquals(await page.evaluate(motion), "0s");
    }
    assert(backgrounds[0] !== backgrounds[1]);
  },
);

pageTest(
  "on a phone nothing is cut off: one column, no scrolling sideways",
  PHONE,
  async (page, site) => {
    const long = "a/very/long/key/without/any/space/".repeat(5);
    await site.keys.put({ key: long, value: "value".repeat(60) });
    const { ID } = await site.keys.grant({ TTL: 60, keepAlive: false });
    await site.keys.put({ key: "leased", value: "W".repeat(180), lease: ID });
    await page.until(
      `${texts(".keys .name")}.length === 2 && ${texts(".left")}.join("") !== ""`,
    );
    await page.click("#often");
    await page.until(`document.querySelector("#call-outcome").textContent === "Answered 50 times"`);
    for (const method of ["Count", "Add", "Shout", "Greet"]) {
      await choose(page, "#method", method);
      for (const width of [320, 360, 412]) {
        await page.view({ size: [width, 740], scale: 2 });
        const wide = await page.evaluate<string[]>(`[...document.querySelectorAll("body, body *")]
        .filter((one) => one.getBoundingClientRect().right > ${width} + 0.5)
        .map((one) => one.outerHTML.slice(0, 80))`);
        assertEquals(wide, [], `${method}, ${width}`);
        const scrolls = await page.evaluate(`document.documentElement.scrollWidth`);
        assert(scrolls <= width, `${scrolls} of ${width}`);
      }
    }
    const columns =
      `getComputedStyle(document.querySelector("main")).gridTemplateColumns.split(" ").length`;
    assertEquals(await page.evaluate(columns), 1);
    // Fingers need room (WCAG 2.2, 2.5.8), and fields under 16 px make phones zoom.
    const small = await page.evaluate(
      `[...document.querySelectorAll("button, select, input:not([type=checkbox])")]
    .filter((one) => one.checkVisibility())
    .filter((one) => one.getBoundingClientRect().height < 24 ||
      one.tagName !== "BUTTON" && parseFloat(getComputedStyle(one).fontSize) < 16)
    .map((one) => one.outerHTML)`,
    );
    assertEquals(small, []);
  },
);

pageTest("what others put is only ever text", DESKTOP, async (page, site) => {
  const nasty = [
    `<img src=x onerror="document.title='bad'">`,
    `"><script>document.title="bad"</script>`,
  ];
  for (const text of nasty) await site.keys.put({ key: text, value: text });
  await page.until(`${texts(".keys .name")}.length === 2`);
  await page.until(`${texts("#events li")}.length === 2`);
  assertEquals(await page.evaluate(`document.querySelectorAll("main img, main script").length`), 0);
  assertEquals((await page.evaluate(texts(".keys .name"))).sort(), [...nasty].sort());
  await page.click(".keys .actions button:last-child");
  await page.until(`${texts(".keys .name")}.length === 1`);
  assertEquals(await page.evaluate("document.title"), "Sluice demo");
});

visits.push([
  "a page that lost the demo finds it again, with the keys as they are then",
  async (browser) => {
    const stack = new AsyncDisposableStack();
    await using _opened = stack;
    const page = await (async () => {
      await using store = listen();
      await using client = kv.newClient({ endpoints: [store.addr] });
      const backend = { client, about: { name: "One", version: "1" } };
      await using server = await serveSite("127.0.0.1:0", registerDemo(loadDemo()), backend);
      const page = stack.use(await browser.open(`http://${server.addr}/`));
      await connected(page);
      await put(page, "old", "1");
      await page.until(`${texts(".keys .name")}.join() === "old"`);
      return page;
    })();
    await page.until(`document.querySelector("#status").dataset.state === "lost"`);
    await page.click("#put button");
    await page.until(`/no connection/.test(document.querySelector("#keys-outcome").textContent)`);
    const addr = await page.evaluate("location.host");
    await using store = listen();
    await using client = kv.newClient({ endpoints: [store.addr] });
    await client.put({ key: "sluice-demo/keys/new", value: "2" });
    const backend = { client, about: { name: "Two", version: "2" } };
    await using _server = await serveSite(addr, registerDemo(loadDemo()), backend);
    await page.until(`document.querySelector("#status").textContent === "Two · speaks etcd 2"`);
    await page.until(`${texts(".keys .name")}.join() === "new"`);
  },
]);

peerTest("the demo's page does in Chromium what it says", { needs: [CHROMIUM] }, async (t) => {
  await using browser = await Browser.start();
  for (const [name, visit] of visits) await t.step(name, () => visit(browser));
});

peerTest("a real etcd behind the page is put to, watched, leased and locked as the store is", {
  needs: [CHROMIUM, ["etcd", await findEtcd(), "put it on PATH or set ETCD"]],
}, async () => {
  await using browser = await Browser.start();
  await using etcd = await Etcd.start();
  await using client = kv.newClient({ endpoints: [etcd.endpoint], timeout: 10 });
  const backend = { client, about: { name: "etcd", version: "3" } };
  await using server = await serveSite("127.0.0.1:0", registerDemo(loadDemo()), backend);
  await using page = await browser.open(`http://${server.addr}/`);
  await connected(page);
  await put(page, "for good", "1");
  await put(page, "for 5 s", "1", "5");
  await page.until(`${texts(".keys .name")}.join() === "for 5 s,for good"`);
  await page.click(`[aria-label="Ada: take"]`);
  await page.until(`document.querySelector("[aria-label='Ada: release']") !== null`);
  await page.click(`[aria-label="Ben: take"]`);
  await page.until(`document.querySelector("[aria-label='Ben: give up']") !== null`);
  await page.click(`[aria-label="Ada: release"]`);
  await page.until(`document.querySelector("[aria-label='Ben: release']") !== null`);
  await page.until(`${texts("#events .what")}[0] === "expiredfor 5 s"`);
  assertEquals(await page.evaluate(texts(".keys .name")), ["for good"]);
  assertEquals(page.complaints, []);
});
