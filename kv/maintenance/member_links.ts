/**
 * Connections to single members, for calls that are about one member and no other.
 *
 * @module
 */
import { type Conn, newClient as newConn } from "../../grpc/mod.ts";
import type { Time } from "../../http/engine.ts";
import { Calls } from "../calls.ts";
import type { Credentials } from "../credentials.ts";
import { type Settings, targetsOf } from "../endpoints.ts";
import { ClientClosedError } from "../errors.ts";
import type { Observer } from "../observer.ts";
import { type MaintenanceService, maintenanceService } from "./service.ts";

/** Parts of a client that the calls are made with. */
interface MemberLinksOptions {
  readonly settings: Settings;
  readonly time: Time;
  readonly credentials: Credentials | undefined;
  readonly observer: Observer | undefined;
}

/** A connection to one member. */
interface MemberLink {
  readonly calls: Calls;
  readonly service: MaintenanceService;
  /** Ends it. May be called again. */
  close(): void;
}

/** See the module. Each is opened for one call: such calls are rare. */
export class MemberLinks {
  readonly #options: MemberLinksOptions;
  readonly #open = new Map<Conn, Calls>();
  #closed = false;

  constructor(options: MemberLinksOptions) {
    this.#options = options;
  }

  /**
   * Opens one.
   *
   * @throws {TypeError} If `endpoint` is none, or none that this client may talk to.
   * @throws {ClientClosedError} If the client was closed.
   */
  open(operation: string, endpoint: string): MemberLink {
    if (this.#closed) throw new ClientClosedError(operation);
    const { settings, ...rest } = this.#options;
    const { targets } = targetsOf([endpoint], settings.grpc.tls, settings.auth);
    const conn = newConn({ ...settings.grpc, targets });
    // There is no other member to ask.
    const calls = new Calls({ settings: { ...settings, retry: 0 }, ...rest });
    calls.endpoints = targets;
    this.#open.set(conn, calls);
    return {
      calls,
      service: maintenanceService(conn),
      close: () => {
        if (this.#open.delete(conn)) conn.close();
      },
    };
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#open];
    this.#open.clear();
    await Promise.all(open.map(([conn, calls]) => {
      calls.close();
      return conn.close();
    }));
  }
}
