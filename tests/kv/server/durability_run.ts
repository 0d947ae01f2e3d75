// deno-lint-ignore-file no-console
/**
 * The long form of the durability tests: `deno task soak:store [KILLS] [SEED]`.
 *
 * @module
 */
import { Random } from "../../../support/random.ts";
import { killAgainAndAgain } from "./durability.ts";

const [kills = "500", seed = "1"] = Deno.args;
const path = await Deno.makeTempDir({ prefix: "store" });
const { writes, wrong } = await killAgainAndAgain(
  `${path}/data`,
  new Random(Number(seed)),
  Number(kills),
  1_500,
);
console.log(JSON.stringify({ kills: Number(kills), writes, wrong }));
await Deno.remove(path, { recursive: true });
Deno.exit(wrong.length === 0 && writes > 0 ? 0 : 1);
