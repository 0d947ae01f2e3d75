/** The contract of server and client is tested row by row, each over every transport. */
import type { ServerStream } from "../../http/mod.ts";
import {
  PLATFORM_CLIENTS,
  PLATFORM_SERVERS,
  type Transport,
  TRANSPORTS,
} from "../../support/transports.ts";

/** Header fields of a text. */
export const text: { readonly "content-type": string } = { "content-type": "text/plain" };

/** Answers with `body`. */
export function answer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = text,
): (stream: ServerStream) => void {
  return (stream) => {
    stream.respond(status, headers);
    stream.closeWrite(body);
  };
}

/** A transport, as rows of the contract look at it. */
interface Row {
  readonly transport: Transport;
  readonly h1: boolean;
  /** Whether Deno.serve serves: what it cannot do must be refused, with its name. */
  readonly platform: boolean;
}

/** Defines tests for every transport. */
export function contract(
  define: (test: (name: string, run: () => Promise<void>) => void, row: Row) => void,
): void {
  for (const transport of [...TRANSPORTS, ...PLATFORM_SERVERS, ...PLATFORM_CLIENTS]) {
    define((name, run) => Deno.test(`${name} (${transport.name})`, run), {
      transport,
      h1: transport.version === "HTTP/1.1",
      platform: transport.platform === "server",
    });
  }
}
