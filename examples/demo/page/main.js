// The page: its parts, and the socket they share.

import { showCalls } from "./call.js";
import { byId, tellOutcome } from "../../../grpc/cli/page/element.js";
import { showKeys } from "./keys.js";
import { Live } from "./live.js";
import { showLock } from "./lock.js";

const live = new Live();
live.addEventListener("state", ({ detail: { state, store, reason } }) => {
  const status = byId("status");
  status.dataset.state = state;
  status.textContent = state === "open"
    ? `${store.name} · speaks etcd ${store.version}`
    : `Not connected${reason ? ` (${reason})` : ""}: trying again`;
});
byId("address").textContent = location.host;
showKeys(live);
showLock(live);
live.open();
showCalls().catch((error) => tellOutcome(byId("call-outcome"), false, error.message));
