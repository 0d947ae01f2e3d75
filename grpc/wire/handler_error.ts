import { type ErrorListener, tellError } from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";

/** Told of errors of handlers, with the method's path. */
export type CallErrorListener = ((error: unknown, method: string) => unknown) | null | undefined;

/** The listener of the server that calls run on. */
export type ServerErrorListener = ErrorListener | null | undefined;

/** Tells of an error of a handler: `own`, or if the services have none, the server's listener. */
export function tellHandlerError(
  error: unknown,
  path: string,
  own: CallErrorListener,
  servers: ServerErrorListener,
  ...stream: [ServerStream] | []
): void {
  const what = `The handler of ${path} failed`;
  if (own !== undefined) tellError(own, what, error, path);
  else tellError(servers, what, error, ...stream);
}
