/**
 * The time of an answer.
 *
 * @module
 */

let text = "";
let until = 0;

/** Now as RFC 9110 §5.6.7 writes it. The text is made once a second. */
export function httpDate(): string {
  const now = Date.now();
  if (now >= until || now < until - 1000) {
    until = now - now % 1000 + 1000;
    text = new Date(now).toUTCString();
  }
  return text;
}
