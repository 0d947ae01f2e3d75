import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { peerTest } from "../../../support/peers.ts";
import { nameOf, NEEDS, runSuite, SUITES } from "./suite.ts";

for (const suite of SUITES) {
  peerTest(`connectrpc/conformance passes: ${nameOf(suite)}`, { needs: NEEDS }, async () => {
    const { cases, failures, passed } = await runSuite(suite);
    assertEquals(failures, []);
    assertEquals(passed, cases);
    assertGreaterOrEqual(cases, suite.leastCases);
  });
}
