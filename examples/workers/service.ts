/** What examples/http_workers.ts serves: options as `http.listen` takes them, without an address. */
import type { http } from "@sluice/sluice";

export default ({ index }: { index: number }): Omit<http.ServerOptions, "addr"> => ({
  handler: (stream) => {
    let sum = 0;
    for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i);
    stream.closeWrite(`worker ${index}: ${Math.round(sum)}`);
  },
});
