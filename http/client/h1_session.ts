/**
 * One HTTP/1.1 connection of a client: one exchange at a time, and a watch while there is none.
 *
 * @module
 */
import { Input } from "../h1/input.ts";
import { type HeadLimits, HeadSearch } from "../h1/read.ts";
import type { Socket } from "../net/socket.ts";
import { SocketWriter } from "../net/socket_writer.ts";
import { Deadline } from "../time/deadline.ts";
import type { Time } from "../time/time.ts";
import type { LinkedList, ListItem } from "./linked_list.ts";

/** Header fields of a response: servers are chosen, clients are not, so it may have more than a request. */
export const MAX_RESPONSE_FIELDS = 512;

/** Bytes of a status line. */
const MAX_STATUS_LINE = 64 << 10;

/** Settings of a client's connection. */
interface ClientSessionOptions {
  /** Milliseconds during which the server may take nothing of a request. */
  readonly writeTimeout: number;
  /** Bytes of a response's head. */
  readonly maxHeaderBytes: number;
}

/** Told when a connection becomes free, and when it is gone. */
interface ClientSessionOwner {
  /** The connection is free for the next exchange. */
  onIdle(session: ClientSession): void;
  /** The connection is gone. */
  onClosed(session: ClientSession): void;
}

/** Bytes of a request that may wait for the socket when its answer ends; more, and it is cut. */
const MAX_UNSENT_BYTES = 64 << 10;

/** The exchange under way, as far as its connection knows it. */
interface CurrentExchange {
  /** A limit of the connection's deadline has passed. */
  onTimeout(phase: string, ms: number): void;
  /** Nothing more can be sent. */
  onWriteError(error: Error): void;
  /** Ends it, and the connection with it. */
  abort(reason: Error): void;
}

/** See the module. */
export class ClientSession implements ListItem<ClientSession> {
  list: LinkedList<ClientSession> | null = null;
  nextItem: ClientSession | null = null;
  previousItem: ClientSession | null = null;
  readonly socket: Socket;
  readonly input: Input;
  readonly output: SocketWriter;
  /** Exchanges begun on it. */
  count = 0;
  /** The connection can carry nothing more. */
  closed = false;
  /** When it became idle, by the clock. */
  idleSince = 0;
  /** Milliseconds the server keeps an idle connection, as it said, or Infinity. */
  keepAlive = Infinity;
  readonly time: Time;
  readonly deadline: Deadline;
  readonly search: HeadSearch = new HeadSearch();
  readonly headLimits: HeadLimits;
  readonly #owner: ClientSessionOwner;
  #exchange: CurrentExchange | null = null;

  constructor(
    socket: Socket,
    owner: ClientSessionOwner,
    options: ClientSessionOptions,
    time: Time,
  ) {
    const { writeTimeout, maxHeaderBytes } = options;
    this.headLimits = {
      maxHeaderBytes,
      maxHeaderFields: MAX_RESPONSE_FIELDS,
      maxTargetBytes: Math.min(maxHeaderBytes, MAX_STATUS_LINE),
    };
    this.socket = socket;
    this.#owner = owner;
    this.input = new Input(socket, time.clock);
    this.output = new SocketWriter(socket, { writeTimeout, minWriteRate: 0 }, {
      onWriteError: (error) => this.#onWriteError(error),
    }, time);
    this.time = time;
    this.deadline = new Deadline(time, (phase, ms) => {
      if (this.#exchange === null) this.close();
      else this.#exchange.onTimeout(phase, ms);
    });
    time.timers.retain();
  }

  /** An exchange begins. The session must be idle. */
  begin(exchange: CurrentExchange): void {
    if (this.count > 0) this.socket.ref?.();
    this.count++;
    this.#exchange = exchange;
  }

  /** The exchange under way is over; `keep` if the connection may serve another. */
  done(keep: boolean): void {
    this.#exchange = null;
    this.deadline.clear();
    // RFC 9112 §9.2: what comes after the last response belongs to no request.
    if (
      !keep || !this.input.empty || this.input.ended || this.output.error !== null ||
      this.output.pending > MAX_UNSENT_BYTES
    ) {
      return this.close();
    }
    this.input.shrink();
    this.idleSince = this.input.now;
    this.socket.unref?.();
    this.input.fill().then(this.#onInput, this.#onInput);
    this.#owner.onIdle(this);
  }

  /** Bytes or the end came. While no exchange is under way either ends the connection. */
  readonly #onInput = (): void => {
    if (this.#exchange === null) this.close();
  };

  #onWriteError(error: Error): void {
    // A server may answer and close before it read the whole request: its answer counts.
    if (this.#exchange === null) this.close();
    else this.#exchange.onWriteError(error);
  }

  /** Ends the connection and the exchange on it. */
  abort(reason: Error): void {
    if (this.#exchange === null) this.close();
    else this.#exchange.abort(reason);
  }

  /** Ends the connection. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.deadline.stop();
    this.output.stop();
    this.socket.close();
    this.time.timers.release();
    this.#owner.onClosed(this);
  }
}
