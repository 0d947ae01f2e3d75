// The page's files: four as they are, and the worker, bundled.

import { fileURLToPath } from "node:url";
import { type HttpServer, listen } from "@sluice/sluice/http";

/** A file of the page. */
interface PageFile {
  readonly type: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

const SCRIPT = "text/javascript; charset=utf-8";
const PAGE: readonly (readonly [name: string, type: string])[] = [
  ["index.html", "text/html; charset=utf-8"],
  ["style.css", "text/css; charset=utf-8"],
  ["app.js", SCRIPT],
  ["project.js", SCRIPT],
];

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "frame-ancestors 'none'",
  "cache-control": "no-cache",
};

/** All files by name. */
export async function playgroundFiles(): Promise<Map<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const [name, type] of PAGE) {
    const content = await Deno.readFile(new URL(`page/${name}`, import.meta.url));
    files.set(name, { type, content });
  }
  files.set("worker.js", { type: SCRIPT, content: await bundle() });
  return files;
}

/** The worker and the loader in one module. Directories are read by a module that stays outside. */
async function bundle(): Promise<Uint8Array<ArrayBuffer>> {
  const directory = await Deno.makeTempDir();
  try {
    const output = `${directory}/worker.js`;
    const worker = fileURLToPath(new URL("worker.ts", import.meta.url));
    const external = ["--external", "*/import_roots.ts"];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--platform=browser", "--minify", ...external, "--output", output, worker],
    }).output();
    if (!success) throw new Error(`Cannot bundle the worker: ${new TextDecoder().decode(stderr)}`);
    return await Deno.readFile(output);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Writes the page to a directory. */
export async function write(
  files: ReadonlyMap<string, PageFile>,
  directory: string,
): Promise<void> {
  await Deno.mkdir(directory, { recursive: true });
  for (const [name, { content }] of files) await Deno.writeFile(`${directory}/${name}`, content);
}

/** Serves the page. */
export function serve(files: ReadonlyMap<string, PageFile>, addr: string): HttpServer {
  return listen({
    addr,
    handler: async (stream) => {
      const file = files.get(stream.path === "/" ? "index.html" : stream.path.slice(1));
      if (!file || (stream.method !== "GET" && stream.method !== "HEAD")) {
        await stream.respond(file ? 405 : 404, HEADERS);
        return stream.closeWrite();
      }
      await stream.respond(200, { ...HEADERS, "content-type": file.type });
      stream.closeWrite(stream.method === "HEAD" ? undefined : file.content);
    },
  });
}
