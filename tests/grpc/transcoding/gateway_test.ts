import { assert, assertEquals } from "@std/assert";
import { parseTemplate } from "../../../grpc/transcoding/template.ts";
import { peerTest } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";
import { GATEWAY, Gateway, GATEWAY_REMEDY, reasonOf, routeHere } from "./gateway.ts";
import { pathFor } from "./paths.ts";

const NEEDS = [["grpc-gateway's program", GATEWAY, GATEWAY_REMEDY]] as const;

/** Every kind of template that google's own APIs have, and some they have not. */
const TEMPLATES = [
  "/",
  "/v1/shelves",
  "/v1/shelves:list",
  "/v1/{shelf}",
  "/v1/{shelf}:cancel",
  "/v1/{shelf=*}/books/{book.name}",
  "/v1/{name=shelves/*}",
  "/v1/{name=shelves/*/books/*}",
  "/v1/{name=shelves/*/books/*}:publish",
  "/v1/{name=**}",
  "/v1/{name=operations/**}:cancel",
  "/{name=**}",
  "/v1/**",
  "/v1/*/things/**",
  "/v1/{name=**}/config",
  "/v1/{name=files/**}/versions/{version}:restore",
  "/v1/a%20b/{x}",
  "/v1beta1/{parent=projects/*/locations/*}/catalogs/*/{rest=**}",
  "/v1/{a}/{b}/{c}:a:b",
  "/compute/v1/projects/{project}/zones/{zone}/instances/{instance}/setLabels",
];

/** A template at random. */
function templateOf(random: Random): string {
  const literals = ["v1", "a", "books", "x-y", "a.b", "a:b"];
  let many = false;
  const part = (): string => {
    if (!many && random.below(8) === 0) {
      many = true;
      return "**";
    }
    return random.below(3) === 0 ? "*" : random.pick(literals);
  };
  const parts = Array.from({ length: 1 + random.below(4) }, (_, i) => {
    if (random.below(2) === 0) return part();
    if (random.below(2) === 0) return `{f${i}}`;
    const inner = Array.from({ length: 1 + random.below(3) }, part);
    return `{f${i}=${inner.join("/")}}`;
  });
  return `/${parts.join("/")}${random.below(3) === 0 ? ":cancel" : ""}`;
}

peerTest("each template takes the paths that grpc-gateway's takes, with the same values", {
  needs: NEEDS,
}, async () => {
  await using gateway = new Gateway();
  const random = new Random(13);
  const templates = [...TEMPLATES, ...Array.from({ length: 300 }, () => templateOf(random))];
  let matches = 0;
  for (const template of templates) {
    const rules = [{ verb: "GET", template }];
    const requests = Array.from({ length: 100 }, () => ({
      verb: "GET",
      path: pathFor(template, random),
    }));
    const { faults, outcomes } = await gateway.route(rules, requests);
    assertEquals(faults, [""], template);
    routeHere(rules, requests).forEach((here, i) => {
      const there = outcomes[i]!;
      const about = JSON.stringify({ template, request: requests[i], here, there });
      assert(reasonOf(requests[i]!, template, here, there) !== null, about);
      if (here.rule >= 0 && there.rule >= 0) matches++;
    });
  }
  assert(matches > templates.length * 20, String(matches));
});

peerTest("templates that grpc-gateway refuses are refused here too", { needs: NEEDS }, async () => {
  await using gateway = new Gateway();
  const bad = [
    "",
    "v1",
    "/v1/",
    "/v1/{",
    "/v1/{}",
    "/v1/{a",
    "/v1/a}",
    "/v1/{1a}",
    "/v1/{a=}",
    "/v1/{a=b/}",
    "/v1/{a..b}",
    "/v1/{a={b}}",
    "/v1/{a}b",
    "/v1/a{b}",
    "/v1/a b",
    "/v1/é",
    "/v1/%zz",
    "/v1/%4",
    "/**/{a=**}",
    "/v1/{a=**}/**",
    "/v1/a?b",
    "/v1/a#b",
  ];
  for (const template of bad) {
    const { faults } = await gateway.route([{ verb: "GET", template }], []);
    assert(faults[0] !== "", `grpc-gateway takes ${template}`);
    let fault: unknown;
    try {
      parseTemplate(template);
    } catch (error) {
      fault = error;
    }
    assert(fault instanceof SyntaxError, template);
  }
});
