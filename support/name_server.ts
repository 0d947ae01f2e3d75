/**
 * A name server for tests: answers SRV questions over UDP from a table.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import dgram from "node:dgram";

/** One answer. */
export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

const SRV = 33;
const NAME_ERROR = 3;

/** A name server on 127.0.0.1. Dispose of it with `await using`. */
export class NameServer implements AsyncDisposable {
  /** Its address with its port. */
  readonly address: string;
  /** Names that were asked for. */
  readonly asked: string[] = [];
  readonly #socket: dgram.Socket;

  private constructor(socket: dgram.Socket, records: Readonly<Record<string, SrvRecord[]>>) {
    this.#socket = socket;
    this.address = `127.0.0.1:${socket.address().port}`;
    socket.on("message", (query: Buffer, from: dgram.RemoteInfo) => {
      const { name, end } = readName(query, 12);
      this.asked.push(name);
      const question = query.subarray(12, end + 4);
      socket.send(answer(query, question, records[name]), from.port, from.address);
    });
  }

  /** Starts it with the records of each name. */
  static async start(records: Readonly<Record<string, SrvRecord[]>>): Promise<NameServer> {
    const socket = dgram.createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return new NameServer(socket, records);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}

function readName(message: Buffer, at: number): { name: string; end: number } {
  const labels: string[] = [];
  while (message[at] !== 0) {
    const length = message[at]!;
    labels.push(message.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** RFC 1035 §4.1, RFC 2782. */
function answer(query: Buffer, question: Buffer, records: SrvRecord[] | undefined): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  // A response, recursion desired and available.
  head.writeUInt16BE(0x8180 | (records === undefined ? NAME_ERROR : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records?.length ?? 0, 6);
  const answers = (records ?? []).map(({ priority, weight, port, target }) => {
    const name = Buffer.concat([
      ...target.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0]),
    ]);
    const record = Buffer.alloc(18);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(SRV, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(60, 6);
    record.writeUInt16BE(6 + name.length, 10);
    record.writeUInt16BE(priority, 12);
    record.writeUInt16BE(weight, 14);
    record.writeUInt16BE(port, 16);
    return Buffer.concat([record, name]);
  });
  return Buffer.concat([head, question, ...answers]);
}
