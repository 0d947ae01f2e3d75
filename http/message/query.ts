/**
 * Query strings as plain objects.
 *
 * @module
 */

/** Parameters of a query. Keys and values are decoded; of a repeated key the first value counts. */
export type Query = { readonly [name: string]: string };

/** Parameters read out of one query. What follows is left alone. */
const MAX_QUERY_PARAMETERS = 1000;

const Parameters = function () {} as unknown as new () => { [name: string]: string };
Parameters.prototype = Object.create(null);

/** The empty query, shared. */
const NO_QUERY: Query = Object.freeze(new Parameters());

/** Where the query of a request target begins, past its `?`, or -1. */
function queryStart(target: string): number {
  return target.indexOf("?") + 1 || -1;
}

/**
 * Reads `a=1&b=two+words`, as the URL standard reads form data. Text that is not well encoded is
 * kept as it came. The object has no prototype and is frozen.
 */
export function parseQuery(target: string): Query {
  const start = queryStart(target);
  if (start < 0 || start === target.length) return NO_QUERY;
  const query = new Parameters();
  let count = 0;
  let at = start;
  while (at < target.length && count < MAX_QUERY_PARAMETERS) {
    let end = target.indexOf("&", at);
    if (end < 0) end = target.length;
    if (end > at) {
      let equals = target.indexOf("=", at);
      if (equals < 0 || equals > end) equals = end;
      const name = decode(target.slice(at, equals));
      if (query[name] === undefined) {
        query[name] = equals < end ? decode(target.slice(equals + 1, end)) : "";
        count++;
      }
    }
    at = end + 1;
  }
  return Object.freeze(query);
}

function decode(text: string): string {
  if (text.includes("+")) text = text.replaceAll("+", " ");
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      const bytes = Uint8Array.from(
        run.slice(1).split("%"),
        (digits) => parseInt(digits, 16),
      );
      return new TextDecoder().decode(bytes);
    });
  }
}
