/** This module's clients, asked to talk to a hostile server: `MODE PORT LATE`. */
import { newClient } from "../../../http/mod.ts";
import { newClient as newGrpcClient, newService } from "../../../grpc/mod.ts";
import { echoFile } from "../../interop/echo.ts";
import { observe } from "./victim.mjs";

const [mode, port, late] = Deno.args as [string, string, string];

await observe(async () => {
  if (mode === "gRPC") {
    const conn = newGrpcClient({ targets: [`127.0.0.1:${port}`] });
    const stream = await newService(conn, echoFile, "Echo").ServerStream({ timeout: 15_000 });
    await stream.write({});
    stream.closeWrite();
    if (late === "true") await new Promise((resolve) => setTimeout(resolve, 2000));
    for await (const _ of stream) { /* dropped */ }
    return;
  }
  const client = newClient({
    alpnProtos: [mode === "HTTP/2" ? "h2" : "http/1.1"],
    timeout: 15_000,
  });
  if (late !== "true") return void await client.get(`http://127.0.0.1:${port}/`);
  const stream = await client.request("GET", `http://127.0.0.1:${port}/`);
  stream.closeWrite();
  await stream.waitResponse();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  for await (const _ of stream) { /* dropped */ }
});
