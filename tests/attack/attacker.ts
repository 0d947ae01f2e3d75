// deno-lint-ignore-file no-console
/** Makes one attack in a process of its own: `attacker.ts NAME PORT UNITS`. */
import { ATTACKS } from "./attacks.ts";

const [name, port, units] = Deno.args;
const attack = ATTACKS.find((attack) => `${attack.protocol} ${attack.name}` === name);
if (attack === undefined) throw new Error(`no attack ${name}`);
await Promise.all(
  Array.from({ length: attack.connections ?? 1 }, () => attack.run(Number(port), Number(units))),
);
console.log("done");
