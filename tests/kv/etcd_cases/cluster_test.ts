/** Cases of integration/clientv3/cluster_test.go. */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase, VERSION } from "./case.ts";

/** Members may be added that never start. */
const LENIENT = { flags: ["--strict-reconfig-check=false"] };
/** Members that learn. */
const LEARNERS = { ...LENIENT, beyond: "members" } as const;
const THREE = { members: 3, ...LENIENT };
/** Where nobody listens. */
const NOWHERE = ["http://127.0.0.1:1"];

etcdCase("TestMemberList", async ({ client }) => {
  assertEquals((await client.cluster.memberList()).members.length, 3);
}, THREE);

etcdCase("TestMemberAdd", async ({ client }) => {
  const { member } = await client.cluster.memberAdd({ peerURLs: NOWHERE });
  assertEquals([member.peerURLs, member.isLearner], [NOWHERE, false]);
}, THREE);

etcdCase("TestMemberAddWithExistingURLs", async ({ client: { cluster } }) => {
  const { members } = await cluster.memberList();
  const again = cluster.memberAdd({ peerURLs: members[0]!.peerURLs });
  assertEquals((await rejected(again, kv.KvError)).reason, "PEER_URL_EXISTS");
}, LENIENT);

etcdCase("TestMemberRemove", async ({ cluster, client2 }) => {
  const [first, second] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint] });
  const { members } = await client.cluster.memberList();
  const { ID } = members.find(({ name }) => name === second!.name)!;
  await client.cluster.memberRemove({ ID });
  assertEquals((await client.cluster.memberList()).members.length, 2);
}, THREE);

etcdCase("TestMemberUpdate", async ({ client: { cluster } }) => {
  const { members } = await cluster.memberList();
  const { ID } = members[0]!;
  await cluster.memberUpdate({ ID, peerURLs: NOWHERE });
  const updated = (await cluster.memberList()).members.find((member) => member.ID === ID);
  assertEquals(updated!.peerURLs, NOWHERE);
}, LENIENT);

etcdCase("TestMemberUpdateLearner", async ({ client: { cluster } }) => {
  const { member: { ID } } = await cluster.memberAddAsLearner({ peerURLs: NOWHERE });
  const find = async () => (await cluster.memberList()).members.find((one) => one.ID === ID)!;
  assertEquals((await find()).isLearner, true);
  const peerURLs = ["http://127.0.0.1:2"];
  await cluster.memberUpdate({ ID, peerURLs });
  const { isLearner, peerURLs: updated } = await find();
  // etcd 3.4 and 3.5 forget what it was.
  assertEquals([isLearner || VERSION < 3.006, updated], [true, peerURLs]);
}, LEARNERS);

etcdCase("TestMemberAddUpdateWrongURLs", async ({ client: { cluster } }) => {
  for (
    const url of [
      "://127.0.0.1:2379",
      "mailto://127.0.0.1:2379",
      "http://127.0.0.1",
      "http://127.0.0.1:2379/path",
      "127.0.0.1:1234",
      "localhost:1234",
    ]
  ) {
    await rejected(cluster.memberAdd({ peerURLs: [url] }), Error);
    await rejected(cluster.memberUpdate({ ID: 1n, peerURLs: [url] }), Error);
  }
});

etcdCase("TestMemberAddForLearner", async ({ client: { cluster } }) => {
  const { member, members } = await cluster.memberAddAsLearner({ peerURLs: NOWHERE });
  assertEquals(member.isLearner, true);
  assertEquals(members.filter(({ isLearner }) => isLearner).map(({ ID }) => ID), [member.ID]);
}, LEARNERS);

etcdCase("TestMemberPromote", async ({ cluster, client }) => {
  const early = await client.cluster.memberAddAsLearner({ peerURLs: NOWHERE });
  const { ID } = early.member;
  const notYet = await rejected(client.cluster.memberPromote({ ID }), kv.KvError);
  assertEquals(notYet.reason, "LEARNER_NOT_READY");
  await client.cluster.memberRemove({ ID });
  const learner = await cluster.add({ learner: true });
  await learner.ready();
  const { members } = await client.cluster.memberList();
  const started = members.find(({ peerURLs }) => peerURLs.includes(learner.peerUrl))!;
  for (let i = 0;; i++) {
    const [promoted, error] = await kv.attempt(client.cluster.memberPromote({ ID: started.ID }));
    if (error === undefined) {
      assertEquals(promoted.members.filter(({ isLearner }) => isLearner), []);
      break;
    }
    assert(i < 100 && (error as kv.KvError).reason === "LEARNER_NOT_READY", String(error));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}, LEARNERS);

etcdCase("TestMemberPromoteMemberNotLearner", async ({ client: { cluster } }) => {
  for (const { ID } of (await cluster.memberList()).members) {
    const error = await rejected(cluster.memberPromote({ ID }), kv.KvError);
    assertEquals(error.reason, "MEMBER_NOT_LEARNER");
  }
}, THREE);

etcdCase("TestMemberPromoteMemberNotExist", async ({ client: { cluster } }) => {
  const error = await rejected(cluster.memberPromote({ ID: 12_345n }), kv.KvError);
  assertEquals(error.reason, "MEMBER_NOT_FOUND");
}, THREE);

etcdCase("TestMaxLearnerInCluster", async ({ client: { cluster } }) => {
  // One, unless a flag of later versions allows more.
  await cluster.memberAddAsLearner({ peerURLs: NOWHERE });
  const more = cluster.memberAddAsLearner({ peerURLs: ["http://127.0.0.1:2"] });
  assertEquals((await rejected(more, kv.KvError)).reason, "TOO_MANY_LEARNERS");
  await cluster.memberAdd({ peerURLs: ["http://127.0.0.1:3"] });
}, THREE);
