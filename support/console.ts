/** What is printed meanwhile, a line a call of `console.error`, instead of being shown. */
export async function printed(run: () => unknown): Promise<string[]> {
  const lines: string[] = [];
  const { error, log, warn } = console;
  const take = (...parts: unknown[]) => {
    lines.push(parts.map((part) => typeof part === "string" ? part : Deno.inspect(part)).join(" "));
  };
  Object.assign(console, { error: take, log: take, warn: take });
  try {
    await run();
  } finally {
    Object.assign(console, { error, log, warn });
  }
  return lines;
}
