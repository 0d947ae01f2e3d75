import { run } from "../../support/process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Type-checks modules, given by path and text, as modules of this project; "" if they are right. */
export async function typeFaults(modules: Iterable<readonly [string, string]>): Promise<string> {
  const directory = await Deno.makeTempDir();
  try {
    const paths: string[] = [];
    for (const [path, text] of modules) {
      const target = `${directory}/${path}`;
      await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(target, text);
      paths.push(target);
    }
    const args = ["check", "-q", "--config", `${ROOT}deno.json`, ...paths];
    const { code, stderr } = await run(
      { command: Deno.execPath(), args, cwd: ROOT, env: { NO_COLOR: "1" } },
      300_000,
    );
    return code === 0 ? "" : stderr;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
