/** WebSockets need nothing: no package, no permission but `--allow-net`, no network at run time. */
import { assertEquals } from "@std/assert";
import { run } from "../../../support/process.ts";

const mod = new URL("../../../http/mod.ts", import.meta.url).href;

const PROGRAM = `
import { listen } from ${JSON.stringify(mod)};
const server = listen({
  addr: "127.0.0.1:0",
  handler: async (stream) => {
    const socket = await stream.upgradeWebSocket({ compress: true });
    for await (const message of socket) socket.send(message);
  },
});
const socket = new WebSocket("ws://" + server.addr + "/");
socket.onopen = () => socket.send("works");
socket.onmessage = async ({ data }) => {
  console.log(data);
  await server.close();
};
`;

Deno.test("WebSockets work with --allow-net alone, offline and with a frozen lock", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/program.ts`;
    const config = `${folder}/deno.json`;
    await Deno.writeTextFile(file, PROGRAM);
    const { imports, workspace } = JSON.parse(
      await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)),
    );
    const root = new URL("../../../", import.meta.url).pathname;
    await Deno.writeTextFile(
      config,
      JSON.stringify({ imports, links: workspace.map((path: string) => `${root}${path}`) }),
    );
    const deno = (...args: string[]) =>
      run({ command: Deno.execPath(), args, cwd: folder, env: { NO_COLOR: "1" } }, 60_000);
    const cached = await deno("cache", "--quiet", "--no-check", file);
    assertEquals(cached.code, 0, cached.stderr);
    const { code, stdout, stderr } = await deno(
      "run",
      "--no-check",
      "--no-prompt",
      "--allow-net=127.0.0.1",
      "--cached-only",
      "--frozen",
      file,
    );
    assertEquals({ code, stdout }, { code: 0, stdout: "works\n" }, stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
