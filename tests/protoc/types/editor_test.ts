/** What an editor shows of types: asked of the language server itself. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Loader } from "../../../protoc/mod.ts";
import { writeTypes } from "../../../protoc/types/module.ts";

const ROOT = new URL("../../../", import.meta.url);

/** A message of JSON-RPC, as far as it is looked at. */
interface Answer {
  readonly id?: number;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any
  readonly params?: any;
  // deno-lint-ignore no-explicit-any
  readonly result?: any;
}

/** A language server, over its standard input and output. */
class LanguageServer implements AsyncDisposable {
  readonly #process = new Deno.Command(Deno.execPath(), {
    args: ["lsp", "-q"],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  readonly #writer = this.#process.stdin.getWriter();
  readonly #seen: Answer[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #reading = this.#read();
  #ids = 0;

  async request(method: string, params: object): Promise<Answer["result"]> {
    const id = ++this.#ids;
    await this.#send({ id, method, params });
    return (await this.until((answer) => answer.id === id && answer.method === undefined)).result;
  }

  async notify(method: string, params: object): Promise<void> {
    await this.#send({ method, params });
  }

  /** The first message, of those that came and will come, that `is` takes. */
  async until(is: (answer: Answer) => boolean): Promise<Answer> {
    for (let next = 0;; next++) {
      while (next >= this.#seen.length) {
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
      }
      if (is(this.#seen[next]!)) return this.#seen[next]!;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.request("shutdown", {});
    await this.notify("exit", {});
    await this.#writer.close().catch(() => {});
    await this.#reading;
    await this.#process.status;
  }

  async #send(message: object): Promise<void> {
    const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }));
    await this.#writer.write(new TextEncoder().encode(`Content-Length: ${body.length}\r\n\r\n`));
    await this.#writer.write(body);
  }

  async #read(): Promise<void> {
    let left = new Uint8Array(0);
    for await (const bytes of this.#process.stdout) {
      left = Uint8Array.from([...left, ...bytes]);
      for (;;) {
        const text = new TextDecoder("latin1").decode(left.subarray(0, 256));
        const head =
          /^(?:[^]*?\r\n)?Content-Length: (\d+)\r\n[^]*?\r\n\r\n|^Content-Length: (\d+)\r\n\r\n/
            .exec(text);
        const length = Number(head?.[1] ?? head?.[2]);
        if (head === null || left.length < head[0].length + length) break;
        const body = left.subarray(head[0].length, head[0].length + length);
        left = left.slice(head[0].length + length);
        const message: Answer & { readonly id?: number } = JSON.parse(
          new TextDecoder().decode(body),
        );
        // Requests of the server, for settings and the like: it has none.
        if (message.method !== undefined && message.id !== undefined) {
          const items = message.params?.items;
          await this.#send({
            id: message.id,
            result: items ? items.map(() => ({ enable: true })) : null,
          });
        } else this.#seen.push(message);
        for (const wake of this.#waiting) wake();
        this.#waiting.clear();
      }
    }
  }
}

const TEXT = `syntax = "proto3"; package shelf;
  service Shelf { rpc Find(Query) returns (Book); }
  message Query { string title_part = 1; int32 year = 2; } message Book { string title = 1; }`;

/** Asks for the completion behind `query.`, and for errors at a field that does not exist. */
async function assertShown(source: string, others: Readonly<Record<string, string>>) {
  const directory = await Deno.makeTempDir({ dir: new URL(".", import.meta.url).pathname });
  try {
    for (const [name, text] of Object.entries(others)) {
      await Deno.writeTextFile(`${directory}/${name}`, text);
    }
    const path = `${directory}/main.ts`;
    await Deno.writeTextFile(path, source);
    const uri = new URL(`file://${path}`).href;
    await using server = new LanguageServer();
    await server.request("initialize", {
      processId: null,
      rootUri: ROOT.href,
      capabilities: {
        textDocument: { publishDiagnostics: {} },
        workspace: { configuration: true },
      },
      initializationOptions: { enable: true, config: `${ROOT.pathname}deno.json` },
      workspaceFolders: [{ uri: ROOT.href, name: "root" }],
    });
    await server.notify("initialized", {});
    await server.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "typescript", version: 1, text: source },
    });
    const shown = await server.until(({ method, params }) =>
      method === "textDocument/publishDiagnostics" && params.uri === uri &&
      params.diagnostics.some((one: { source: string }) => one.source === "deno-ts")
    );
    const errors: { message: string; range: { start: { line: number } } }[] = shown.params
      .diagnostics.filter((one: { source: string }) => one.source === "deno-ts");
    const lines = source.split("\n");
    assertEquals(errors.map(({ range }) => lines[range.start.line]!.includes("// wrong")), [true]);
    assertStringIncludes(errors[0]!.message, "'titel' does not exist");
    const line = lines.findIndex((one) => one.includes("// here"));
    const completion = await server.request("textDocument/completion", {
      textDocument: { uri },
      position: { line, character: lines[line]!.indexOf("query.") + "query.".length },
      context: { triggerKind: 2, triggerCharacter: "." },
    });
    const labels = (completion.items ?? completion).map((item: { label: string }) => item.label);
    assert(labels.includes("titlePart") && labels.includes("year"), labels.join());
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const HANDLERS = `{
  Find: (query) => {
    const part = query.titlePart; // here
    return { title: part };
  },
}`;

Deno.test("an editor completes and corrects handlers of a text as const", async () => {
  await assertShown(
    `import { create } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";
const file = new protoc.Loader().load(\`${TEXT}\` as const, "shelf.proto");
new grpc.Registrar().register(file, ${HANDLERS});
create(protoc.messageOf(file, "Book"), { titel: "x" }); // wrong
`,
    {},
  );
});

Deno.test("an editor completes and corrects handlers of a written module", async () => {
  const loader = new Loader();
  const written = writeTypes([loader.load(TEXT, "shelf.proto")], {
    protobuf: "@bufbuild/protobuf",
  });
  await assertShown(
    `import { create } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";
import { message, service } from "./types.ts";
const { registry } = new protoc.Loader();
new grpc.Registrar().register(service(registry, "shelf.Shelf"), ${HANDLERS});
create(message(registry, "shelf.Book"), { titel: "x" }); // wrong
`,
    { "types.ts": written },
  );
});
