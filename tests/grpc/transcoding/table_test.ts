import { assert, assertEquals } from "@std/assert";
import { TemplateTable } from "../../../grpc/transcoding/table.ts";
import { parseTemplate } from "../../../grpc/transcoding/template.ts";
import { decodeSegment, decodeSegments, isWellEncoded } from "../../../grpc/transcoding/percent.ts";
import { streamForm } from "../../../grpc/transcoding/accept.ts";

function tableOf(...templates: string[]): TemplateTable<string> {
  const table = new TemplateTable<string>();
  for (const template of templates) table.set("GET", parseTemplate(template), template);
  return table;
}

function found(table: TemplateTable<string>, path: string): string | null {
  const match = table.find("GET", path);
  return match?.kind === "match" ? match.value : null;
}

Deno.test("the most specific template has a path, whatever order they came in", () => {
  const templates = [
    "/v1/{a=**}",
    "/v1/{a=**}:verb",
    "/v1/{a=**}/end",
    "/v1/{a=**}/far/end",
    "/v1/{a}/b",
    "/v1/a/{b}",
    "/v1/a/b",
    "/v1/*/*/c",
    "/v1/{a}:verb",
  ];
  for (const order of [templates, templates.toReversed()]) {
    const table = tableOf(...order);
    for (
      const [path, template] of [
        ["/v1/a/b", "/v1/a/b"],
        ["/v1/a/c", "/v1/a/{b}"],
        ["/v1/x/b", "/v1/{a}/b"],
        ["/v1/x/c", "/v1/{a=**}"],
        ["/v1/a/b/c", "/v1/*/*/c"],
        ["/v1/a/b:verb", "/v1/{a=**}:verb"],
        ["/v1/a:verb", "/v1/{a}:verb"],
        ["/v1/a/b:other", "/v1/a/{b}"],
        ["/v1/x/y/end", "/v1/{a=**}/end"],
        ["/v1/x/far/end", "/v1/{a=**}/far/end"],
        ["/v1", "/v1/{a=**}"],
        ["/v1/", "/v1/{a=**}"],
        ["/v1/a/b:", "/v1/a/{b}"],
        ["/v2", null],
        ["*", null],
        ["", null],
      ] as const
    ) assertEquals(found(table, path), template, path);
  }
});

Deno.test("methods that a path has are told when it has not the one that is asked for", () => {
  const table = tableOf("/a/{b}");
  table.set("POST", parseTemplate("/a/b"), "post");
  table.set("*", parseTemplate("/any"), "any");
  assertEquals(table.find("PUT", "/a/b"), { kind: "other-methods", methods: ["GET", "POST"] });
  assertEquals(table.find("PUT", "/a/c"), { kind: "other-methods", methods: ["GET"] });
  assertEquals(found(table, "/a/b"), "/a/{b}");
  assertEquals(found(table, "/any"), "any");
});

/** Milliseconds that many lookups take, the best of some tries. */
function timeOf(table: TemplateTable<string>, path: string, times: number): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    for (let i = 0; i < times; i++) table.find("GET", path);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

Deno.test("a lookup costs no more among twenty thousand templates than among ten", () => {
  const templates = Array.from(
    { length: 20_000 },
    (_, i) => `/v1/{p=projects/*/things${i}/*}:do${i % 7}`,
  );
  const path = "/v1/projects/p/things5/t:do5";
  const few = timeOf(tableOf(...templates.slice(0, 10)), path, 2000);
  const many = timeOf(tableOf(...templates), path, 2000);
  assert(many < few * 20, `${many} ms against ${few} ms`);
});

Deno.test("hostile paths cost their length", () => {
  const literals = Array.from(
    { length: 10 },
    (_, i) => `/${"a/".repeat(i)}{x=**}/z${"/a".repeat(i)}`,
  );
  const mixed = Array.from(
    { length: 1024 },
    (_, bits) =>
      "/" + Array.from({ length: 10 }, (_, i) => bits >> i & 1 ? "a" : "*").join("/") + "/end",
  );
  const table = tableOf(...literals, ...mixed, "/v/{x}:a:b:c");
  const paths = (n: number) => [
    "/a".repeat(n),
    "/".repeat(n),
    `/v/${":a".repeat(n)}`,
    `/v/${":".repeat(n)}`,
    `/v/${"%41".repeat(n)}`,
    `/v/${"%FF".repeat(n)}`,
    `/v/${"%".repeat(n)}`,
    `/a${"/a".repeat(9)}/${"x".repeat(n)}`,
  ];
  const long = paths(16_000);
  paths(2000).forEach((path, i) => {
    const short = timeOf(table, path, 20);
    const ratio = timeOf(table, long[i]!, 20) / short;
    // Eight times the length: the square would be 64.
    assert(ratio < 40, `${path.slice(0, 20)}: ${ratio}`);
  });
});

Deno.test("segments are decoded whole, paths of several keep their encoded slashes", () => {
  assertEquals(decodeSegment("a%2Fb%20c"), "a/b c");
  assertEquals(decodeSegments("a%2Fb/%2f%20c%252F"), "a%2Fb/%2f c%2F");
  assertEquals(["a", "%41", "%", "%4", "%FF", "%C3%A9", "%C3/%A9"].map(isWellEncoded), [
    true,
    true,
    false,
    false,
    false,
    true,
    false,
  ]);
});

Deno.test("events are for those who name them and want nothing else more", () => {
  const forms = [
    undefined,
    "*/*",
    "text/event-stream",
    "text/event-stream;q=0",
    "TEXT/Event-Stream",
    "application/json, text/event-stream;q=0.5",
    "application/x-ndjson;q=0.1, text/event-stream",
  ];
  assertEquals(forms.map(streamForm), [
    "lines",
    "lines",
    "events",
    "lines",
    "events",
    "lines",
    "events",
  ]);
});
