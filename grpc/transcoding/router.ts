/**
 * JSON transcoding: requests of HTTP as calls of the registered handlers, as `google.api.http` says.
 * {@link https://github.com/googleapis/googleapis/blob/master/google/api/http.proto}
 *
 * @module
 */
import { createRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ServerWatch, Time } from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";
import type { RpcTelemetry } from "../telemetry/options.ts";
import { followCall } from "../telemetry/server_call.ts";
import { preflight } from "../web/cors.ts";
import { headersOf } from "../web/exchange.ts";
import { implementation } from "../web/implementation.ts";
import type { Encoding } from "../wire/compression.ts";
import type { CallErrorListener, ServerErrorListener } from "../wire/handler_error.ts";
import { registryOf } from "../wire/registry.ts";
import type { Method } from "../wire/method.ts";
import type { Route, Routes } from "../wire/route.ts";
import type { Bindings } from "./bindings.ts";
import type { TranscodingSettings } from "./options.ts";
import { isWellEncoded } from "./percent.ts";
import { badRequest, httpStatus, Refusal, statusJson } from "./refusal.ts";
import { RestCall, type RestSettings, type Run } from "./rest_call.ts";
import { ANY_METHOD } from "./table.ts";

/** Settings that calls of whatever protocol share. */
interface SharedSettings {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  readonly compress: boolean;
  readonly encoding: Encoding | undefined;
  readonly cors: readonly string[];
  readonly registry: Registry | undefined;
  readonly onError: CallErrorListener;
  /** Milliseconds, or Infinity. See `CallSettings`. */
  readonly defaultTimeout: number;
  readonly maxTimeout: number;
  /** Whether calls of handlers keep to the deadline and the end of theirs. */
  readonly propagate: boolean;
  /** How calls are shown; undefined: as the server's requests are. */
  readonly telemetry: RpcTelemetry | null | undefined;
}

/** For errors without details. */
const NO_TYPES = createRegistry();

/** Methods of HTTP that a rule for all of them has. */
const ALL_METHODS = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"];

/** Serves requests whose paths are those of bindings. */
export class TranscodingRouter {
  readonly #routes: Routes;
  readonly #bindings: Bindings;
  readonly #settings: SharedSettings & TranscodingSettings;
  readonly #registries = new WeakMap<DescFile, Registry>();
  readonly #runs = new WeakMap<Route, Run>();

  constructor(
    routes: Routes,
    bindings: Bindings,
    settings: SharedSettings,
    transcoding: TranscodingSettings,
  ) {
    this.#routes = routes;
    this.#bindings = bindings;
    this.#settings = { ...settings, ...transcoding };
  }

  /** Serves the exchange if a binding has its path; null otherwise. Settles when it is over. */
  route(
    stream: ServerStream,
    onError: ServerErrorListener,
    time: Time,
    watch: ServerWatch | null,
  ): Promise<void> | null {
    const { path } = stream;
    if (stream.method === "OPTIONS") return this.#preflight(stream, path);
    let found = this.#bindings.find(stream.method, path);
    if (found === null) return null;
    if (found.kind === "other-methods" && stream.method === "HEAD") {
      // HEAD is GET without the body (RFC 9110 §9.3.2).
      const get = this.#bindings.find("GET", path);
      if (get?.kind === "match" && !get.value.method.serverStreams) found = get;
    }
    if (found.kind === "other-methods") {
      const allow = allowed(found.methods);
      return this.#refuse(
        stream,
        new Refusal(
          `${stream.method} is none of the methods of this path: ${allow}`,
          Code.Unimplemented,
          405,
          { allow },
        ),
      );
    }
    if (!isWellEncoded(path)) {
      return this.#refuse(stream, badRequest("the path must be percent-encoded UTF-8"));
    }
    const binding = found.value;
    const { method } = binding;
    const settings: RestSettings = {
      ...this.#settings,
      registry: this.#registry(method.desc.parent.file),
    };
    const call = new RestCall(stream, binding, found.segments, settings, onError, time);
    const run = this.#run(this.#routes.get(method.path)!);
    if (watch === null && !this.#settings.telemetry) return call.serve(run);
    return this.#serveFollowed(call, run, method, watch);
  }

  async #serveFollowed(
    call: RestCall,
    run: Run,
    method: Method,
    watch: ServerWatch | null,
  ): Promise<void> {
    const { stream, time } = call;
    const followed = followCall(watch, this.#settings.telemetry, time.clock, {
      method,
      protocolName: "rest",
      fields: stream.fields,
      authority: stream.authority,
      peer: stream.remoteAddr,
    });
    if (followed === null) return await call.serve(run);
    try {
      await followed.run(() => call.serve(run));
    } finally {
      const { outcome } = call;
      if (outcome instanceof ConnectError) followed.ended(outcome.code, outcome);
      else followed.ended(stream.aborted ? Code.Canceled : 0, null);
    }
  }

  #preflight(stream: ServerStream, path: string): Promise<void> | null {
    const found = this.#bindings.find("OPTIONS", path);
    if (found === null) return null;
    const methods = found.kind === "match" ? ALL_METHODS.join(", ") : allowed(found.methods);
    const answer = preflight(this.#settings.cors, headersOf(stream), methods);
    if (answer === null) return null;
    return stream.respond(204, answer).then(() => stream.closeWrite());
  }

  /** A registered handler, made ready when it is first called. */
  #run(route: Route): Run {
    let run = this.#runs.get(route);
    if (run === undefined) {
      run = implementation(route, this.#settings) as Run;
      this.#runs.set(route, run);
    }
    return run;
  }

  /** All types a method's file knows: JSON spells out what is in an `Any`. */
  #registry(file: DescFile): Registry {
    let registry = this.#registries.get(file);
    if (registry === undefined) {
      this.#registries.set(file, registry = registryOf(file, this.#settings.registry));
    }
    return registry;
  }

  /** Answers a request that is no call. */
  async #refuse(stream: ServerStream, error: ReturnType<typeof badRequest>): Promise<void> {
    const fields = new Headers(error.metadata);
    fields.set("content-type", "application/json");
    await stream.respond(httpStatus(error), fields);
    stream.closeWrite(JSON.stringify(statusJson(error, NO_TYPES)));
  }
}

function allowed(methods: readonly string[]): string {
  const all = methods.includes(ANY_METHOD) ? ALL_METHODS : methods;
  const more = all.includes("GET") && !all.includes("HEAD") ? [...all, "HEAD"].sort() : all;
  return more.join(", ");
}
