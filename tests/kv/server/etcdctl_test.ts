/** The commands of etcdctl, one after the other, on the store. */
import { assertEquals, assertMatch } from "@std/assert";
import { listen } from "../../../kv/server/mod.ts";
import { peerTest } from "../../../support/peers.ts";
import { Process, run, which } from "../../../support/process.ts";

const etcdctl = await which("etcdctl");

/** A command line, what it prints, and what it is told on standard input. */
type Flow = readonly [line: string, prints: RegExp, stdin?: string];

/** Commands that end by themselves. FILE and OTHER are a path and another store. */
const FLOWS: readonly Flow[] = [
  ["version", /etcdctl version/],
  ["put a 1", /^OK$/],
  ["put a 2 --prev-kv", /^OK\na\n1$/],
  ["put b", /^OK$/, "from standard input"],
  ["get a", /^a\n2$/],
  ["get b --print-value-only", /^from standard input$/],
  ["get --prefix '' --keys-only", /a\n\nb/],
  ["get a c --limit 1 --order DESCEND --sort-by KEY", /^b\n/],
  ["get --from-key b --limit 1 --write-out fields", /"Count" : 1/],
  ["get a --rev 2", /^a\n1$/],
  ["get a --write-out json --consistency s", /"kvs":\[\{"key":"YQ=="/],
  ["txn", /SUCCESS\n\nOK\n\na\n2/, 'value("a") = "2"\n\nput c 3\nget a\n\nput d 4\n\n'],
  ["txn", /FAILURE\n\nOK/, 'mod("a") = "1"\n\nput c 3\n\nput d 4\n\n'],
  ["del d --prev-kv", /^1\nd\n4$/],
  ["put --ignore-value a", /^OK$/],
  ["lease grant 600", /granted with TTL\(600s\)/],
  ["lease list", /found 1 leases/],
  ["lease timetolive LEASE --keys", /granted with TTL\(600s\), remaining\(5\d\ds\)/],
  ["lease keep-alive LEASE --once", /keepalived with TTL\(600\)/],
  ["put leased x --lease LEASE", /^OK$/],
  ["lease revoke LEASE", /revoked/],
  ["get leased", /^$/],
  ["put w 1", /^OK$/],
  ["compaction 4", /compacted revision 4/],
  ["compaction 5 --physical", /compacted revision 5/],
  ["endpoint health", /is healthy/],
  ["endpoint status --write-out json", /"dbSize":\d+/],
  ["endpoint hashkv", /, \d+/],
  ["alarm list", /^$/],
  ["alarm disarm", /^$/],
  ["defrag", /Finished defragmenting/],
  ["check datascale --load s", /PASS: Approximate system memory/],
  ["member list", /started, default/],
  ["member add other --peer-urls http://127.0.0.1:1", /unhealthy cluster/],
  ["member update MEMBER --peer-urls http://127.0.0.1:2", /updated in cluster/],
  ["member promote MEMBER", /can only promote a learner member/],
  ["member remove MEMBER", /re-configuration failed/],
  ["move-leader MEMBER", /no leader endpoint given|Leadership transferred/],
  ["snapshot save FILE", /Snapshot saved/],
  ["snapshot status FILE --write-out json", /"revision":\d+/],
  ["snapshot restore FILE --data-dir FILE.restored", /^(?!.*error).*/i],
  ["elect e value-of-mine --listen=false", /^(e\/[0-9a-f]+\n)?/],
  ["lock l -- echo held", /held/],
  ["role add reader", /created/],
  ["role grant-permission reader read a z", /updated/],
  ["role get reader", /\[a, z\)/],
  ["role list", /^reader$/],
  ["user add root:pw", /created/],
  ["user add bob:pw", /created/],
  ["user grant-role bob reader", /granted/],
  ["user get bob", /Roles: reader/],
  ["user list", /bob\nroot/],
  ["user passwd bob --interactive=false", /updated/, "other"],
  ["role add root", /created/],
  ["user grant-role root root", /granted/],
  ["auth enable", /Authentication Enabled/],
  ["get a", /user name is empty/],
  ["get a --user bob:other", /^a\n2$/],
  ["put a 3 --user bob:other", /permission denied/],
  ["role revoke-permission reader a z --user root:pw", /is revoked from role reader/],
  ["user revoke-role bob reader --user root:pw", /revoked/],
  ["user delete bob --user root:pw", /deleted/],
  ["role delete reader --user root:pw", /deleted/],
  ["auth disable --user root:pw", /Authentication Disabled/],
  ["completion bash", /bash completion/],
];

peerTest("etcdctl's commands work as they are", {
  needs: [["etcdctl", etcdctl, "install etcd-client"]],
}, async (t) => {
  await using store = listen({ limits: { bcryptCost: 4 } });
  const folder = await Deno.makeTempDir({ prefix: "etcdctl" });
  const known: Record<string, string> = { FILE: `${folder}/snapshot` };
  const env = { ETCDCTL_API: "3" };
  const argsOf = (line: string): string[] => [
    `--endpoints=${store.addr}`,
    ...line.replaceAll(/LEASE|MEMBER|FILE/g, (name) => known[name]!)
      .match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", "")),
  ];
  try {
    for (const [line, prints, stdin = ""] of FLOWS) {
      await t.step(line, async () => {
        if (line.startsWith("elect")) return await elect(argsOf(line));
        const { stdout, stderr } = await run(
          { command: etcdctl!, args: argsOf(line), env, stdin },
          120_000,
        );
        assertMatch(`${stdout}${stdout === "" ? stderr : ""}`.trim(), prints, stderr);
        known["LEASE"] = /lease (\w+) granted/.exec(stdout)?.[1] ?? known["LEASE"]!;
        known["MEMBER"] = /^(\w+), started/.exec(stdout)?.[1] ?? known["MEMBER"]!;
      });
    }
    await t.step("watch, with its history", async () => {
      await using watch = new Process({
        command: etcdctl!,
        args: argsOf("watch --prefix w --rev 6 --prev-kv"),
        env,
      });
      await watch.waitFor(/PUT\nw\n1\n/);
      await run({ command: etcdctl!, args: argsOf("put w2 x"), env });
      await watch.waitFor(/PUT\nw2\nx\n/);
      await run({ command: etcdctl!, args: argsOf("del w2"), env });
      await watch.waitFor(/DELETE\nw2\nx\nw2\n/);
    });
    await t.step("make-mirror, to another store", async () => {
      await using other = listen();
      await using mirror = new Process({
        command: etcdctl!,
        args: argsOf(`make-mirror ${other.addr}`),
        env,
      });
      const there = async (key: string): Promise<string> => {
        const args = [`--endpoints=${other.addr}`, "get", key, "--print-value-only"];
        for (;;) {
          const { stdout } = await run({ command: etcdctl!, args, env });
          if (stdout !== "" || mirror.ended) return stdout.trim();
        }
      };
      assertEquals(await there("a"), "2");
      await run({ command: etcdctl!, args: argsOf("put mirrored now"), env });
      assertEquals(await there("mirrored"), "now");
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }

  /** Wins an election, and gives it up. */
  async function elect(args: readonly string[]): Promise<void> {
    await using process = new Process({ command: etcdctl!, args: [...args], env });
    await process.waitFor(/e\/[0-9a-f]+\nvalue-of-mine/);
    process.signal("SIGINT");
    await process.finished(30_000);
  }
});
