/**
 * The opening handshake of a server (RFC 6455 §4.2): what the client asked for, checked, and the
 * fields of the answer.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type HeaderObject, isToken } from "../message/headers.ts";
import { agreeOnDeflate, type Deflate } from "./deflate.ts";
import type { WebSocketSettings } from "./options.ts";

/** The part of a request the handshake needs. */
export interface HandshakeRequest {
  readonly method: string;
  /** Of HTTP/1: 1 for 1.1. */
  readonly minor: number;
  readonly header: HeaderObject;
}

/** The terms both sides agreed on. */
export interface Handshake {
  /** Fields of the answer, flat. */
  readonly fields: string[];
  /** Subprotocol, or "". */
  readonly protocol: string;
  /** Extension, or null. */
  readonly deflate: Deflate | null;
}

/** Fields that tell a client what it should have asked for. */
const WANTED = { upgrade: "websocket", "sec-websocket-version": "13" };

/** A request is no handshake, or one that cannot be answered. It says how to refuse it. */
export class HandshakeError extends TypeError {
  /** Status of the answer. */
  readonly status: number;
  /** Fields of the answer. */
  readonly fields: Readonly<Record<string, string>> = WANTED;

  /** `status` is 400 or 426. */
  constructor(message: string, status: number) {
    super(`Cannot upgrade as ${message}`);
    this.status = status;
  }
}

/** RFC 6455 §1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Base64 of 16 bytes. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/**
 * Checks a handshake and answers it.
 *
 * @throws {HandshakeError} If it is none.
 */
export function agree(request: HandshakeRequest, settings: WebSocketSettings): Handshake {
  const { method, header } = request;
  if (
    method !== "GET" || request.minor < 1 || !lists(header["upgrade"], "websocket") ||
    !lists(header["connection"], "upgrade")
  ) {
    throw new HandshakeError(
      "the request is no WebSocket handshake (RFC 6455 §4.1)",
      426,
    );
  }
  if (header["sec-websocket-version"] !== "13") {
    throw new HandshakeError("sec-websocket-version must be 13 (RFC 6455 §4.2.1)", 426);
  }
  const key = header["sec-websocket-key"];
  if (key === undefined || !KEY.test(key)) {
    throw new HandshakeError("sec-websocket-key must be 16 bytes in base64 (RFC 6455 §4.1)", 400);
  }
  const offered = offeredProtocols(header["sec-websocket-protocol"]);
  const protocol = settings.protocols.find((name) => offered.includes(name)) ?? "";
  const deflate = settings.compress ? agreeOnDeflate(header["sec-websocket-extensions"]) : null;
  const accept = createHash("sha1").update(key + GUID).digest("base64");
  const fields = ["upgrade", "websocket", "connection", "Upgrade", "sec-websocket-accept", accept];
  if (protocol !== "") fields.push("sec-websocket-protocol", protocol);
  if (deflate !== null) fields.push("sec-websocket-extensions", deflate.header);
  return { fields, protocol, deflate };
}

/** Whether a field that is a list of words has this one. */
function lists(value: string | undefined, word: string): boolean {
  return value !== undefined &&
    value.split(",").some((item) => item.trim().toLowerCase() === word);
}

function offeredProtocols(value: string | undefined): string[] {
  if (value === undefined) return [];
  const offered = value.split(",").map((name) => name.trim());
  if (!offered.every(isToken) || new Set(offered).size !== offered.length) {
    throw new HandshakeError(
      "sec-websocket-protocol must list different tokens (RFC 6455 §4.1)",
      400,
    );
  }
  return offered;
}
