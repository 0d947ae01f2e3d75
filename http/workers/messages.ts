/**
 * Messages between a pool of workers and one of them.
 *
 * @module
 */
import type { Certificate } from "../net/certificate.ts";
import type { SharedOptions } from "./options.ts";

/** To a worker. */
export type Order =
  | {
    readonly kind: "start";
    readonly module: string;
    readonly index: number;
    readonly workers: number;
    readonly options: SharedOptions & { readonly addr: string; readonly reusePort: true };
  }
  | { readonly kind: "ask" }
  | { readonly kind: "certs"; readonly certs: readonly Certificate[] }
  | { readonly kind: "close" };

/** From a worker. */
export type Report =
  | { readonly kind: "listening"; readonly addr: string; readonly port: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "counts"; readonly connections: number; readonly handlers: number }
  | { readonly kind: "closed" };
