import { Code, ConnectError } from "@connectrpc/connect";
import type { Operation } from "./operation.ts";
import { writeProtoset } from "./protoset.ts";

/** Prints the services there are, or the methods of one. */
export async function list(
  { setup: { source }, symbol, given, world }: Operation,
): Promise<number> {
  if (symbol === undefined) {
    const names = [...new Set(await source.services())].sort();
    await world.print(names.length === 0 ? "(No services)\n" : lines(names));
    await writeProtoset(source, names, given, world);
    return 0;
  }
  const desc = await source.find(symbol);
  if (desc.kind !== "service") {
    throw new ConnectError(`Service not found: ${symbol} is ${desc}`, Code.NotFound);
  }
  const names = desc.methods.map(({ name }) => `${desc.typeName}.${name}`).sort();
  await world.print(names.length === 0 ? "(No methods)\n" : lines(names));
  await writeProtoset(source, [symbol], given, world);
  return 0;
}

function lines(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join("");
}
