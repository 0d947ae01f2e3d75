/** A module as users write it: options alone. */
import type { http } from "@sluice/sluice";

export default {
  handler: (stream: http.ServerStream) => void stream.closeWrite("plain"),
};
