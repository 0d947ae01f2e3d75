/**
 * The picture of a folder in the comment of its `mod.ts`: a `text` fence with a floor a line, names two
 * spaces apart, prose behind three. Files stand there without `.ts`.
 *
 * @module
 */

/** The floors of a picture from the top down; none if the text has no picture. */
export function floorsOf(text: string): string[][] {
  const fence = /^ \* ```text\n((?: \* .*\n)*?) \* ```$/m.exec(text);
  if (fence === null) return [];
  return fence[1]!.trimEnd().split("\n").map((line) =>
    line.slice(" * ".length).split(/ {3,}/)[0]!.split("  ")
  );
}

/** What a picture gets wrong of the names and arrows there are. */
export function pictureFaults(
  floors: readonly (readonly string[])[],
  names: Iterable<string>,
  arrows: Iterable<readonly [string, string]>,
): string[] {
  const faults: string[] = [];
  const floor = new Map<string, number>();
  floors.forEach((row, i) => {
    for (const name of row) {
      if (floor.has(name)) faults.push(`${name} stands there twice`);
      floor.set(name, i);
    }
  });
  const there = new Set(names);
  for (const name of there) if (!floor.has(name)) faults.push(`${name} is missing`);
  for (const name of floor.keys()) if (!there.has(name)) faults.push(`${name} does not exist`);
  for (const [from, to] of arrows) {
    if (floor.get(from)! >= floor.get(to)!) {
      faults.push(`${from} imports ${to}, which is not below`);
    }
  }
  return faults;
}
