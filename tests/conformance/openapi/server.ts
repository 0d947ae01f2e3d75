/** A server of handlers that give back what they got, and its OpenAPI document. */
import { grpc, http } from "../../../mod.ts";
import { LIBRARY } from "../../grpc/transcoding/library.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Handlers that never fail. */
const HANDLERS: grpc.Handlers = {
  GetBook: ({ name, isbn }: Any) => ({ name, title: isbn }),
  ListBooks: ({ parent, pageToken }: Any) => ({ titles: [parent], nextPageToken: pageToken }),
  CreateBook: ({ parent, book, bookId }: Any) => ({ ...book, name: `${parent}/books/${bookId}` }),
  UpdateBook: ({ book }: Any) => book,
  MoveBook: ({ name, otherShelf }: Any) => ({ name, title: otherShelf }),
  DeleteBook: () => ({}),
  Everything: (request: Any) => request,
  Purge: () => ({}),
  AnyMethod: () => ({}),
  async *Watch({ parent }: Any) {
    yield { name: parent };
  },
  async AddAll(requests: AsyncIterable<Any>) {
    const titles: string[] = [];
    for await (const { parent } of requests) titles.push(parent);
    return { titles };
  },
  async *Chat(requests: AsyncIterable<Any>) {
    for await (const { title } of requests) yield { title };
  },
  Upload: ({ path, file }: Any) => ({
    contentType: file?.contentType ?? "",
    data: file?.data ?? new TextEncoder().encode(path),
  }),
  async UploadParts(requests: AsyncIterable<Any>) {
    let parts = 0;
    for await (const _ of requests) parts++;
    return { parts };
  },
  async *Download({ path }: Any) {
    yield { contentType: "application/octet-stream", data: new TextEncoder().encode(path) };
  },
  Unserved: () => ({}),
};

/** Serves the library and, under `/openapi.json`, what it is. Errors of handlers go to `onError`. */
export function serveLibrary(onError: (error: unknown) => void): http.HttpServer {
  const registrar = new grpc.Registrar();
  registrar.register(LIBRARY, HANDLERS);
  const document = grpc.openapi(registrar, { info: { title: "Library", version: "1" } });
  return http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, transcoding: true, onError }),
    onError,
    handler: ({ path }) =>
      path === "/openapi.json"
        ? Response.json(document)
        : new Response("not found", { status: 404 }),
  });
}
