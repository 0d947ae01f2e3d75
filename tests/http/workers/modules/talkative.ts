/** A module that uses its worker's messages itself. */
import type { http } from "@sluice/sluice";

const scope = globalThis as unknown as {
  onmessage: unknown;
  postMessage(message: unknown): void;
};
scope.onmessage = () => {};
for (const message of [null, undefined, 5, "text", {}, { kind: "other" }]) {
  scope.postMessage(message);
}

const options: Omit<http.ServerOptions, "addr"> = {
  handler: (stream) => {
    scope.postMessage(null);
    stream.closeWrite("talked");
  },
};
export default options;
