/**
 * Program of the workers of `http.serve`, which starts it: for `deno compile --include` and caches.
 *
 * @module
 */
import { listen } from "../server/listen.ts";
import type { ServerOptions } from "../server/options.ts";
import { obey } from "./program.ts";

obey((options: ServerOptions & { readonly engine?: "own" }) => listen(options));
