// deno run -A examples/grpc_interceptors.ts
// deno-lint-ignore-file no-console
/** Calls that are logged, authenticated and bounded in time, by interceptors of the server. */
import { createContextKey, type Interceptor } from "@connectrpc/connect";
import { grpc, protoc } from "@sluice/sluice";

const proto = new protoc.Loader().load(
  `
  syntax = "proto3";
  package notes;
  service Notes { rpc List (ListRequest) returns (stream Note); }
  message ListRequest {}
  message Note { string text = 1; }
  `,
  "notes.proto",
);

const OWNER = createContextKey<string | null>(null);
const tokens = new Map([["ann's token", "ann"], ["t0k3n", "bob"]]);

/** One's own: each message of a stream goes through it. */
const loud: Interceptor = (next) => async (request) => {
  const response = await next(request);
  if (!response.stream) return response;
  const { message } = response;
  async function* louder() {
    for await (const note of message as AsyncIterable<{ text: string }>) {
      yield { ...note, text: note.text.toUpperCase() };
    }
  }
  return { ...response, message: louder() as typeof message };
};

const registrar = new grpc.Registrar({ interceptors: [loud] });
registrar.register(proto, {
  async *List(_request, { values }) {
    yield { text: `milk for ${values.get(OWNER)}` };
    yield { text: "bread" };
  },
}, { interceptors: [grpc.bearerAuth(OWNER, (token) => tokens.get(token))] });

await using server = grpc.listen({
  addr: "127.0.0.1:0",
  registrar,
  interceptors: [
    grpc.callLog(({ method, code, protocol }) => console.log(`${protocol} ${method}: ${code}`)),
    grpc.deadlineBounds({ default: 10_000, largest: 60_000 }),
  ],
});

await using conn = grpc.newClient({ targets: [server.addr] });
const notes = grpc.newService(conn, proto);

const headers = { authorization: "Bearer t0k3n" };
for await (const { text } of await notes.List({}, { headers })) console.log(text);

// Without a token.
const refused = await notes.List({});
const [, error] = await grpc.attempt(refused.read());
console.log(error?.message);
