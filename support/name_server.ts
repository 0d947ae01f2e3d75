/**
 * A name server for tests: answers SRV questions, and those for addresses, over UDP from a table.
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

/** Answers of each name: SRV records, or addresses. */
export type Records = Readonly<Record<string, readonly (SrvRecord | string)[]>>;

const SRV = 33;
const A = 1;
const AAAA = 28;
const NAME_ERROR = 3;

/** A name server on 127.0.0.1. Dispose of it with `await using`. */
export class NameServer implements AsyncDisposable {
  /** Its address with its port. */
  readonly address: string;
  /** Names that were asked for. */
  readonly asked: string[] = [];
  readonly #socket: dgram.Socket;

  private constructor(socket: dgram.Socket, records: Records) {
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
  static async start(records: Records): Promise<NameServer> {
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
function answer(
  query: Buffer,
  question: Buffer,
  given: readonly (SrvRecord | string)[] | undefined,
): Buffer {
  const type = question.readUInt16BE(question.length - 4);
  const records = given?.filter((one) => typeOf(one) === type);
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  // A response, recursion desired and available.
  head.writeUInt16BE(0x8180 | (records === undefined ? NAME_ERROR : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records?.length ?? 0, 6);
  const answers = (records ?? []).map((one) => {
    const data = typeof one === "string" ? addressData(one) : srvData(one);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(60, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, question, ...answers]);
}

function typeOf(one: SrvRecord | string): number {
  if (typeof one !== "string") return SRV;
  return one.includes(":") ? AAAA : A;
}

/** RFC 1035 §3.4.1, RFC 3596 §2.2; IPv6 addresses are written out. */
function addressData(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const data = Buffer.alloc(16);
  address.split(":").forEach((group, i) => data.writeUInt16BE(parseInt(group || "0", 16), i * 2));
  return data;
}

function srvData({ priority, weight, port, target }: SrvRecord): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(priority, 0);
  head.writeUInt16BE(weight, 2);
  head.writeUInt16BE(port, 4);
  const labels = target.split(".").map((label) =>
    Buffer.from([label.length, ...Buffer.from(label)])
  );
  return Buffer.concat([head, ...labels, Buffer.from([0])]);
}
