import { Code, ConnectError } from "@connectrpc/connect";
import { abortable } from "@std/async";
import { printable } from "../../http/engine.ts";
import type { CallContext } from "../wire/call_context.ts";
import { healthFile } from "../wire/proto/health.ts";
import { checkRegistrar, type Registrar } from "./registrar.ts";

/** Status of a service. */
export type HealthStatus = "SERVING" | "NOT_SERVING" | "UNKNOWN";

/** Numbers of `ServingStatus`. */
const NUMBERS: Readonly<Record<HealthStatus, number>> = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 };

/** Sent to watchers of a service without status. */
const SERVICE_UNKNOWN = 3;

/** Services that one `List` tells of at most; more fail it with RESOURCE_EXHAUSTED. */
export const MAX_LISTED_SERVICES = 100;

interface CheckRequest {
  readonly service: string;
}

/**
 * The health service that load balancers and orchestrators ask (`grpc.health.v1.Health`): `Check`,
 * `Watch` and `List`. The name "" stands for the server as a whole and is SERVING from the start.
 *
 * Watchers are told the status at once and every change after that; one who reads slowly gets the
 * latest status and not those between.
 *
 * @example
 * ```ts
 * import { Health, Registrar } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar();
 * const health = new Health().register(registrar);
 * health.set("helloworld.Greeter", "SERVING");
 * ```
 */
export class Health {
  readonly #statuses = new Map<string, HealthStatus>([["", "SERVING"]]);
  #changed = Promise.withResolvers<void>();
  #down = false;

  /** Adds the service to those of a server. Throws `TypeError` if it has one of that name. */
  register(registrar: Registrar): this {
    checkRegistrar("tell health", registrar);
    registrar.register(healthFile(), {
      Check: (request: CheckRequest) => this.#check(request),
      List: () => this.#list(),
      Watch: (request: CheckRequest, context: CallContext) => this.#watch(request, context),
    });
    return this;
  }

  /** The status of a service, or undefined if it has none. */
  get(service: string): HealthStatus | undefined {
    const status = this.#statuses.get(service);
    return this.#down && status !== undefined ? "NOT_SERVING" : status;
  }

  /**
   * Sets the status of a service: its full name (`package.Service`), or "" for the whole server.
   * After {@linkcode shutdown} it shows when the server resumes.
   */
  set(service: string, status: HealthStatus): void {
    if (!(status in NUMBERS)) {
      throw new TypeError(
        `Cannot set the health of "${service}" as status must be one of ${
          Object.keys(NUMBERS).join(", ")
        }: current value is ${JSON.stringify(status)}`,
      );
    }
    this.#statuses.set(service, status);
    this.#tell();
  }

  /** Forgets a service: checks of it fail with NOT_FOUND. */
  delete(service: string): void {
    if (this.#statuses.delete(service)) this.#tell();
  }

  /** Says that nothing is served any more, so that callers go elsewhere before the server closes. */
  shutdown(): void {
    this.#down = true;
    this.#tell();
  }

  /** Takes {@linkcode shutdown} back. */
  resume(): void {
    this.#down = false;
    this.#tell();
  }

  #tell(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  #check({ service }: CheckRequest): object {
    const status = this.get(service);
    if (status !== undefined) return { status: NUMBERS[status] };
    throw new ConnectError(`unknown service ${printable(service)}`, Code.NotFound);
  }

  #list(): object {
    const names = [...this.#statuses.keys()];
    if (names.length > MAX_LISTED_SERVICES) {
      throw new ConnectError(
        `${names.length} services are more than the ${MAX_LISTED_SERVICES} that can be listed`,
        Code.ResourceExhausted,
      );
    }
    return {
      statuses: Object.fromEntries(
        names.map((name) => [name, { status: NUMBERS[this.get(name)!] }]),
      ),
    };
  }

  async *#watch({ service }: CheckRequest, { signal }: CallContext): AsyncGenerator<object> {
    let told = -1;
    for (;;) {
      const changed = this.#changed.promise;
      const known = this.get(service);
      const status = known === undefined ? SERVICE_UNKNOWN : NUMBERS[known];
      if (status !== told) {
        told = status;
        yield { status };
      } else await abortable(changed, signal);
    }
  }
}
