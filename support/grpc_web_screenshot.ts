// deno run -A support/grpc_web_screenshot.ts
// deno-lint-ignore-file no-console
/** Takes the picture of the page that the command of gRPC shows: `docs/grpc_web_page.png`. */
import { Browser } from "./browser.ts";
import { Process } from "./process.ts";

const ROOT = new URL("../", import.meta.url).pathname;

const PROTO = `syntax = "proto3";
package weather.v1;

service Weather {
  rpc Now(Place) returns (Report);
  rpc Forecast(ForecastRequest) returns (stream Report);
  rpc Record(stream Report) returns (Summary);
}
service Stations {
  rpc List(Place) returns (stream Station);
  rpc Register(Station) returns (Station);
}
message Place { string city = 1; string country = 2; }
message ForecastRequest { Place place = 1; int32 days = 2; Unit unit = 3; bool hourly = 4; }
enum Unit { UNIT_UNSPECIFIED = 0; CELSIUS = 1; FAHRENHEIT = 2; }
message Report { string city = 1; double degrees = 2; Unit unit = 3; }
message Summary { int32 reports = 1; }
message Station { string name = 1; Place place = 2; }
`;

const folder = await Deno.makeTempDir();
await Deno.writeTextFile(`${folder}/weather.proto`, PROTO);
await using command = new Process({
  command: Deno.execPath(),
  args: [
    ...["run", "-A", `${ROOT}grpc/mod.ts`, "serve", "weather.proto", "-addr", "127.0.0.1:50051"],
    ...["-web", "-web-addr", "127.0.0.1:0", "-seed", "3"],
  ],
  cwd: folder,
});
const [, url] = await command.waitFor(/^(http:\S+)$/m, 60_000);
await using browser = await Browser.start();
const page = await browser.open(url!);
await page.view({ size: [1100, 900] });
const method = '[data-path="/weather.v1.Weather/Forecast"]';
await page.until(`document.querySelector('${method}')`);
await page.click(method);
await page.click('[name="city"]');
await page.type("Oslo");
await page.click('[name="days"]');
await page.type("3");
await page.click("#send");
await page.until(`document.querySelector("#outcome").textContent.startsWith("OK: 3")`);
await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
await Deno.writeFile(`${ROOT}docs/grpc_web_page.png`, await page.screenshot());
console.log("docs/grpc_web_page.png");
await Deno.remove(folder, { recursive: true });
for (const complaint of page.complaints) console.error(complaint);
if (page.complaints.length > 0) Deno.exitCode = 1;
