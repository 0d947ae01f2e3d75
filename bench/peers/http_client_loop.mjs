// deno-lint-ignore-file explicit-module-boundary-types
/** Runs what it is told, line by line: `{url, concurrency, seconds}` → `{count, seconds, bytes}`. */
export async function loop(once, input, print) {
  print("ready");
  for await (const line of input) {
    if (line === "") continue;
    try {
      const { url, concurrency, seconds } = JSON.parse(line);
      let count = 0;
      let bytes = 0;
      const begun = performance.now();
      const end = begun + seconds * 1000;
      await Promise.all(Array.from({ length: concurrency }, async () => {
        while (performance.now() < end) {
          // Not `bytes += await …`: that adds to what `bytes` was before the wait.
          const received = await once(url);
          bytes += received;
          count++;
        }
      }));
      print(JSON.stringify({ count, bytes, seconds: (performance.now() - begun) / 1000 }));
    } catch (error) {
      print(JSON.stringify({ error: String(error?.stack ?? error) }));
    }
  }
}
