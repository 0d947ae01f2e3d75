/** The command beside the real etcdctl: the same words, the same output. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { run } from "../../../kv/cli/command.ts";
import type { World } from "../../../kv/cli/world.ts";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { Etcd, findServer } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { Process, run as runProgram, which } from "../../../support/process.ts";

const etcd = [
  "etcd",
  await findServer(),
  "install etcd-server, or set ETCD to the program",
] as const;
const etcdctl = ["etcdctl", await which("etcdctl"), "install etcd-client"] as const;
const root = new URL("../../../", import.meta.url).pathname;

/** What a command did. */
interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Given {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly interrupted?: AbortSignal;
  readonly onPrint?: (text: string) => void;
  readonly terminal?: boolean;
}

/** Runs the command in this process. */
async function ours(args: readonly string[], given: Given = {}): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const { stdin = "", env = {}, interrupted = new AbortController().signal } = given;
  const world: World = {
    env: (name) => env[name],
    print: (content) => {
      const text = typeof content === "string" ? content : new TextDecoder().decode(content);
      stdout += text;
      given.onPrint?.(text);
      return Promise.resolve();
    },
    complain: (line) => void (stderr += `${line}\n`),
    input: () => Promise.resolve(stdin),
    lines: async function* () {
      yield* stdin.replace(/\n$/, "").split("\n");
    },
    secret: () => Promise.resolve(stdin.split("\n")[0]),
    read: (path) => Deno.readTextFile(path),
    save: (path, body) => Deno.writeFile(path, body),
    execute: async (command, args, env) => {
      const { code, stdout } = await runProgram({ command, args, env });
      await world.print(stdout);
      return code;
    },
    terminal: () => given.terminal === true ? { columns: 100, rows: 30 } : undefined,
    interrupted,
  };
  const code = await run(args, world);
  return { code, stdout, stderr };
}

/** What differs from run to run: revisions, ids, terms and indexes. */
function steady(text: string): string {
  return text
    .replace(/"(cluster_id|member_id|revision|raft_term|id|ID)":\d+/g, '"$1":0')
    .replace(
      /"(create_revision|mod_revision|compact_revision|raftIndex|raftAppliedIndex)":\d+/g,
      '"$1":0',
    )
    .replace(/"(hash|dbSize|dbSizeInUse|leader)":\d+/g, '"$1":0')
    .replace(
      /^("(?:\w*Revision|RaftIndex|RaftAppliedIndex|\w*ID|DBSize|Lease)") : \d+$/gm,
      "$1 : 0",
    )
    .replace(/"took":"[^"]+"|took = \S+/g, "took")
    .replace(/\b[0-9a-f]{16}\b/g, "0000000000000000");
}

peerTest("output is etcdctl's, byte for byte", { needs: [etcd, etcdctl] }, async (t) => {
  await using one = await Etcd.start({ flags: ["--bcrypt-cost=4"] });
  await using two = await Etcd.start({ flags: ["--bcrypt-cost=4"] });
  const theirs = async (args: readonly string[], stdin = ""): Promise<Ran> =>
    await runProgram({
      command: "etcdctl",
      args: ["--endpoints", two.endpoint, ...args],
      env: { ETCDCTL_API: "3" },
      stdin,
    });
  /** Both do the same, each on an etcd of its own that has seen the same. */
  const same = async (line: string, stdin = "") => {
    const args = line.split(" ").map((word) => word.replaceAll("_", " ").replace(/^''$/, ""));
    const [mine, real] = [
      await ours(["--endpoints", one.endpoint, ...args], { stdin }),
      await theirs(args, stdin),
    ];
    const shown = (ran: Ran) => steady(ran.stdout).replaceAll(one.endpoint, two.endpoint);
    assertEquals(shown(mine), shown(real), `${line}: ${mine.stderr} | ${real.stderr}`);
    assertEquals(mine.code, real.code, `${line}: ${mine.stderr} | ${real.stderr}`);
    return mine;
  };
  const forms = async (line: string, stdin = "") => {
    for (const form of ["simple", "json", "fields"]) await same(`${line} -w ${form}`, stdin);
  };

  await t.step("keys", async () => {
    await forms("put foo some_text");
    await forms("put foo bar --prev-kv");
    await same("put from-stdin", "a\nb");
    await same("put <&>\u00e9 <html>&");
    for (let i = 0; i < 5; i++) await same(`put k${i} v${9 - i}`);
    for (
      const line of [
        "get foo",
        "get none",
        "get k --prefix",
        "get k1 k3",
        "get k3 --from-key",
        "get '' --prefix",
        "get k --prefix --limit 2",
        "get k --prefix --limit=2 --order=DESCEND",
        "get k --prefix --sort-by VALUE",
        "get k --prefix --sort-by=modify --order=descend --keys-only",
        "get foo --rev 2",
        "get foo --consistency=s",
        "get --prefix=true k --keys-only",
        "get <&>\u00e9",
      ]
    ) await forms(line);
    await same("get foo --print-value-only");
    await same("get k --prefix --hex");
    await same("get foo --rev 1000");
    await forms("del k0 --prev-kv");
    await forms("del k --prefix --prev-kv");
    await forms("del none");
    await same("put a b --ignore-value");
    await same("get a --consistency=x");
    await same("get a b --prefix");
    await same("get a -w xml");
    await same("get a -w table");
    await same("get");
    // It prints its help besides.
    assertEquals((await ours(["get", "a", "--nonsense"])).code, 1);
    await same("nonsense");
    await same("compaction 4");
    await same("compaction 4");
    await same("compaction x");
  });

  await t.step("transactions", async () => {
    const cases = [
      'mod("foo") > "0"\n\nput t 1\nget foo\n\nput t 2\n\n',
      'mod("foo") = "0"\n\nput t 1\n\nput t "some text" --prev-kv\nget t\ndel t --prev-kv\n\n',
      'value("foo") = "bar"\nversion("foo") > "0"\ncreate("none") = "0"\n\nget k --prefix\n\n\n',
      '\nput x "a \\"quoted\\" text"\n\n\n',
      'val("foo") != "x"\n\ndel foo\n\n\n',
    ];
    for (const text of cases) await same("txn", text);
    for (const text of cases) await same("txn -w json", text);
    await same("txn", 'nonsense("foo") = "0"\n\n\n\n');
    await same("txn", "\nfly away\n\n\n");
  });

  await t.step("leases", async () => {
    await forms("lease grant 60");
    const { stdout } = await ours(["--endpoints", one.endpoint, "lease", "list"]);
    const real = (await theirs(["lease", "list"])).stdout;
    assertEquals(steady(stdout), steady(real));
    await forms("lease list");
    const ids = [stdout, real].map((text) => text.trim().split("\n").at(-1)!);
    const both = async (...words: string[]) => {
      const at = (id: string) => words.map((word) => word.replace("ID", id));
      const mine = await ours(["--endpoints", one.endpoint, ...at(ids[0]!)]);
      const its = await theirs(at(ids[1]!));
      assertEquals(steady(mine.stdout), steady(its.stdout), words.join(" "));
      assertEquals(mine.code, its.code);
    };
    await both("put", "leased", "v", "--lease=ID");
    await both("lease", "keep-alive", "ID", "--once");
    await both("lease", "keep-alive", "ID", "--once", "-w", "json");
    for (const form of ["simple", "json", "fields"]) {
      await both("lease", "timetolive", "ID", "--keys", "-w", form);
      await both("lease", "timetolive", "ID", "-w", form);
    }
    await both("get", "leased", "-w", "fields", "--print-value-only=false", "--limit=0", "--rev=0");
    await both("lease", "revoke", "ID");
    await both("lease", "revoke", "ID");
    await both("lease", "timetolive", "ID");
    await both("lease", "timetolive", "ID", "-w", "json");
    await same("lease grant x");
    await same("lease revoke xyz");
  });

  await t.step("members and endpoints", async () => {
    // The same etcd is asked by both.
    for (const line of ["member list", "endpoint status", "endpoint hashkv", "alarm list"]) {
      for (const form of ["simple", "json"]) {
        const args = [...line.split(" "), "-w", form];
        const mine = await ours(["--endpoints", two.endpoint, ...args]);
        const real = await theirs(args);
        // Fields that are newer than etcdctl.
        const text = mine.stdout
          .replace(/,"(?:storageVersion|dbSizeQuota|hash_revision)":(?:"[^"]*"|\d+)/g, "");
        assertEquals([text, mine.code], [real.stdout, real.code], line);
      }
    }
    await same("defrag");
    for (const line of ["member list -w table", "endpoint status -w table"]) {
      const mine = (await ours(["--endpoints", two.endpoint, ...line.split(" ")])).stdout;
      assertEquals(mine, (await theirs(line.split(" "))).stdout);
    }
    await same("endpoint health -w json");
    await same("alarm disarm");
    await same("move-leader 1234");
    await same("member remove 1234");
    await same("member remove xyz");
  });

  await t.step("snapshots", async () => {
    const path = await Deno.makeTempFile();
    const { code, stdout } = await ours(["--endpoints", one.endpoint, "snapshot", "save", path]);
    assertEquals([code, stdout], [0, `Snapshot saved at ${path}\n`]);
    const { stdout: status } = await runProgram({
      command: "etcdctl",
      args: ["snapshot", "status", path],
      env: { ETCDCTL_API: "3" },
    });
    assertMatch(status, /^[0-9a-f]+, \d+, \d+, /);
    await Deno.remove(path);
  });

  await t.step("users", async () => {
    for (
      const line of [
        "user add root:secret",
        "user add ann:pw -w json",
        "user add cert --no-password",
        "user add ann:pw",
        "role add root",
        "role add ops",
        "role add more -w json",
        "role grant-permission ops readwrite app/ --prefix",
        "role grant-permission ops read one",
        "role grant-permission ops write z --from-key",
        "role grant-permission ops read a b -w json",
        "role grant-permission ops fly a",
        "role get ops",
        "role get ops -w json",
        "role get none",
        "role list",
        "role list -w json",
        "user grant-role ann ops",
        "user grant-role root root",
        "user get ann",
        "user get ann --detail",
        "user get ann -w json",
        "user list",
        "user list -w json",
        "role revoke-permission ops one",
        "role revoke-permission ops app/ --prefix",
        "user revoke-role ann ops",
        "user delete ann",
        "role delete ops",
        "auth enable",
        "get a",
        "get a --user root:secret",
        "get a --user root --password secret",
        "get a --user root:wrong",
        "auth disable --user root:secret",
      ]
    ) await same(line);
    await ours(["--endpoints", one.endpoint, "user", "passwd", "root"], { stdin: "new\n" });
    await ours(["--endpoints", one.endpoint, "auth", "enable"]);
    const env = { ETCDCTL_USER: "root:new", ETCDCTL_ENDPOINTS: one.endpoint };
    assertEquals((await ours(["put", "a", "1"], { env })).stdout, "OK\n");
    const asked = await ours(["get", "a", "--user", "root"], { env, stdin: "new\n" });
    assertEquals(asked.stdout, "a\n1\n");
    await ours(["auth", "disable"], { env });
  });

  await t.step("watches", async () => {
    const changes = async (endpoint: string) => {
      const put = (...args: string[]) =>
        ours(["--endpoints", endpoint, ...args]).then(({ code }) => assertEquals(code, 0));
      await put("put", "w", "1");
      await put("put", "w", "2");
      await put("del", "w");
    };
    const revisions = await Promise.all([one, two].map(async ({ endpoint }) => {
      const { stdout } = await ours(["--endpoints", endpoint, "get", "w", "-w", "json"]);
      const revision = JSON.parse(stdout).header.revision + 1;
      await changes(endpoint);
      return revision as number;
    }));
    for (const more of [[], ["--prev-kv"], ["-w", "json"], ["-w", "fields"], ["--prefix"]]) {
      const line = (i: number) => ["watch", "w", `--rev=${revisions[i]}`, ...more];
      await using real = new Process({
        command: "etcdctl",
        args: ["--endpoints", two.endpoint, ...line(1)],
        env: { ETCDCTL_API: "3" },
      });
      await real.waitFor(/(DELETE|"type":1)[^]*w/);
      const ended = new AbortController();
      let text = "";
      const mine = await ours(["--endpoints", one.endpoint, ...line(0)], {
        interrupted: ended.signal,
        onPrint: (part) => {
          text += part;
          if (/DELETE|"type":1/.test(text)) ended.abort();
        },
      });
      assertEquals(mine.code, 130);
      // The last lines of the real one may still be on their way.
      await real.stop("SIGINT");
      assertEquals(steady(mine.stdout), steady(real.stdout), more.join(" "));
    }
    const ended = new AbortController();
    const run = await ours([
      ...["--endpoints", one.endpoint, "watch", "w", `--rev=${revisions[0]}`, "--", "sh", "-c"],
      "echo $ETCD_WATCH_EVENT_TYPE $ETCD_WATCH_KEY $ETCD_WATCH_VALUE",
    ], {
      interrupted: ended.signal,
      onPrint: (part) => part.startsWith('"DELETE"') && ended.abort(),
    });
    assertStringIncludes(run.stdout, 'DELETE\nw\n\n"PUT" "w" "1"\n"PUT" "w" "2"\n"DELETE" "w" ""');
  });
});

peerTest("locks and elections are held until the command ends", { needs: [etcd] }, async () => {
  await using server = await Etcd.start();
  const endpoints = ["--endpoints", server.endpoint];
  const ran = await ours([...endpoints, "lock", "l", "--", "sh", "-c", "echo $ETCD_LOCK_KEY"]);
  assertMatch(ran.stdout, /^l\/[0-9a-f]+\n$/);
  assertEquals(ran.code, 0);
  assertEquals((await ours([...endpoints, "lock", "l", "sh", "--", "-c", "exit 7"])).code, 7);

  const first = new AbortController();
  const holding = Promise.withResolvers<void>();
  const held = ours([...endpoints, "lock", "l"], {
    interrupted: first.signal,
    onPrint: () => holding.resolve(),
  });
  await holding.promise;
  const second = new AbortController();
  let waited = true;
  const next = ours([...endpoints, "lock", "l"], {
    interrupted: second.signal,
    onPrint: () => {
      waited = first.signal.aborted;
      second.abort();
    },
  });
  first.abort();
  assertEquals((await held).code, 130);
  assertEquals((await next).code, 130);
  assert(waited, "two held the lock");

  const leader = new AbortController();
  const watcher = new AbortController();
  const elected = ours([...endpoints, "elect", "e", "me"], { interrupted: leader.signal });
  const seen = await ours([...endpoints, "elect", "-l", "e"], {
    interrupted: watcher.signal,
    onPrint: () => watcher.abort(),
  });
  assertMatch(seen.stdout, /^e\/[0-9a-f]+\nme\n$/);
  leader.abort();
  assertEquals((await elected).stdout, seen.stdout);
});

peerTest("live views fill a terminal, and leave it as it was", { needs: [etcd] }, async () => {
  await using server = await Etcd.start();
  const endpoints = ["--endpoints", server.endpoint];
  await ours([...endpoints, "put", "live/a", "\x1b[31mred\n"]);
  for (
    const [args, text] of [
      [["watch", "live/", "--prefix", "--live"], /live\/b/],
      [["status", "--live"], /IS LEADER[^]*true/],
    ] as [string[], RegExp][]
  ) {
    const ended = new AbortController();
    let shown = "";
    const view = ours([...endpoints, ...args], {
      terminal: true,
      interrupted: ended.signal,
      onPrint: (part) => {
        shown += part;
        if (text.test(shown)) ended.abort();
      },
    });
    await ours([...endpoints, "put", "live/b", "1"]);
    const { stdout } = await view;
    assert(stdout.startsWith("\x1b[?1049h") && stdout.endsWith("\x1b[?1049l"));
    assert(!stdout.includes("\x1b[31m"), "a value spoke to the terminal");
    const { code, stderr } = await ours([...endpoints, ...args]);
    assertEquals(code, 128);
    assertStringIncludes(stderr, "--live needs a terminal");
  }
});

peerTest("certificates are given by flags or by the environment", {
  needs: [etcd, OPENSSL],
}, async () => {
  await using files = await makeCertificate();
  await using server = await Etcd.start({
    scheme: "https",
    flags: [
      `--cert-file=${files.certFile}`,
      `--key-file=${files.keyFile}`,
      "--client-cert-auth",
      `--trusted-ca-file=${files.caFile}`,
    ],
  });
  const tls = ["--cacert", files.caFile, "--cert", files.certFile, "--key", files.keyFile];
  const endpoints = ["--endpoints", `https://${server.endpoint}`];
  assertEquals((await ours([...endpoints, ...tls, "put", "a", "1"])).stdout, "OK\n");
  const env = {
    ETCDCTL_ENDPOINTS: `https://${server.endpoint}`,
    ETCDCTL_CACERT: files.caFile,
    ETCDCTL_CERT: files.certFile,
    ETCDCTL_KEY: files.keyFile,
    ETCDCTL_WRITE_OUT: "fields",
  };
  assertStringIncludes((await ours(["get", "a"], { env })).stdout, '"Value" : "1"');
  assertEquals((await ours(["get", "a", "-w=simple"], { env })).stdout, "a\n1\n");
  const short = ["--command-timeout=500ms"];
  assertEquals((await ours([...endpoints, ...short, "get", "a"])).code, 1);
});

Deno.test("what makes no sense is told, with what was meant", async () => {
  const cases: [string[], number, string][] = [
    [["gte", "a"], 1, 'unknown command "gte": did you mean "get"?'],
    [["get", "a", "--prefx"], 1, "unknown flag: --prefx: did you mean --prefix?"],
    [["get"], 128, "get takes 1 to 2 arguments"],
    [["get", "a", "--limit", "x"], 128, "--limit must be an integer"],
    [["get", "a", "--command-timeout", "5"], 128, "--command-timeout must be a time as 5s"],
    [["get", "a", "--endpoints", "nowhere"], 128, '"host:port"'],
    [["get", "a", "--cacert", "/none"], 128, "--cacert: "],
    [
      ["get", "a", "--user", "u:hush", "--endpoints", "10.0.0.1:1"],
      128,
      "or say --insecure-transport",
    ],
    [["lease", "revoke", "xyz"], 128, "bad lease ID (xyz)"],
    [["get", "a", "-w", "xml"], 4, "unsupported output format"],
  ];
  for (const [args, code, text] of cases) {
    const ran = await ours(args);
    assertEquals(ran.code, code, ran.stderr);
    assertStringIncludes(ran.stderr, text);
    assert(!ran.stderr.includes("hush"));
  }
  assertStringIncludes((await ours([])).stdout, "role grant-permission");
  assertStringIncludes((await ours(["get", "--help"])).stdout, "--print-value-only");
});

peerTest("kv/mod.ts is the command when it is run", { needs: [etcd] }, async () => {
  await using server = await Etcd.start();
  const command = (args: string[], stdin?: string) =>
    runProgram({
      command: Deno.execPath(),
      args: ["run", "-A", `${root}kv/mod.ts`, ...args],
      env: { ETCDCTL_ENDPOINTS: server.endpoint },
      ...(stdin === undefined ? {} : { stdin }),
    });
  assertEquals((await command(["put", "a"], "from stdin")).stdout, "OK\n");
  const got = await command(["get", "a"]);
  assertEquals([got.code, got.stdout, got.stderr], [0, "a\nfrom stdin\n", ""]);
  const path = await Deno.makeTempFile();
  assertEquals((await command(["snapshot", path])).code, 0);
  assert((await Deno.stat(path)).size > 1_000);
  await Deno.remove(path);
  const failed = await command(["snapshot", "save", "/none/such"]);
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.stderr, "Error: ");
  await using watching = new Process({
    command: Deno.execPath(),
    args: ["run", "-A", `${root}kv/mod.ts`, "watch", "a", "--rev=1"],
    env: { ETCDCTL_ENDPOINTS: server.endpoint },
  });
  await watching.waitFor(/PUT\na\nfrom stdin/);
  watching.signal("SIGINT");
  assertEquals((await watching.finished(10_000)).code, 130);
});
