import { assertEquals } from "@std/assert";
import { entries, ROOT } from "./house/graph.ts";

/** Types of Connect and protobuf-es that signatures name. The list only gets shorter. */
const FOREIGN: readonly string[] = [
  "ContextKey",
  "ContextValues",
  "DescFile",
  "DescMessage",
  "DescMethod",
  "DescMethodBiDiStreaming",
  "DescMethodClientStreaming",
  "DescMethodServerStreaming",
  "DescMethodStreaming",
  "DescMethodUnary",
  "DescService",
  "HandlerContext",
  "Interceptor",
  "MessageInitShape",
  "MessageShape",
  "Registry",
  "StreamResponse",
  "Transport",
  "UnaryResponse",
];

Deno.test("every public symbol has its documentation, and signatures name public types", async () => {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", ...Object.values(entries())],
    cwd: new URL(ROOT),
    env: { NO_COLOR: "1" },
  }).output();
  const complaints = new TextDecoder().decode(stderr).split(/^(?=error)/m)
    .filter((complaint) => complaint.startsWith("error["))
    .filter((complaint) => !/--> .*\/(?:npm|registry\.npmjs\.org)\//.test(complaint))
    .map((complaint) => ({
      complaint,
      type: /references private type '(\w+)'/.exec(complaint)?.[1] ?? "",
    }));
  assertEquals(
    complaints.filter(({ type }) => !FOREIGN.includes(type)).map(({ complaint }) => complaint),
    [],
  );
  assertEquals(
    FOREIGN.filter((name) => !complaints.some(({ type }) => type === name)),
    [],
    "no signature names these any more: take them off the list",
  );
});
