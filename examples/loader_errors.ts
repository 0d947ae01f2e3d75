// deno run -A examples/loader_errors.ts
// deno-lint-ignore-file no-console
import { formatDiagnostic, Loader, ProtoError } from "@sluice/sluice/protoc";

// Faults of a schema, shown where they are and with what was probably meant.
const files: Record<string, string> = {
  "shop.proto": `syntax = "proto3";
package shop;
import "money.proto";
message Order {
  strng id = 1;
  Mony total = 2;
  Timestamp at = 3;
}
`,
  "money.proto": 'syntax = "proto3";\npackage shop;\nmessage Money { int64 cents = 1; }\n',
};
const resolve = (name: string) => files[name];

try {
  new Loader({ resolve }).load(files["shop.proto"]!, "shop.proto");
} catch (error) {
  if (!(error instanceof ProtoError)) throw error;
  for (const one of error.diagnostics) console.log(formatDiagnostic(one, { form: "text" }));
}

// A set of descriptors instead of text: from protoc, buf, or a server's reflection.
const compiled = new Loader({ resolve });
compiled.load(files["money.proto"]!, "money.proto");
const loader = new Loader();
const [money] = loader.loadSet([compiled.bytes("money.proto")]);
console.log(`${money!.messages[0]} from a set`);
