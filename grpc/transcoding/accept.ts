/**
 * The choice of a form by a client's `accept` (RFC 9110 §12.5.1).
 *
 * @module
 */

/** The codings of an `accept-encoding`, but those it refuses. */
export function acceptedCodings(accept: string | null): readonly string[] {
  return (accept ?? "").split(",", MAX_CODINGS)
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && !/;\s*q=0(?:\.0*)?$/.test(coding))
    .map((coding) => coding.replace(/\s*;.*$/, ""));
}

/** How a stream of responses is sent. */
type StreamForm = "lines" | "events";

/** Codings one `accept-encoding` is read for. */
const MAX_CODINGS = 16;

const EVENTS = "text/event-stream";
const LINES: ReadonlySet<string> = new Set([
  "application/x-ndjson",
  "application/ndjson",
  "application/json",
]);

/** Lines of JSON, unless server-sent events are named and nothing else is wanted more. */
export function streamForm(accept: string | undefined): StreamForm {
  let events = 0;
  let lines = 0;
  for (const range of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const q = parameters.find((part) => part.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2)) || 0;
    if (type === EVENTS) events = Math.max(events, weight);
    else if (LINES.has(type)) lines = Math.max(lines, weight);
  }
  return events > 0 && events >= lines ? "events" : "lines";
}
