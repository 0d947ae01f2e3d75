/**
 * Explains the transport's errors to users of a client, and tells what to change: the transport
 * knows sockets, not options.
 *
 * @module
 */
import { code, DialError } from "../grpc/mod.ts";
import type { ErrorReason } from "./server_errors.ts";

/** Options of a client that errors are explained by. */
export interface Situation {
  readonly endpoints: readonly string[];
  readonly tls: boolean;
  /** Whether there is a client certificate. */
  readonly certificate: boolean;
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly maxReceiveSize: number;
}

/** The meaning of an error. */
interface Explanation {
  readonly reason: ErrorReason;
  /** Advice: the option or address to change. */
  readonly advice: string;
  /** Whether the next attempt would end the same way. */
  readonly lasting: boolean;
}

/** Alerts of TLS by which a server refuses a client's certificate, or that there is none. */
const CERTIFICATE_ALERT =
  /received fatal alert: (?:BadCertificate|CertificateRequired|UnknownCA|UnsupportedCertificate|CertificateExpired|CertificateRevoked|CertificateUnknown|AccessDenied)/i;

/** Why no answer came, if it can be told from the error. */
export function explain(error: Error, situation: Situation): Explanation | undefined {
  const { tls, certificate, connectTimeout, maxReceiveSize } = situation;
  const chain = chainOf(error);
  const text = chain.map(({ message }) => message).join("\n");
  const dial = chain.find((one) => one instanceof DialError);
  if (/received message larger than max/.test(text) && !/grpc: received/.test(text)) {
    return {
      reason: "RESPONSE_TOO_LARGE",
      advice: `the response is larger than maxReceiveSize, ${maxReceiveSize} bytes: raise it, or ` +
        "read less at once by limit or scan()",
      lasting: true,
    };
  }
  if (CERTIFICATE_ALERT.test(text)) {
    return {
      reason: "CERTIFICATE_REFUSED",
      advice: certificate
        ? "the server does not accept the certificate in tls.cert"
        : "the server asks for a client certificate: give tls: { cert, key }",
      lasting: true,
    };
  }
  if (dial?.phase === "dns") {
    return {
      reason: "HOST_NOT_FOUND",
      advice: "check the name in endpoints",
      // The name service itself may be at fault.
      lasting: !/temporary|try again|EAI_AGAIN|ESERVFAIL|timed? ?out/i.test(text),
    };
  }
  if (dial?.phase === "tls") {
    const certificateFault = /peer certificate|certificate/i.test(text);
    return {
      reason: certificateFault ? "CERTIFICATE_INVALID" : "TLS_FAILED",
      advice: tlsAdvice(text),
      lasting: certificateFault,
    };
  }
  if (chain.some(({ name, phase }) => name === "TimeoutError" && PHASES.has(phase ?? ""))) {
    return {
      reason: "CONNECT_TIMEOUT",
      advice: `nothing came within connectTimeout, ${connectTimeout} ms`,
      lasting: false,
    };
  }
  if (/^Cannot connect to .*(?:closed by the peer|does not speak HTTP\/2)/m.test(text) && !tls) {
    return {
      reason: "CONNECTION_REFUSED",
      advice: "if it serves TLS, say https:// or tls: true",
      lasting: false,
    };
  }
  if (dial !== undefined) {
    return { reason: "CONNECTION_REFUSED", advice: "check that etcd serves there", lasting: false };
  }
  return undefined;
}

/** The message of an error that came without an answer: which endpoint, what, and what to change. */
export function explained(
  message: string,
  errorCode: number,
  explanation: Explanation | undefined,
  { endpoints }: Situation,
): string {
  if (explanation === undefined && errorCode !== code.DEADLINE_EXCEEDED) return message;
  const named = endpoints.some((endpoint) => message.includes(endpoint.replace(/^\w+:\/\//, "")));
  const where = named ? "" : ` (${listOf(endpoints)})`;
  // The option is called otherwise here.
  const said = message.replace(
    /Timed out in phase "prefaceTimeout": the limit is \d+ ms/,
    "it accepted and said nothing",
  );
  return `${said}${where}${explanation === undefined ? "" : `: ${explanation.advice}`}`;
}

const PHASES: ReadonlySet<string> = new Set(["connectTimeout", "prefaceTimeout"]);

function tlsAdvice(text: string): string {
  if (/UnknownIssuer|self.signed|unable to (?:get|verify)/i.test(text)) {
    return "give its authority in tls: { caCerts }";
  }
  if (/not valid for name|NotValidForName|altnames/i.test(text)) {
    return "give the name it is for in tls: { serverName }";
  }
  if (/expired|NotValidYet/i.test(text)) return "the server's certificate is out of date";
  if (/end of file|EOF|InvalidContentType|corrupt message|wrong version/i.test(text)) {
    return "if it serves without TLS, say http:// or tls: false";
  }
  return "check tls; if it serves without TLS, say http:// or tls: false";
}

/** Endpoints a message names at most. */
const MAX_NAMED = 3;

function listOf(endpoints: readonly string[]): string {
  const named = endpoints.slice(0, MAX_NAMED).join(", ");
  const more = endpoints.length - MAX_NAMED;
  return `${endpoints.length === 1 ? "endpoint" : "endpoints"} ${named}${
    more > 0 ? ` and ${more} more` : ""
  }`;
}

/** Causes looked at: what a peer makes of errors has an end. */
const MAX_CAUSES = 8;

function chainOf(error: Error): (Error & { readonly phase?: string })[] {
  const chain: Error[] = [];
  for (let one: unknown = error; one instanceof Error && chain.length < MAX_CAUSES;) {
    chain.push(one);
    one = one.cause;
  }
  return chain;
}
