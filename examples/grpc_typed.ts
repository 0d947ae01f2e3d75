// deno run --allow-net examples/grpc_typed.ts
// deno-lint-ignore-file no-console
// Proto text as const: the compiler knows handlers, clients and messages, without a step.
import { create } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";

const file = new protoc.Loader().load(
  `
  syntax = "proto3";
  package library;
  service Library {
    rpc Find (Query) returns (Book);
    rpc List (Query) returns (stream Book);
  }
  message Query { string title = 1; optional int32 limit = 2; }
  message Book {
    string title = 1;
    repeated string authors = 2;
    oneof where { string shelf = 3; Loan loan = 4; }
  }
  message Loan { string to = 1; int64 until = 2; }
  ` as const,
  "library.proto",
);

const Book = protoc.messageOf(file, "Book");
const dune = create(Book, { title: "Dune", where: { case: "shelf", value: "H" } });

const registrar = new grpc.Registrar();
registrar.register(file, {
  Find: ({ title }) => title === dune.title ? dune : { title, authors: ["unknown"] },
  async *List({ title, limit = 2 }) {
    for (let i = 1; i <= limit; i++) yield await Promise.resolve({ title: `${title} ${i}` });
  },
});

await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
await using conn = grpc.newClient({ targets: [server.addr] });
const library = grpc.newService(conn, file, "Library");

const found = await library.Find({ title: "Dune" });
if (found.where.case === "shelf") console.log(`${found.title} is on shelf ${found.where.value}`);

const listed = await library.List({ title: "Volume", limit: 3 });
for (let book = await listed.read(); book !== null; book = await listed.read()) {
  console.log(book.title.toUpperCase());
}
