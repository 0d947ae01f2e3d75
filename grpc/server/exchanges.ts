import type { Registry } from "@bufbuild/protobuf";
import { type ExchangeTaker, type FieldBlock, h2 } from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";
import { callHead } from "./call_head.ts";
import { checkOrigins, type Origins } from "../web/cors.ts";
import { DEFAULT_MAX_RECEIVE_SIZE } from "../wire/message_stream.ts";
import type { Routes } from "../wire/route.ts";
import { ServerCall, type ServerSide } from "./call.ts";
import { WebRouter } from "../web/router.ts";

/** How calls are served, on whatever server. */
export interface CallSettings {
  /** Octets a received message may have. @default {4194304} */
  readonly maxReceiveSize?: number;
  /** Octets a sent message may have. @default unlimited */
  readonly maxSendSize?: number;
  /** Compress responses of 1 KiB and more with gzip for clients that accept it. @default {false} */
  readonly compress?: boolean;
  /**
   * Told of exceptions of handlers that are no `ConnectError`, with the method's path, and of
   * connections that failed, with "". Clients see UNKNOWN, never the text.
   */
  readonly onError?: (error: unknown, method: string) => void;
}

/** How calls of browsers are served. */
export interface WebSettings {
  /**
   * Origins (`https://app.example`) whose scripts may call; `"*"` for all. Preflights of others go
   * to the server's handler. @default none
   */
  readonly cors?: Origins;
  /** Types that may come in an `Any` in JSON, besides those the service's file knows. */
  readonly registry?: Registry;
}

/** Serves calls wherever requests come in. */
export class GrpcTaker implements ExchangeTaker {
  readonly #routes: Routes;
  readonly #side: ServerSide;
  readonly #alone: boolean;
  readonly #web: WebRouter;

  /**
   * Serves gRPC, and gRPC-Web and Connect beside it. With `alone`, only gRPC: what is not is answered
   * with 415; otherwise it is left to others.
   */
  constructor(routes: Routes, settings: CallSettings & WebSettings = {}, alone = false) {
    this.#routes = routes;
    this.#side = {
      maxReceiveSize: settings.maxReceiveSize ?? DEFAULT_MAX_RECEIVE_SIZE,
      maxSendSize: settings.maxSendSize ?? Infinity,
      compress: settings.compress ?? false,
      onHandlerError: settings.onError,
    };
    this.#alone = alone;
    this.#web = new WebRouter(routes, {
      ...this.#side,
      cors: checkOrigins(settings.cors ?? []),
      registry: settings.registry,
    });
  }

  /** The call this request makes, or null if it is not gRPC's. */
  takeStream(head: h2.RequestHead, block: FieldBlock, session: h2.Session): h2.Stream | null {
    const call = callHead(head, block, this.#routes);
    if (call !== undefined) return new ServerCall(this.#side, session, call);
    return this.#alone ? new h2.RefusalStream(415) : null;
  }

  /** Serves a gRPC-Web or Connect call, or null if the request is for no registered method. */
  takeExchange(stream: ServerStream): Promise<void> | null {
    return this.#alone ? null : this.#web.take(stream);
  }
}
