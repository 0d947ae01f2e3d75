// deno-lint-ignore-file no-console
/**
 * The tests in which time plays a part, again and again on a machine that is kept busy. Fails if one of
 * them fails once.
 *
 * deno run -A tests/soak/timing.ts [runs] [busy loops] [pattern of paths]
 */
const runs = Number(Deno.args[0] ?? 200);
const busy = Number(Deno.args[1] ?? 4);
const wanted = new RegExp(Deno.args[2] ?? "");
if (!(runs >= 1) || !(busy >= 0)) throw new TypeError("Runs must be >= 1 and busy loops >= 0");

/** Folders whose tests are looked through. Those of kv/ wait for etcd, which is another program. */
const FOLDERS = ["tests/http", "tests/grpc", "tests/support"];

/** What shows that time plays a part in a test. */
const TIME = /\bFakeClock\b|\bdelay\(|\bpause\(|\bsetTimeout\(|\bperformance\.now\(|\bTimeout: \d/;

/** Real milliseconds after which a run is given up. */
const PATIENCE_MS = 15 * 60_000;

const root = new URL("../../", import.meta.url);

function testsIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, root))].flatMap(({ name, isDirectory }) =>
    isDirectory ? testsIn(`${folder}/${name}`) : name.endsWith("_test.ts") &&
        TIME.test(Deno.readTextFileSync(new URL(`${folder}/${name}`, root)))
      ? [`${folder}/${name}`]
      : []
  );
}

const files = FOLDERS.flatMap(testsIn).filter((file) => wanted.test(file)).sort();
if (files.length === 0) {
  throw new TypeError(`No test in which time plays a part is called ${wanted}`);
}
console.log(`${files.length} files, ${runs} times under ${busy} busy loops`);

// Threads of this process: they end when it does, whatever ends it.
const loops = Array.from(
  { length: busy },
  () => new Worker("data:text/javascript,for (;;);", { type: "module" }),
);

/** How often each test failed. */
const failures = new Map<string, number>();
let failed = 0;
const begun = performance.now();
for (let run = 1; run <= runs; run++) {
  const since = performance.now();
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "-q", "--no-check", "--parallel", ...files],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).output();
  const seconds = Math.round((performance.now() - since) / 1000);
  console.log(`Run ${run}: ${output.success ? "passed" : "failed"} in ${seconds} s`);
  if (output.success) continue;
  failed++;
  const text = new TextDecoder().decode(output.stdout);
  const names = text.slice(text.lastIndexOf("\n FAILURES ")).match(/^.+ => .+$/gm) ??
    [`exit code ${output.code}: ${new TextDecoder().decode(output.stderr).trim().slice(-500)}`];
  for (const name of names) failures.set(name, (failures.get(name) ?? 0) + 1);
  const errors = text.lastIndexOf("\n ERRORS ");
  console.log(text.slice(Math.max(errors, 0), errors < 0 ? 2000 : undefined));
}
for (const loop of loops) loop.terminate();
console.log(
  `${runs - failed} of ${runs} runs passed in ${Math.round((performance.now() - begun) / 1000)} s`,
);
for (const [name, count] of failures) console.log(`${count}x ${name}`);
if (failed > 0) Deno.exit(1);
