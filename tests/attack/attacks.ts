/** All attacks on servers. */
import { GRPC_ATTACKS } from "./grpc.ts";
import { HTTP1_ATTACKS } from "./http1.ts";
import { HTTP2_ATTACKS } from "./http2.ts";
import type { Attack } from "./shape.ts";
import { WEBSOCKET_ATTACKS } from "./websocket.ts";

export const ATTACKS: readonly Attack[] = [
  ...HTTP1_ATTACKS,
  ...HTTP2_ATTACKS,
  ...GRPC_ATTACKS,
  ...WEBSOCKET_ATTACKS,
];
