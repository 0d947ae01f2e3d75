/** `serve`: proto files with answers that are made up, and handlers of a module. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { mockMessage } from "../../../grpc/cli/mock.ts";
import { FILE, ours, PROTOS, type Ran } from "./support.ts";

const FILES = ["-import-path", PROTOS, `${PROTOS}/test/all.proto`];

/** Runs `serve` until `use` has ended. */
async function serving(
  args: readonly string[],
  use: (addr: string) => Promise<void>,
): Promise<Ran> {
  const controller = new AbortController();
  const listening = Promise.withResolvers<string>();
  let printed = "";
  const running = ours(["serve", ...args, "-addr", "127.0.0.1:0"], {
    interrupted: controller.signal,
    onPrint: (text) => {
      printed += text;
      const [, addr] = /listening on (\S+)\n/.exec(printed) ?? [];
      if (addr !== undefined) listening.resolve(addr);
    },
  });
  const addr = await Promise.race([
    listening.promise,
    running.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ]);
  try {
    await use(addr);
  } finally {
    controller.abort();
  }
  return await running;
}

Deno.test("serve answers every method by its types, the same for the same seed", async () => {
  const answers: string[] = [];
  for (const seed of ["1", "1", "2"]) {
    await serving([...FILES, "-seed", seed], async (addr) => {
      const call = (method: string, ...flags: string[]) =>
        ours(["-plaintext", ...flags, addr, `test.all.Echo/${method}`]);
      const unary = await call("Unary");
      assertEquals(unary.code, 0, unary.stderr);
      assertEquals((await call("Unary")).stdout === unary.stdout, false);
      answers.push(unary.stdout);
      assertEquals((await call("Down")).stdout.split("\n}\n{").length, 3);
      assertEquals((await call("Up", "-d", "{}{}")).code, 0);
      assertEquals((await call("Both", "-d", "{}{}")).stdout.split("\n}\n{").length, 2);
      const required = JSON.parse((await call("Old", "-d", '{"name":"x"}')).stdout);
      assertEquals(typeof required.name, "string");
    });
  }
  assertEquals(answers[0], answers[1]);
  assert(answers[0] !== answers[2]);
});

Deno.test("serve offers reflection and health", async () => {
  const { code } = await serving(FILES, async (addr) => {
    const { stdout } = await ours(["-plaintext", addr, "list"]);
    assertStringIncludes(stdout, "grpc.health.v1.Health\n");
    assertStringIncludes(stdout, "test.all.Echo\n");
    const health = await ours([
      "-plaintext",
      "-d",
      '{"service":"test.all.Echo"}',
      addr,
      "grpc.health.v1.Health/Check",
    ]);
    assertEquals(health.stdout, '{\n  "status": "SERVING"\n}\n');
    const { stdout: described } = await ours(["-plaintext", addr, "describe", "test.all.Echo"]);
    assertStringIncludes(described, "// Echoes.");
  });
  assertEquals(code, 0);
});

Deno.test("serve takes handlers of a module, and refuses those for nothing", async () => {
  const folder = await Deno.makeTempDir();
  const module = `${folder}/handlers.ts`;
  await Deno.writeTextFile(
    module,
    `export const Echo = { Unary: (request) => ({ s: "hello " + request.s }) };
     export async function* Down(request) { yield request; }`,
  );
  await serving([...FILES, "-handlers", module], async (addr) => {
    const { stdout } = await ours([
      "-plaintext",
      "-d",
      '{"s":"you"}',
      addr,
      "test.all.Echo/Unary",
    ]);
    assertEquals(stdout, '{\n  "s": "hello you"\n}\n');
  });
  await Deno.writeTextFile(`${folder}/wrong.ts`, `export const Unari = () => ({});`);
  const wrong = await ours(["serve", ...FILES, "-handlers", `${folder}/wrong.ts`]);
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, 'did you mean "Unary"?');
  assertEquals((await ours(["serve"])).code, 2);
  assertEquals((await ours(["serve", "none.proto"])).code, 1);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("messages that are made up fit their types, for any seed", () => {
  const types = [FILE.messages[0]!, ...FILE.dependencies.flatMap(({ messages }) => messages)];
  for (const type of types.filter(({ typeName }) => !typeName.startsWith("google."))) {
    for (let seed = 0; seed < 50; seed++) {
      const bytes = toBinary(type, mockMessage(type, seed));
      assertEquals(toBinary(type, mockMessage(type, seed)), bytes);
      fromBinary(type, bytes);
    }
  }
});
