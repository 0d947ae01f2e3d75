import { fault, forEachField } from "./metadata.ts";

/**
 * Bytes of the largest header list sent: in frames of the default size it needs one HEADERS and
 * seven CONTINUATION, and nghttp2, the strictest peer, takes eight of those.
 */
const MAX_LIST_SIZE = 128 << 10;

/** Bytes a field counts besides its characters (RFC 9113 §6.5.2). */
const FIELD_OVERHEAD = 32;

/** Name of the field of a status' details. */
export const DETAILS_NAME = "grpc-status-details-bin";

/** Faults of one list that are told of. */
const MAX_FAULTS = 16;

/**
 * Fields of an answer that is being made. What cannot be sent is left out, and told of by `faults`,
 * so that an answer can always be sent and keeps its status.
 */
export class FieldList {
  /** Name, value, name, value and so on. */
  readonly fields: string[];
  /** Why fields were left out. */
  readonly faults: TypeError[] = [];
  readonly #limit: number;
  #room: number;

  /** `first` are fields no answer goes without; `peerLimit` is the peer's MAX_HEADER_LIST_SIZE. */
  constructor(first: readonly string[], peerLimit: number) {
    this.fields = [];
    this.#limit = this.#room = Math.min(peerLimit, MAX_LIST_SIZE);
    for (let i = 0; i < first.length; i += 2) this.add(first[i]!, first[i + 1]!);
  }

  /** Bytes a value of that name may have. */
  room(name: string): number {
    return Math.max(0, this.#room - name.length - FIELD_OVERHEAD);
  }

  /** Adds a field of the protocol, whether or not there is room for it. */
  add(name: string, value: string): void {
    this.fields.push(name, value);
    this.#room -= name.length + value.length + FIELD_OVERHEAD;
  }

  /** Adds a field if there is room for it. */
  offer(name: string, value: string): void {
    if (value.length <= this.room(name)) this.add(name, value);
    else this.refuse(fault(name, `header lists must be <= ${this.#limit} bytes here`));
  }

  #offerUsers(name: string, value: string): void {
    // It has to agree with the status: it is made of the error's details.
    if (name === DETAILS_NAME) this.refuse(fault(name, "details belong to a ConnectError"));
    else this.offer(name, value);
  }

  /** Adds a user's metadata as far as they can be sent. With `received`, no user set the protocol's. */
  offerAll(metadata: HeadersInit, received = false): void {
    try {
      forEachField(
        metadata,
        (name, value) => this.#offerUsers(name, value),
        (error, reserved) => {
          if (!received || !reserved) this.refuse(error);
        },
      );
    } catch (error) {
      this.refuse(
        new TypeError("Cannot send metadata as they must be given as Headers", { cause: error }),
      );
    }
  }

  /** Notes what is not sent. */
  refuse(error: TypeError): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(error);
  }
}
