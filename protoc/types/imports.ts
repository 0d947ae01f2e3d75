/** Longest line of imports, line break included; longer ones get a line for each name. */
const WIDTH = 101;

/** An import of names, by what they are called where they come from. */
export function writeImport(
  isType: boolean,
  path: string,
  names: ReadonlyMap<string, string>,
): string {
  const parts = [...names].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([exported, local]) => exported === local ? local : `${exported} as ${local}`);
  const head = isType ? "import type" : "import";
  const from = `from ${JSON.stringify(path)};\n`;
  const line = `${head} { ${parts.join(", ")} } ${from}`;
  if (line.length <= WIDTH) return line;
  return `${head} {\n${parts.map((part) => `  ${part},\n`).join("")}} ${from}`;
}
