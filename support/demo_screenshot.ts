// deno run -A support/demo_screenshot.ts [folder]
// deno-lint-ignore-file no-console
/**
 * Takes the pictures of the demo's page: `docs/demo.png`, or, in the folder named, one for light, dark
 * and phones each.
 */
import { Browser, type Page, type View } from "./browser.ts";
import { Process } from "./process.ts";

const ROOT = new URL("../", import.meta.url).pathname;

/** Uses the page, so that there is something to see. */
async function use(page: Page): Promise<void> {
  await page.until(`document.querySelector("#status").dataset.state === "open"`);
  const put = (key: string, value: string, ttl: string) =>
    page.evaluate(`(() => {
      const { key, value, ttl } = document.querySelector("#put").elements;
      [key.value, value.value, ttl.value] = ${JSON.stringify([key, value, ttl])};
      document.querySelector("#put").requestSubmit();
    })()`).then(() =>
      page.until(
        `document.querySelector(\`[data-key="${key}"]\`)?.textContent.includes("${value}")`,
      )
    );
  await put("config/theme", "calm", "");
  await put("config/greeting", "hello", "");
  await put("workers/1", "10.0.0.4:7000", "60");
  await put("config/greeting", "good evening", "");
  await put("workers/2", "10.0.0.5:7000", "15");
  await page.until(`document.querySelectorAll(".left").length > 1 &&
    document.querySelector('[data-key="workers/2"] .left').textContent`);
  await page.click("#contenders li:nth-child(1) button");
  await page.until(`document.querySelector("#contenders li").dataset.state === "holding"`);
  await page.click("#contenders li:nth-child(2) button");
  await page.until(`document.querySelector("#contenders li + li").dataset.state === "waiting"`);
  await page.click("#contenders li:nth-child(1) button + button");
  await page.click("#often");
  await page.until(`document.querySelector("#call-outcome").textContent === "Answered 50 times"`);
  await page.click("#often");
  await page.until(`document.querySelectorAll("#chart rect").length === 60 &&
    document.querySelector("#call-outcome").textContent === "Answered 50 times"`);
  await page.evaluate(`document.activeElement.blur(); scrollTo(0, 0)`);
}

const views: { [name: string]: View } = {
  light: { size: [1200, 1130] },
  dark: { size: [1200, 1130], scheme: "dark" },
  phone: { size: [390, 844], scale: 2 },
  "phone-dark": { size: [390, 844], scheme: "dark", scale: 2 },
};

await using demo = new Process({
  command: Deno.execPath(),
  args: ["run", "-A", "examples/demo.ts", "--serve", "--addr", "127.0.0.1:0"],
  cwd: ROOT,
});
const [, url] = await demo.waitFor(/(http:\S+) +Ctrl-C/, 60_000);
await using browser = await Browser.start();
const page = await browser.open(url!);
await page.view(views["light"]!);
await use(page);
const folder = Deno.args[0];
if (folder === undefined) {
  await Deno.writeFile(`${ROOT}docs/demo.png`, await page.screenshot());
  console.log("docs/demo.png");
} else {
  for (const [name, view] of Object.entries(views)) {
    await page.view(view);
    await Deno.writeFile(`${folder}/demo_${name}.png`, await page.screenshot());
    console.log(`${folder}/demo_${name}.png`);
  }
}
for (const complaint of page.complaints) console.error(complaint);
if (page.complaints.length > 0) Deno.exitCode = 1;
