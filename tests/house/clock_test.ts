/** All waits go by a clock that is given: who looks at the platform's, and why. */
import { assertEquals } from "@std/assert";
import { ROOT } from "./graph.ts";

/** Where the platform's time is read or waited for, file and name; each with its reason. */
const PLATFORM_TIME: Readonly<Record<string, string>> = {
  "http/time/clock.ts performance.now": "the system's clock",
  "http/time/clock.ts setTimeout": "the system's clock",
  "http/time/fake_clock.ts performance.now": "real patience, where nothing moves the clock on",
  "http/time/fake_clock.ts setTimeout": "real rests of the event loop, for sockets",
  "http/time/turn.ts performance.now": "how long this process has worked without a wait",
  "http/message/date.ts Date.now": "the wall's time: the field Date",
  "http/message/date.ts new Date": "the wall's time: the field Date",
  "http/client/request_run.ts Date.now": "the wall's time: Retry-After may be a date",
  "kv/auth/token.ts Date.now": "the wall's time: tokens carry the date of their end",
  "kv/concurrency/holder.ts Date.now": "the wall's time: keys are named like Go's",
};

/** Who begins with the system's time: the doors through which users come. */
const DOORS = [
  "grpc/cli/timing.ts",
  "grpc/client/conn.ts",
  "grpc/in_process.ts",
  "grpc/server/pool.ts",
  "grpc/server/server.ts",
  "http/client/client.ts",
  "http/server/listen.ts",
  "http/server/serve_deno.ts",
  "http/workers/pool.ts",
  "kv/cli/endpoints.ts",
  "kv/cli/leases.ts",
  "kv/cli/live.ts",
  "kv/client.ts",
  "kv/clock.ts",
  "kv/cluster/endpoints.ts",
  "kv/server/clock.ts",
  "kv/telemetry/open_telemetry.ts",
];

const NAMES =
  /(?:(?<![.\w#])|\bglobalThis\.)(performance\.now|Date\.now|new Date|AbortSignal\.timeout|setTimeout|setInterval)\b/g;

/** Names of `@std/async` that wait by the platform's time. */
const WAITS =
  /\bimport \{([^}]*\b(?:delay|deadline|debounce|throttle|retry)\b[^}]*)\} from "@std\/async/g;

/** Code without its comments, and without methods that are called like a function of the platform. */
function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/^ {2}(?:override )?\w+\(.*\{$/gm, "");
}

/** What of the platform's time a text uses. */
function platformTime(text: string): string[] {
  const code = codeOf(text);
  return [...code.matchAll(NAMES), ...code.matchAll(WAITS)].map(([, name]) => name!.trim());
}

function filesOf(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesOf(`${folder}/${name}`) : name.endsWith(".ts") ? [`${folder}/${name}`] : []
  );
}

const files = ["http", "grpc", "kv"].flatMap(filesOf).sort();
const texts = new Map(
  files.map((file) => [file, Deno.readTextFileSync(new URL(file, ROOT))] as const),
);

Deno.test("the platform's time is seen wherever it is used", () => {
  for (
    const text of [
      "this.#at = performance.now() + ms;",
      "const now = performance.now;",
      "const timer = setTimeout(act, 5);",
      "globalThis.setTimeout(act, 5);",
      "return AbortSignal.timeout(ms);",
      'import { abortable, delay } from "@std/async";',
      "  const at = new Date();",
    ]
  ) assertEquals(platformTime(text).length, 1, text);
  for (
    const text of [
      "/** Milliseconds of `performance.now()`. */",
      "  // setTimeout would be late.",
      "  setTimeout(): this {",
      'import { abortable } from "@std/async";',
      "clock.now(); socket.setTimeout(5);",
    ]
  ) assertEquals(platformTime(text), [], text);
});

Deno.test("the platform's time is read and waited for in http/time/ alone", () => {
  const found = [...texts].flatMap(([file, text]) =>
    platformTime(text).map((name) => `${file} ${name}`)
  );
  assertEquals([...new Set(found)].sort(), Object.keys(PLATFORM_TIME).sort());
});

Deno.test("only doors begin with the system's time; all others are given theirs", () => {
  const takers = files.filter((file) =>
    /\bSYSTEM_TIME\b|\bsystem(?:Clock|Time)\b/.test(codeOf(texts.get(file)!)) &&
    !["http/time/clock.ts", "http/time/time.ts", "http/engine.ts"].includes(file)
  );
  assertEquals(takers, DOORS);
});
