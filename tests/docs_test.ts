import { assert, assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };

interface Doc {
  nodes: Record<string, {
    module_doc?: { doc?: string };
    symbols: {
      name: string;
      declarations: { jsDoc?: unknown; def?: { hasBody?: boolean } }[];
    }[];
  }>;
}

for (const [entry, file] of Object.entries(config.exports)) {
  Deno.test(`the entry "${entry}" documents its module and every symbol`, async () => {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["doc", "--json", file],
      cwd: new URL("../", import.meta.url),
    }).output();
    const doc: Doc = JSON.parse(new TextDecoder().decode(stdout));
    for (const node of Object.values(doc.nodes)) {
      assert(node.module_doc?.doc, "Cannot find text above @module");
      const bare = node.symbols
        // Of overloads the signatures are documented, not what implements them.
        .filter(({ declarations }) =>
          declarations.some(({ jsDoc, def }) =>
            !jsDoc && !(declarations.length > 1 && def?.hasBody)
          )
        )
        .map((symbol) => symbol.name);
      assertEquals(bare, []);
    }
  });
}
