/** A validator of OpenAPI documents from npm. */
import { inPeers } from "../../../support/peers.ts";
import { TextLineStream } from "../transcoding/lines.ts";

export const VALIDATOR: string | undefined = inPeers(
  "node_modules/@seriousme/openapi-schema-validator/index.js",
);

/** The validator, running. */
export class Validator implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #in: WritableStreamDefaultWriter<Uint8Array>;
  readonly #out: ReadableStreamDefaultReader<string>;

  constructor() {
    this.#child = new Deno.Command("node", {
      args: [new URL("peers/validate.mjs", import.meta.url).pathname],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#in = this.#child.stdin.getWriter();
    this.#out = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream()).getReader();
  }

  /** Says what is wrong with a document, or null. */
  async fault(document: unknown): Promise<string | null> {
    await this.#in.write(new TextEncoder().encode(`${JSON.stringify(document)}\n`));
    const { value } = await this.#out.read();
    if (value === undefined) throw new Error("the validator ended");
    return JSON.parse(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#in.close();
    await this.#out.cancel();
    await this.#child.status;
  }
}
