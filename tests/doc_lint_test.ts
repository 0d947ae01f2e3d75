import { assertEquals } from "@std/assert";

/** Types of Connect and protobuf-es that signatures name; the list may only get shorter. */
const FOREIGN =
  /^(?:Desc\w+|Message\w*|ContextKey|ContextValues|HandlerContext|Interceptor|IncomingDetail|OutgoingDetail|Registry|StreamResponse|Transport|UnaryResponse)$/;

Deno.test("every public symbol has its documentation, and signatures name public types", async () => {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "doc",
      "--lint",
      "mod.ts",
      ...["http", "grpc", "kv", "protoc"].map((a) => `${a}/mod.ts`),
    ],
    cwd: new URL("../", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stderr);
  const own = text.split(/^(?=error)/m).filter((complaint) => {
    if (!complaint.startsWith("error[")) return false;
    if (/--> .*\/(?:npm|registry\.npmjs\.org)\//.test(complaint)) return false;
    const type = /references private type '(\w+)'/.exec(complaint);
    return type === null || !FOREIGN.test(type[1]!);
  });
  assertEquals(own, []);
});
