// The demo's gRPC service, from text.

import type { DescFile } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";

const PROTO = `
edition = "2023";
package demo;

service Demo {
  rpc Greet (GreetRequest) returns (Text);
  rpc Count (CountRequest) returns (stream Number);
  rpc Add (stream Number) returns (Number);
  rpc Shout (stream Text) returns (stream Text);
}

enum Language { ENGLISH = 0; GERMAN = 1; FRENCH = 2; SPANISH = 3; }

message GreetRequest {
  string name = 1 [default = "Deno"];
  Language language = 2;
  bool loudly = 3;
}
message CountRequest {
  int32 to = 1 [default = 20];
  int32 every_ms = 2 [default = 200];
}
message Text { string text = 1; }
message Number { int32 value = 1; }
`;

const HELLO = ["Hello", "Hallo", "Bonjour", "Hola"];

/** Bounds of a call to Count: whoever calls it holds a handler for their product at most. */
const MAX_COUNT = 10_000;
const MAX_PAUSE_MS = 10_000;

/** Loads the text. */
export function loadDemo(): DescFile {
  return new protoc.Loader().load(PROTO, "demo.proto");
}

/** The service, ready to be served. */
export function registerDemo(file: DescFile): grpc.Registrar {
  const registrar = new grpc.Registrar();
  registrar.register(file, {
    Greet: ({ name, language, loudly }) => {
      const text = `${HELLO[language] ?? HELLO[0]} ${name}`;
      return { text: loudly ? `${text.toUpperCase()}!` : text };
    },
    async *Count({ to, everyMs }, { signal }) {
      check("to", to, MAX_COUNT);
      check("every_ms", everyMs, MAX_PAUSE_MS);
      for (let value = 1; value <= to && !signal.aborted; value++) {
        if (value > 1 && everyMs > 0) await pause(everyMs, signal);
        yield { value };
      }
    },
    async Add(numbers: AsyncIterable<{ value: number }>) {
      let sum = 0;
      for await (const { value } of numbers) sum = (sum + value) | 0;
      return { value: sum };
    },
    async *Shout(texts: AsyncIterable<{ text: string }>) {
      for await (const { text } of texts) yield { text: text.toUpperCase() };
    },
  });
  return registrar;
}

function check(field: string, value: number, most: number): void {
  if (value >= 0 && value <= most) return;
  throw new grpc.ConnectError(
    `Cannot count as ${field} must be 0 to ${most}: current value is ${value}`,
    grpc.Code.InvalidArgument,
  );
}

/** Waits, or until nobody wants the result any more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
