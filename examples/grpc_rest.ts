// deno run -A examples/grpc_rest.ts
// deno-lint-ignore-file no-console
/** One text as gRPC, gRPC-Web, Connect and REST on one port, with its OpenAPI document beside it. */
import { grpc, http, protoc } from "@sluice/sluice";

const proto = new protoc.Loader({ sourceInfo: true }).load(
  `
  syntax = "proto3";
  package library;
  import "google/api/annotations.proto";

  // Books on shelves.
  service Library {
    // Gives a book.
    rpc GetBook (GetBookRequest) returns (Book) {
      option (google.api.http) = { get: "/v1/{name=shelves/*/books/*}" };
    }
    // Puts a book on a shelf.
    rpc AddBook (AddBookRequest) returns (Book) {
      option (google.api.http) = { post: "/v1/{shelf=shelves/*}/books" body: "book" };
    }
    // Gives the books of a shelf, one by one.
    rpc WatchBooks (WatchBooksRequest) returns (stream Book) {
      option (google.api.http) = { get: "/v1/{shelf=shelves/*}/books:watch" };
    }
  }

  message GetBookRequest { string name = 1; }
  message AddBookRequest { string shelf = 1; Book book = 2; string id = 3; }
  message WatchBooksRequest { string shelf = 1; int32 most = 2; }
  message Book { string name = 1; string title = 2; int64 pages = 3; }
  `,
  "library.proto",
);

interface Book {
  name: string;
  title: string;
}
const books = new Map<string, Book>();

const registrar = new grpc.Registrar();
registrar.register(proto, {
  GetBook({ name }: { name: string }) {
    const book = books.get(name);
    if (book === undefined) throw new grpc.ConnectError(`no ${name}`, grpc.Code.NotFound);
    return book;
  },
  AddBook({ shelf, book, id }: { shelf: string; book: Book; id: string }) {
    const added = { ...book, name: `${shelf}/books/${id}` };
    books.set(added.name, added);
    return added;
  },
  async *WatchBooks({ shelf, most }: { shelf: string; most: number }) {
    const here = [...books.values()].filter(({ name }) => name.startsWith(`${shelf}/`));
    yield* here.slice(0, most || here.length);
  },
});

const document = grpc.openapi(registrar, { info: { title: "Library", version: "1.0.0" } });
await using server = http.listen({
  addr: "127.0.0.1:0",
  registrar: grpc.mount({ registrar, transcoding: true }),
  handler: ({ path }) =>
    path === "/openapi.json" ? Response.json(document) : new Response("not found", { status: 404 }),
});
const url = `http://${server.addr}`;

const added = await http.post(`${url}/v1/shelves/sea/books?id=moby`, {
  json: { title: "Moby-Dick", pages: "635" },
});
console.log("POST", added.status, await added.json());

await using conn = grpc.newClient({ targets: [server.addr] });
const library = grpc.newService(conn, proto);
const { title } = await library.GetBook!({ name: "shelves/sea/books/moby" }) as Book;
console.log("gRPC", title);

const missing = await fetch(`${url}/v1/shelves/sea/books/none`);
console.log("GET", missing.status, await missing.json());

const events = await fetch(`${url}/v1/shelves/sea/books:watch`, {
  headers: { accept: "text/event-stream" },
});
console.log(await events.text());

const described = await (await fetch(`${url}/openapi.json`)).json();
console.log("OpenAPI", Object.keys(described.paths));
