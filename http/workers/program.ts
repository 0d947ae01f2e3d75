/**
 * The program of a worker: it imports the module that is to be served, listens, and does what the pool
 * orders.
 *
 * @module
 */
import type { Certificate } from "../net/certificate.ts";
import type { Order, Report } from "./messages.ts";

/** A server in a worker. */
interface ServedHere {
  readonly addr: string;
  readonly port: number;
  readonly connections?: number;
  readonly handlers?: number;
  setCerts(certs: readonly Certificate[]): void;
  close(): Promise<void>;
}

/** The global scope of a worker, as far as it is used. */
interface WorkerScope {
  addEventListener(name: "message", listener: (event: MessageEvent<Order>) => void): void;
  postMessage(report: Report): void;
  close(): void;
}

/** Obeys the pool this worker belongs to. `listen` starts its server. */
export function obey<Options>(listen: (options: Options) => ServedHere): void {
  const scope = globalThis as unknown as WorkerScope;
  let server: ServedHere | null = null;
  const act = async (order: Order): Promise<void> => {
    switch (order.kind) {
      case "start": {
        const options = { ...await optionsOf(order), ...order.options };
        server = listen(options as Options);
        return scope.postMessage({ kind: "listening", addr: server.addr, port: server.port });
      }
      case "ask":
        return scope.postMessage({
          kind: "counts",
          connections: server?.connections ?? 0,
          handlers: server?.handlers ?? 0,
        });
      case "certs":
        return server?.setCerts(order.certs);
      case "close":
        await server?.close();
        scope.postMessage({ kind: "closed" });
        return scope.close();
    }
  };
  // The module may have an `onmessage` of its own.
  scope.addEventListener(
    "message",
    ({ data }) =>
      void act(data).catch((error: unknown) =>
        scope.postMessage({ kind: "failed", error: plain(error) })
      ),
  );
}

/** The options that a module exports. */
async function optionsOf(
  { module, index, workers, options }: Extract<Order, { kind: "start" }>,
): Promise<object> {
  const { default: exported } = await import(module);
  const own = typeof exported === "function" ? await exported({ index, workers }) : exported;
  if (typeof own !== "object" || own === null) {
    throw new TypeError(
      `Cannot serve ${module} as its default export must be the options of a server, or a function that gives them: got ${
        own === null ? "null" : typeof own
      }`,
    );
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(own, name)) {
      throw new TypeError(
        `Cannot serve ${module} as ${name} is given to serve() too: give it once`,
      );
    }
  }
  return own;
}

/** An error as it can be sent: what it carries besides may be no data. */
function plain(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const copy = error instanceof TypeError ? new TypeError(error.message) : new Error(error.message);
  copy.stack = error.stack ?? "";
  return copy;
}
