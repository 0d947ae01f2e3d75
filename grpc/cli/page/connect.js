// Connect's protocol with plain fetch: https://connectrpc.com/docs/protocol

/** Bytes of a message that are taken. */
const MAX_MESSAGE = 1 << 20;

const END = 2;

/** A call that failed, with Connect's code. */
export class CallError extends Error {
  constructor({ code = "unknown", message = "" }) {
    super(message === "" ? code : `${code}: ${message}`);
    this.name = "CallError";
  }
}

/** One message out, one back. */
export async function callUnary(path, message, signal, metadata = {}) {
  const response = await fetch(path, {
    method: "POST",
    headers: { ...metadata, "content-type": "application/json", "connect-protocol-version": "1" },
    body: JSON.stringify(message),
    signal,
  });
  const answer = await response.json().catch(() => ({ message: `HTTP status ${response.status}` }));
  if (!response.ok) throw new CallError(answer);
  return answer;
}

/** Any number of messages out, then any number back, each as it comes. */
export async function* callStream(path, messages, signal, metadata = {}) {
  const response = await fetch(path, {
    method: "POST",
    headers: {
      ...metadata,
      "content-type": "application/connect+json",
      "connect-protocol-version": "1",
    },
    body: new Blob(messages.map(envelope)),
    signal,
  });
  if (!response.ok) throw new CallError({ message: `HTTP status ${response.status}` });
  for await (const { flags, text } of envelopes(response.body)) {
    const message = JSON.parse(text);
    if ((flags & END) === 0) {
      yield message;
      continue;
    }
    if (message.error) throw new CallError(message.error);
    return;
  }
  throw new CallError({ code: "unavailable", message: "the answer broke off" });
}

function envelope(message) {
  const bytes = new TextEncoder().encode(JSON.stringify(message));
  const framed = new Uint8Array(5 + bytes.length);
  new DataView(framed.buffer).setUint32(1, bytes.length);
  framed.set(bytes, 5);
  return framed;
}

/** Cuts a body into envelopes: a byte of flags, four of length, the message. */
async function* envelopes(body) {
  const reader = body.getReader();
  let held = new Uint8Array(0);
  try {
    while (true) {
      while (held.length >= 5) {
        const length = new DataView(held.buffer, held.byteOffset).getUint32(1);
        if (length > MAX_MESSAGE) throw new CallError({ message: "the answer is too large" });
        if (held.length < 5 + length) break;
        const text = new TextDecoder().decode(held.subarray(5, 5 + length));
        yield { flags: held[0], text };
        held = held.subarray(5 + length);
      }
      const { done, value } = await reader.read();
      if (done) return;
      const joined = new Uint8Array(held.length + value.length);
      joined.set(held);
      joined.set(value, held.length);
      held = joined;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
