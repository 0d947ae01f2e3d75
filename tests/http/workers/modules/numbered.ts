/** Options that a function gives, with faults on request. */
import type { http } from "@sluice/sluice";

export default (
  { index, workers }: { index: number; workers: number },
): Omit<http.ServerOptions, "addr"> => ({
  handler: async (stream) => {
    switch (stream.path) {
      case "/crash":
        // Nobody catches it.
        setTimeout(() => {
          throw new Error("crashed on request");
        }, 0);
        return new Promise<void>(() => {});
      case "/hang": {
        const end = performance.now() + 1_500;
        while (performance.now() < end);
        return stream.closeWrite("hung");
      }
      case "/slow":
        stream.respond(200);
        await stream.write("begun ");
        await new Promise((resolve) => setTimeout(resolve, 300));
        return stream.closeWrite("and ended");
      default:
        stream.closeWrite(`${index} of ${workers}`);
    }
  },
});
