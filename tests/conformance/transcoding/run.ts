/**
 * Routes paths by every HTTP rule of google-proto-files, each rule alone, as the module does and as
 * grpc-gateway does; then each service with all its rules. `deno task conformance:transcoding`.
 * `SEED` chooses other paths, `PATHS` how many a rule gets.
 *
 * @module
 */
// deno-lint-ignore-file no-console
import { rulesOf } from "../../../grpc/transcoding/http_rule.ts";
import { Bindings, bindingsOf } from "../../../grpc/transcoding/bindings.ts";
import { inPeers } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";
import {
  GATEWAY,
  Gateway,
  GATEWAY_REMEDY,
  reasonOf,
  REASONS,
  type Request,
  routeHere,
  type Rule,
} from "../../grpc/transcoding/gateway.ts";
import { pathFor } from "../../grpc/transcoding/paths.ts";
import { annotatedServices } from "./rules.ts";

const root = inPeers("node_modules/google-proto-files");
if (root === undefined || GATEWAY === undefined) {
  throw new Error(`Install google-proto-files in $SLUICE_PEERS, and: ${GATEWAY_REMEDY}`);
}
const seed = Number(Deno.env.get("SEED") ?? 1);
const paths = Number(Deno.env.get("PATHS") ?? 40);
const random = new Random(seed);
const services = await annotatedServices(root);
await using gateway = new Gateway();

const reasons = new Map<string, { count: number; example: string }>();
const unexplained: string[] = [];
const count = { rules: 0, requests: 0, matches: 0, together: 0, otherRule: 0 };

/** Notes how two outcomes of a request differ. */
function note(key: string | null, about: unknown): void {
  if (key === "") return;
  if (key === null) return void unexplained.push(JSON.stringify(about));
  const known = reasons.get(key);
  if (known === undefined) reasons.set(key, { count: 1, example: JSON.stringify(about) });
  else known.count++;
}

const ambiguous: string[] = [];
for (const service of services) {
  bindingsOf(service);
  try {
    new Bindings(Infinity).check(service);
  } catch (error) {
    ambiguous.push((error as Error).message);
  }
  const rules: Rule[] = service.methods.flatMap((method) => rulesOf(method));
  const all: Request[] = [];
  for (const rule of rules) {
    const requests = Array.from({ length: paths }, () => ({
      verb: random.below(20) === 0 ? "PUT" : rule.verb,
      path: pathFor(rule.template, random),
    }));
    const here = routeHere([rule], requests);
    const { faults, outcomes } = await gateway.route([rule], requests);
    if (faults[0] !== "") unexplained.push(`grpc-gateway refuses ${rule.template}: ${faults[0]}`);
    requests.forEach((request, i) => {
      note(reasonOf(request, rule.template, here[i]!, outcomes[i]!), {
        rule,
        request,
        here: here[i],
        there: outcomes[i],
      });
      if (here[i]!.rule === 0) count.matches++;
    });
    all.push(...requests.slice(0, 4));
    count.rules++;
    count.requests += requests.length;
  }
  // Together: the same requests are served, if not always by the same rule.
  const here = routeHere(rules, all);
  const { outcomes } = await gateway.route(rules, all);
  all.forEach((request, i) => {
    const [a, b] = [here[i]!, outcomes[i]!];
    if (a.rule >= 0 && b.rule >= 0 && a.rule !== b.rule) return count.otherRule++;
    const template = rules[Math.max(a.rule, b.rule)]?.template ?? "";
    note(reasonOf(request, template, a, b), {
      service: service.typeName,
      request,
      here: a,
      there: b,
    });
    count.together++;
  });
}

console.log(`${services.length} services, ${count.rules} rules, seed ${seed}`);
console.log(`${count.requests} requests to one rule each, ${count.matches} of which fit`);
console.log(
  `${
    count.together + count.otherRule
  } requests to services with all their rules: ${count.otherRule} go to another rule than grpc-gateway's, which takes the last that fits; here the most specific does`,
);
for (const [key, { count, example }] of reasons) {
  console.log(`${count} differ: ${REASONS[key as keyof typeof REASONS]}\n  such as ${example}`);
}
console.log(`${ambiguous.length} services have rules of which one could never be reached:`);
for (const message of ambiguous) console.log(`  ${message}`);
console.log(`${unexplained.length} unexplained`);
for (const one of unexplained.slice(0, 20)) console.log(`  ${one}`);
if (unexplained.length > 0) Deno.exitCode = 1;
