/**
 * Percent-encoding in paths (RFC 3986 §2.1).
 *
 * @module
 */

const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;
const SLASH = /(%2f)/i;

/**
 * The one spelling of segments that are equal: encoded characters as themselves, but for what would
 * then be a delimiter, and for what is no text.
 */
export function canonical(segment: string): string {
  if (!segment.includes("%")) return segment;
  return segment.replace(ESCAPES, (run) => {
    try {
      return decodeURIComponent(run).replace(/[/%:]/g, encodeURIComponent);
    } catch {
      return run.toUpperCase();
    }
  });
}

/** Whether all of a path is percent-encoded UTF-8. */
export function isWellEncoded(path: string): boolean {
  if (!path.includes("%")) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The text of a single segment of a path that is well encoded. */
export function decodeSegment(segment: string): string {
  return segment.includes("%") ? decodeURIComponent(segment) : segment;
}

/**
 * The text of several segments of a path that is well encoded. `%2F` is left as it is: it is no slash
 * between segments.
 */
export function decodeSegments(segments: string): string {
  if (!segments.includes("%")) return segments;
  return segments.split(SLASH).map((part, i) => i % 2 === 0 ? decodeSegment(part) : part).join("");
}
