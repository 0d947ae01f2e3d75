import { assert, assertStringIncludes } from "@std/assert";
import { pair, TRANSPORTS } from "../../support/transports.ts";

for (const transport of TRANSPORTS.slice(0, 2)) {
  Deno.test(`console.log shows what streams, responses, servers and clients are (${transport.name})`, async () => {
    let shown = "";
    await using p = await pair(transport, async (stream) => {
      shown = Deno.inspect(stream);
      await stream.respond(200, { "x-a": "1" });
      stream.closeWrite("body of the answer ".repeat(100));
    });
    const response = await p.client.get(`${p.url}/path?q=1`);
    for (const part of ['method: "GET"', 'target: "/path?q=1"', "header: {", "remoteAddr: "]) {
      assertStringIncludes(shown, part);
    }
    assert(shown.startsWith("ServerStream {"), shown);
    const whole = Deno.inspect(response);
    for (
      const part of ["HttpResponse {", "status: 200", '"x-a": "1"', 'body: "body of the answer']
    ) {
      assertStringIncludes(whole, part);
    }
    assert(whole.length < 1000, "the body is shown at length");
    const stream = await p.client.send("GET", p.url);
    assertStringIncludes(Deno.inspect(stream), "ClientStream {");
    assertStringIncludes(Deno.inspect(stream), "status: 200");
    assertStringIncludes(Deno.inspect(p.server), `addr: "${p.server.addr}"`);
    assertStringIncludes(Deno.inspect(p.client), "connections: { open: 1");
    stream.close();
  });
}
