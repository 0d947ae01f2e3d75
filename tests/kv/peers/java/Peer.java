// Flows of jetcd, etcd's Java client, on the endpoint that is given. Prints the name of each.

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.support.CloseableClient;
import io.etcd.jetcd.support.Observers;
import io.etcd.jetcd.watch.WatchResponse;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public final class Peer {
  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(20, TimeUnit.SECONDS);
  }

  private static void expect(String what, Object got, Object wanted) {
    if (!String.valueOf(got).equals(String.valueOf(wanted))) {
      throw new AssertionError(what + ": got " + got + ", not " + wanted);
    }
  }

  private static void keys(Client client) throws Exception {
    var kv = client.getKVClient();
    for (int i = 0; i < 5; i++) get(kv.put(bytes("java/" + i), bytes("" + i)));
    GetResponse found = get(kv.get(bytes("java/"), GetOption.builder().isPrefix(true)
        .withLimit(2).withSortField(GetOption.SortTarget.KEY)
        .withSortOrder(GetOption.SortOrder.DESCEND).build()));
    expect("sorted", found.getKvs().get(0).getKey(), "java/4");
    expect("count", found.getCount() + " " + found.isMore(), "5 true");
    var done = get(kv.txn().If(new Cmp(bytes("java/0"), Cmp.Op.EQUAL, CmpTarget.value(bytes("0"))))
        .Then(Op.put(bytes("java/0"), bytes("x"), PutOption.DEFAULT)).commit());
    expect("transaction", done.isSucceeded(), true);
    var gone = get(kv.delete(bytes("java/"),
        DeleteOption.builder().isPrefix(true).withPrevKV(true).build()));
    expect("deleted", gone.getDeleted() + " " + gone.getPrevKvs().size(), "5 5");
    long revision = gone.getHeader().getRevision();
    get(kv.compact(revision));
  }

  private static void leases(Client client) throws Exception {
    var leases = client.getLeaseClient();
    long id = get(leases.grant(3)).getID();
    get(client.getKVClient().put(bytes("java/leased"), bytes("1"),
        PutOption.builder().withLeaseId(id).build()));
    CountDownLatch renewed = new CountDownLatch(3);
    CloseableClient alive = leases.keepAlive(id,
        Observers.<LeaseKeepAliveResponse>observer(response -> renewed.countDown()));
    expect("renewed", renewed.await(20, TimeUnit.SECONDS), true);
    alive.close();
    expect("keys", get(leases.timeToLive(id,
        LeaseOption.builder().withAttachedKeys().build())).getKeys().size(), 1);
    get(leases.revoke(id));
    expect("gone", get(client.getKVClient().get(bytes("java/leased"))).getCount(), 0);
  }

  private static void watches(Client client) throws Exception {
    LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    try (Watch.Watcher watcher = client.getWatchClient().watch(bytes("java/w"),
        WatchOption.builder().isPrefix(true).withPrevKV(true).build(),
        (WatchResponse response) -> response.getEvents().forEach(event ->
            events.add(event.getEventType() + " " + event.getKeyValue().getKey())))) {
      // A watch from now on is told of nothing before it is made.
      while (events.isEmpty()) {
        get(client.getKVClient().put(bytes("java/w"), bytes("1")));
        Thread.sleep(20);
      }
      get(client.getKVClient().delete(bytes("java/w")));
      String last;
      do last = events.poll(20, TimeUnit.SECONDS);
      while (last != null && last.startsWith("PUT"));
      expect("told", last, "DELETE java/w");
    }
  }

  private static void contests(Client client) throws Exception {
    long id = get(client.getLeaseClient().grant(60)).getID();
    var lock = get(client.getLockClient().lock(bytes("java/lock"), id));
    get(client.getLockClient().unlock(lock.getKey()));
    var election = client.getElectionClient();
    var leader = get(election.campaign(bytes("java/e"), id, bytes("one"))).getLeader();
    get(election.proclaim(leader, bytes("two")));
    expect("leads", get(election.leader(bytes("java/e"))).getKv().getValue(), "two");
    get(election.resign(leader));
  }

  private static void upkeep(Client client, String url) throws Exception {
    var maintenance = client.getMaintenanceClient();
    expect("version", get(maintenance.statusMember(url)).getVersion().startsWith("3."), true);
    get(maintenance.hashKV(url, 0));
    get(maintenance.defragmentMember(url));
    get(maintenance.listAlarms());
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    get(maintenance.snapshot(file));
    expect("snapshot", file.size() % 512, 32);
    expect("members", get(client.getClusterClient().listMember()).getMembers().size(), 1);
  }

  private static void users(Client client, String url) throws Exception {
    var auth = client.getAuthClient();
    for (String name : Arrays.asList("root", "bob")) {
      get(auth.userAdd(bytes(name), bytes("pw")));
      get(auth.roleAdd(bytes(name)));
      get(auth.userGrantRole(bytes(name), bytes(name)));
    }
    get(auth.roleGrantPermission(bytes("bob"), bytes("java/"), bytes("java0"),
        Permission.Type.READWRITE));
    get(auth.authEnable());
    try (Client bob = Client.builder().endpoints(url).user(bytes("bob")).password(bytes("pw")).build();
        Client root = Client.builder().endpoints(url).user(bytes("root")).password(bytes("pw")).build()) {
      get(bob.getKVClient().put(bytes("java/mine"), bytes("1")));
      String refusal = "";
      try {
        get(bob.getKVClient().put(bytes("theirs"), bytes("1")));
      } catch (Exception error) {
        refusal = String.valueOf(error.getCause());
      }
      expect("refused", refusal.contains("permission denied"), true);
      get(root.getAuthClient().authDisable());
    }
  }

  private interface Flow {
    void run() throws Exception;
  }

  private static void flow(String name, Flow flow) throws Exception {
    flow.run();
    System.out.println(name);
  }

  public static void main(String[] args) throws Exception {
    String url = "http://" + args[0];
    try (Client client = Client.builder().endpoints(url).build()) {
      flow("keys and transactions", () -> keys(client));
      flow("leases", () -> leases(client));
      flow("watches", () -> watches(client));
      flow("locks and elections", () -> contests(client));
      flow("upkeep", () -> upkeep(client, url));
      flow("users", () -> users(client, url));
    }
    System.exit(0);
  }
}
