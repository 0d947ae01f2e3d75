const escapes: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "?": "?",
  "'": "'",
  '"': '"',
};

/**
 * The value of a quoted string token, one character a byte. What is wrong with the token has been
 * reported by the lexer; any value will do then.
 */
export function unquote(token: string): string {
  const { length } = token;
  const end = length > 1 && token.charCodeAt(length - 1) === token.charCodeAt(0)
    ? length - 1
    : length;
  let at = token.indexOf("\\", 1);
  if (at < 0) return token.slice(1, end);
  let value = "";
  let from = 1;
  while (at >= 0 && at + 1 < end) {
    value += token.slice(from, at);
    const escape = readEscape(token, at + 1);
    value += escape.value;
    from = escape.next;
    at = token.indexOf("\\", from);
  }
  return value + token.slice(from, end);
}

function readEscape(token: string, at: number): { value: string; next: number } {
  const letter = token[at]!;
  if (letter >= "0" && letter <= "7") {
    const digits = /^[0-7]{1,3}/.exec(token.slice(at, at + 3))![0];
    return { value: String.fromCharCode(parseInt(digits, 8) & 0xff), next: at + digits.length };
  }
  if (letter === "x" || letter === "X") {
    const digits = /^[0-9a-fA-F]{0,2}/.exec(token.slice(at + 1, at + 3))![0];
    return {
      value: String.fromCharCode(parseInt(digits || "0", 16)),
      next: at + 1 + digits.length,
    };
  }
  if (letter === "u" || letter === "U") return readCodePoint(token, at);
  return { value: escapes[letter] ?? "?", next: at + 1 };
}

function readCodePoint(token: string, at: number): { value: string; next: number } {
  const length = token[at] === "u" ? 4 : 8;
  const digits = token.slice(at + 1, at + 1 + length);
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) {
    return { value: token[at]!, next: at + 1 };
  }
  let code = parseInt(digits, 16);
  let next = at + 1 + length;
  if (code >= 0xd800 && code < 0xdc00) {
    // Two escapes may spell one code point as a UTF-16 pair.
    const trail = /^\\u(d[c-f][0-9a-f]{2})$/i.exec(token.slice(next, next + 6));
    if (trail) {
      code = 0x10000 + ((code - 0xd800) << 10 | (parseInt(trail[1]!, 16) - 0xdc00));
      next += 6;
    }
  }
  return { value: utf8(code), next };
}

/** UTF-8 of a code point, one character a byte; a lone surrogate gives three, as in protoc. */
function utf8(code: number): string {
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | code >> 6, 0x80 | code & 0x3f);
  if (code < 0x10000) {
    return String.fromCharCode(0xe0 | code >> 12, 0x80 | code >> 6 & 0x3f, 0x80 | code & 0x3f);
  }
  if (code >= 0x110000) return `\\U${code.toString(16).padStart(8, "0")}`;
  return String.fromCharCode(
    0xf0 | code >> 18,
    0x80 | code >> 12 & 0x3f,
    0x80 | code >> 6 & 0x3f,
    0x80 | code & 0x3f,
  );
}

/** Bytes as a C string literal would spell them: the form of default values of `bytes` fields. */
export function escapeBytes(value: string): string {
  let out = "";
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code === 0x0a) out += "\\n";
    else if (code === 0x0d) out += "\\r";
    else if (code === 0x09) out += "\\t";
    else if (code === 0x22 || code === 0x27 || code === 0x5c) out += `\\${value[i]}`;
    else if (code < 0x20 || code > 0x7e) out += `\\${code.toString(8).padStart(3, "0")}`;
    else out += value[i];
  }
  return out;
}
