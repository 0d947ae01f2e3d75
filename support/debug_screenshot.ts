// deno run -A support/debug_screenshot.ts [folder]
// deno-lint-ignore-file no-console
/**
 * Takes the picture of the debug page: `docs/debug_page.png`, or, in the folder named, one for light,
 * dark and phones each.
 */
import { attempt, get, listen } from "../http/mod.ts";
import { debugPage } from "../http/mod.ts";
import { newClient, newService, Registrar } from "../grpc/mod.ts";
import { Browser, type View } from "./browser.ts";
import { registerWork, workFile } from "./debug_server.ts";
import { Random } from "./random.ts";

const ROOT = new URL("../", import.meta.url).pathname;

const views: { [name: string]: View } = {
  light: { size: [1200, 660] },
  dark: { size: [1200, 660], scheme: "dark" },
  phone: { size: [390, 844], scale: 2 },
};

const registrar = new Registrar();
const work = registerWork(registrar);
await using server = listen({
  addr: "127.0.0.1:0",
  registrar,
  handler: () => new Response("hello"),
});
await using admin = listen({ addr: "127.0.0.1:0", handler: debugPage(server) });
await using conn = newClient({ targets: [server.addr] });
const service = newService(conn, workFile);
await using browser = await Browser.start();
const page = await browser.open(`http://${admin.addr}/`);
await page.view(views["light"]!);

// Some seconds of uneven work.
const random = new Random(7);
const watches = await Promise.all([service.Watch({}), service.Watch({})]);
for (const watch of watches) await watch.read();
const end = performance.now() + 14_000;
while (performance.now() < end) {
  const calls = Array.from(
    { length: 1 + random.below(30) },
    () => attempt(service.Quick({ fail: random.below(25) === 0, ms: random.below(12) })),
  );
  await Promise.all([...calls, get(`http://${server.addr}/`)]);
  await new Promise((resolve) => setTimeout(resolve, random.below(200)));
}
await page.evaluate(`document.querySelector("details").open = true; scrollTo(0, 0)`);
await page.until(`document.querySelector("details[open] tbody td") !== null`);
const folder = Deno.args[0];
if (folder === undefined) {
  await Deno.writeFile(`${ROOT}docs/debug_page.png`, await page.screenshot());
  console.log("docs/debug_page.png");
} else {
  for (const [name, view] of Object.entries(views)) {
    await page.view(view);
    await Deno.writeFile(`${folder}/debug_page_${name}.png`, await page.screenshot());
    console.log(`${folder}/debug_page_${name}.png`);
  }
}
work.release();
for (const complaint of page.complaints) console.error(complaint);
if (page.complaints.length > 0) Deno.exitCode = 1;
