/** Runs what it is told, line by line. */
export function loop(
  once: (url: string) => Promise<number>,
  input: AsyncIterable<string>,
  print: (line: string) => void,
): Promise<void>;
