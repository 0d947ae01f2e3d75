/**
 * A running server as it stands, for those who look on. It counts calls from the first look on.
 *
 * @module
 */
import type { ConnectionView } from "../h2/mod.ts";
import type { CallRecorder } from "./watch.ts";

/** One connection of a server. */
export interface ClientView {
  /** The client's address. */
  readonly peer: string;
  readonly tls: boolean;
  /** Windows and streams of HTTP/2; of HTTP/1.1 the requests served, and whether one is at work. */
  readonly carries:
    | { readonly version: "HTTP/2" } & ConnectionView
    | { readonly version: "HTTP/1.1"; readonly requests: number; readonly state: string };
}

/** A server from the side. */
export interface ServerView {
  readonly addr: string;
  readonly connections: number;
  readonly handlers: number;
  /** Milliseconds by the server's clock. */
  now(): number;
  /** The recorder of the server's calls; the first to ask makes it. */
  recorder<R extends CallRecorder>(make: () => R): R;
  /** Some connections, with some streams of each. */
  clients(mostClients: number, mostStreams: number): ClientView[];
}
