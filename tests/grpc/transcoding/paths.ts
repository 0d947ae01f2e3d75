/** Seeded paths for a template: those that fit it, and those that nearly do. */
import { parseTemplate } from "../../../grpc/transcoding/template.ts";
import type { Random } from "../../../support/random.ts";

const TEXTS = [
  "a",
  "shelf-1",
  "projects",
  "-",
  "",
  ".",
  "..",
  "~._-",
  "a+b",
  "a;b=c",
  "$&'(),",
  "a@b",
  "a:b",
  ":a",
  "a:",
  "::",
  "a%20b",
  "%41",
  "%C3%A9",
  "%E2%82%AC",
  "%F0%9F%98%80",
  "a%2Fb",
  "a%2fb%2F",
  "%3A",
  "a%3Acancel",
  "%25",
  "%2525",
  "%252F",
  "%3F",
  "%23",
  "%00",
  "%7Bname%7D",
  "**",
  "*",
];

/** Texts that are not well encoded. */
const BROKEN = ["%", "%4", "%zz", "a%", "%FF", "%C3", "%C3%28", "%ED%A0%80"];

function text(random: Random): string {
  return random.below(12) === 0 ? random.pick(BROKEN) : random.pick(TEXTS);
}

function fitting(template: string, random: Random): { segments: string[]; verb: string } {
  const { segments, verb } = parseTemplate(template);
  return {
    segments: segments.flatMap((segment) =>
      segment.kind === "literal"
        ? [encodeURI(segment.text).replaceAll("%25", "%")]
        : segment.kind === "one"
        ? [text(random)]
        : Array.from({ length: random.below(4) }, () => text(random))
    ),
    verb,
  };
}

/** One letter percent-encoded, as nobody needs to. */
function encoded(part: string, random: Random): string {
  if (part === "" || part.includes("%")) return part;
  const at = random.below(part.length);
  const hex = part.charCodeAt(at).toString(16);
  return `${part.slice(0, at)}%${random.below(2) === 0 ? hex : hex.toUpperCase()}${
    part.slice(at + 1)
  }`;
}

/** Changes that make a path another one, or the same one in other words. */
const CHANGES: readonly ((segments: string[], random: Random) => void)[] = [
  (segments, random) => segments.splice(random.below(segments.length + 1), 0, text(random)),
  (segments, random) => segments.splice(random.below(segments.length), 1),
  (segments) => segments.push(""),
  (segments) => segments.unshift(""),
  (segments, random) => {
    const at = random.below(segments.length);
    segments[at] = `${segments[at] ?? ""}x`;
  },
  (segments, random) => {
    const at = random.below(segments.length);
    segments[at] = (segments[at] ?? "").toUpperCase();
  },
  (segments, random) => {
    const at = random.below(segments.length);
    segments[at] = encoded(segments[at] ?? "", random);
  },
  (segments, random) => segments.splice(random.below(segments.length), 1, text(random)),
];

const VERBS = ["", ":cancel", ":", ":a:b", "%3Acancel", ":can%63el"];

/** A path for the template: about half of them fit. */
export function pathFor(template: string, random: Random): string {
  const { segments, verb } = fitting(template, random);
  for (let n = Math.max(0, random.below(4) - 1); n > 0; n--) random.pick(CHANGES)(segments, random);
  const suffix = random.below(5) === 0 ? random.pick(VERBS) : verb === "" ? "" : `:${verb}`;
  return `/${segments.join("/")}${suffix}`;
}
