/** Completion of shells: scripts that shells read, with every flag in them. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";
import { ours } from "./support.ts";

const BASH = ["bash", await which("bash"), "put bash on PATH"] as const;

/** What bash offers for the last word of a line. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await ours(["completion", "bash"]);
  const line = words.map((word) => `'${word}'`).join(" ");
  const { code, stdout: found, stderr } = await run({
    command: "bash",
    args: [
      "-c",
      `${stdout}\nCOMP_WORDS=(grpc ${line}); COMP_CWORD=${words.length}; _grpc; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
  });
  assertEquals(code, 0, stderr);
  return found.split("\n").filter((word) => word !== "");
}

peerTest("bash completes verbs, flags and their values", { needs: [BASH] }, async () => {
  assertEquals(await offered("desc"), ["describe"]);
  assertEquals(await offered("-plain"), ["-plaintext"]);
  assertEquals(await offered("-format", ""), ["json", "text"]);
  assertEquals(await offered("--protocol", "grpc-"), ["grpc-web"]);
  assertEquals(await offered("completion", "z"), ["zsh"]);
  assert((await offered("-proto", "/et")).includes("/etc"));
});

Deno.test("scripts of all shells have every flag of the help", async () => {
  const help = (await ours(["-help"])).stdout;
  const flags = [...help.matchAll(/^ {2}-([\w-]+)/gm)].map(([, name]) => name!);
  assert(flags.length > 35, `${flags.length} flags`);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await ours(["completion", shell]);
    assertEquals(code, 0);
    for (const flag of flags.filter((flag) => flag !== "help")) {
      assertStringIncludes(stdout, shell === "fish" ? `-o ${flag} ` : `-${flag}`, shell);
    }
  }
  assertEquals((await ours(["completion", "csh"])).code, 2);
});
