/**
 * HTTP/2 abuse against a whole server: handlers at work never exceed the streams allowed, memory
 * stays bounded, the attacker is sent away, and a client on another connection is served meanwhile.
 */
import { assert, assertEquals } from "@std/assert";
import { listen, newClient } from "../../../http/mod.ts";
import { FrameType, PREFACE } from "../../../http/h2/frame.ts";
import {
  block,
  concat,
  data,
  EMPTY,
  frame,
  headers,
  ping,
  REQUEST,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from "../../../support/frames.ts";

const MAX_STREAMS = 100;
const MAX_GROWTH = 64 << 20;

/** Octets this isolate holds; the process as a whole runs other tests meanwhile. */
function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** What an attacker sends: round by round, with the stream id to use. */
interface Attack {
  readonly name: string;
  readonly rounds: number;
  readonly send: (round: number, id: number) => Uint8Array;
  readonly before?: Uint8Array;
  /** Whether the connection must be ended; some floods are merely borne. */
  readonly ends: boolean;
  readonly path?: string;
}

const GET = (path: string) => {
  const fields = [...REQUEST];
  fields[1] = "GET";
  fields[5] = path;
  return fields;
};

const ATTACKS: readonly Attack[] = [
  {
    name: "rapid reset (CVE-2023-44487)",
    rounds: 5000,
    send: (_, id) => concat(headers(id, GET("/"), { end: true }), rstStream(id, 8)),
    ends: true,
  },
  {
    name: "streams reset by window overflow (CVE-2025-8671)",
    rounds: 5000,
    send: (_, id) => concat(headers(id), windowUpdate(id, 2 ** 31 - 1)),
    ends: true,
  },
  {
    name: "streams reset by a window update of 0",
    rounds: 5000,
    send: (_, id) => concat(headers(id), windowUpdate(id, 0)),
    ends: true,
  },
  {
    name: "streams reset by a wrong content-length",
    rounds: 5000,
    send: (_, id) =>
      concat(headers(id, [...REQUEST, "content-length", "1"]), data(id, "too long", true)),
    ends: true,
  },
  {
    name: "upper-case field names",
    rounds: 5000,
    send: (_, id) => headers(id, [...GET("/"), "X-A", "1"], { end: true }),
    ends: true,
  },
  {
    name: "endless CONTINUATION (CVE-2024-27316)",
    rounds: 2000,
    before: headers(1, GET("/"), { endHeaders: false }),
    send: () => frame(FrameType.CONTINUATION, 0, 1, block(["x-a", "y".repeat(2000)])),
    ends: true,
  },
  {
    name: "empty CONTINUATION",
    rounds: 20_000,
    before: headers(1, GET("/"), { endHeaders: false }),
    send: () => frame(FrameType.CONTINUATION, 0, 1, EMPTY),
    ends: true,
  },
  {
    name: "PING flood (CVE-2019-9512)",
    rounds: 50_000,
    send: () => ping(),
    ends: true,
  },
  {
    name: "SETTINGS flood (CVE-2019-9515)",
    rounds: 50_000,
    send: () => settings([4, 65535]),
    ends: true,
  },
  {
    name: "empty DATA (CVE-2019-9518)",
    rounds: 50_000,
    before: headers(1),
    send: () => data(1, EMPTY),
    ends: true,
  },
  {
    name: "PRIORITY flood (CVE-2019-9513)",
    rounds: 50_000,
    send: (_, id) => frame(FrameType.PRIORITY, 0, id, concat(uint32(0), Uint8Array.of(1))),
    ends: true,
  },
  {
    name: "unknown frames",
    rounds: 50_000,
    send: () => frame(0x99, 0, 0, EMPTY),
    ends: true,
  },
  {
    name: "data dribble (CVE-2019-9511)",
    rounds: 60_000,
    before: headers(1),
    send: () => data(1, "x"),
    ends: false,
  },
  {
    name: "more streams than allowed",
    rounds: 2000,
    send: (_, id) => headers(id),
    ends: true,
  },
  {
    name: "large responses into a closed window",
    rounds: 100,
    before: settings([4, 0]),
    send: (_, id) => headers(id, GET("/big"), { end: true }),
    ends: false,
  },
];

/** Sends until the server ends the connection or everything is sent. */
async function assail(port: number, attack: Attack): Promise<boolean> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  let ended = false;
  let wake!: () => void;
  const over = new Promise<void>((resolve) => wake = resolve);
  const reading = (async () => {
    const buf = new Uint8Array(65536);
    try {
      while (await conn.read(buf) !== null);
    } catch {
      // Reset: ended as well.
    }
    ended = true;
    wake();
  })();
  const write = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  };
  try {
    await write(concat(PREFACE, settings(), attack.before ?? EMPTY));
    let id = 1;
    for (let round = 0; round < attack.rounds && !ended;) {
      const batch: Uint8Array[] = [];
      for (let i = 0; i < 50 && round < attack.rounds; i++, round++, id += 2) {
        batch.push(attack.send(round, id));
      }
      await write(concat(...batch));
    }
  } catch {
    // The server has closed: that is what is asked for.
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    over,
    new Promise<void>((resolve) => timer = setTimeout(resolve, attack.ends ? 3000 : 200)),
  ]);
  clearTimeout(timer);
  const result = ended;
  conn.close();
  await reading;
  return result;
}

for (const attack of ATTACKS) {
  Deno.test(`the server bears ${attack.name}${attack.ends ? " and ends it" : ""}`, async () => {
    let running = 0;
    let most = 0;
    const big = "x".repeat(1 << 20);
    const release: (() => void)[] = [];
    await using server = listen({
      addr: "127.0.0.1:0",
      limits: { maxStreams: MAX_STREAMS, drainTimeout: 200 },
      handler: async (stream) => {
        if (stream.path === "/alive") {
          await stream.respond(200);
          stream.closeWrite("alive");
          return;
        }
        most = Math.max(most, ++running);
        try {
          if (stream.path === "/big") {
            await stream.respond(200);
            stream.closeWrite(big);
          } else {
            await new Promise<void>((resolve) => release.push(resolve));
          }
        } finally {
          running--;
        }
      },
    });
    const before = memory();
    await using client = newClient();
    let served = 0;
    let attacking = true;
    const bystander = (async () => {
      while (attacking) {
        const response = await client.get(`http://${server.addr}/alive`, null, { timeout: 3000 });
        assertEquals(response.body, "alive");
        served++;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    const ended = await assail(server.port, attack);
    const growth = memory() - before;
    attacking = false;
    await bystander;
    for (const resolve of release) resolve();
    assert(most <= MAX_STREAMS, `${most} handlers at once`);
    assert(growth < MAX_GROWTH, `memory grew by ${growth >> 20} MiB`);
    assert(served > 0, "the bystander was not served");
    if (attack.ends) assert(ended, "the connection was not ended");
  });
}
