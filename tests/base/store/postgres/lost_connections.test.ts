/** A commit whose connection is lost before or after it has happened: it is neither lost, nor doubled, nor a conflict. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { type Commit, type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { openTcpRelay, type TcpRelay } from "testing/tcp_relay.ts";
import { newPostgresDatabase, test } from "support/postgres.ts";

function relayTest(name: string, body: (relay: TcpRelay, store: Store) => Promise<void>): void {
  test(name, async () => {
    const url = await newPostgresDatabase();
    const { port } = new URL(url);
    await using relay = openTcpRelay(Number(port));
    const store = openPostgresStore(
      await openConnections(readPostgresUrl(`${url.replace(port, String(relay.port))}&connections=1`)),
    );
    try {
      await store.commit({ checks: [], writes: [{ kind: "set", key: ["warm"], value: 1 }] });
      await store.get(["warm"]); // after the deletion of expired entries, which the commit started
      await body(relay, store);
    } finally {
      await store.close();
    }
  });
}

const claim: Commit = {
  checks: [{ key: ["claim"], version: null }],
  writes: [{ kind: "set", key: ["claim"], value: "mine" }, { kind: "set", key: ["effect"], value: 1 }],
};

/** Ends the connection at the first chunk, once. */
function once(): (bytes: Uint8Array) => boolean {
  let left = 1;
  return () => left-- <= 0;
}

relayTest(
  "A commit whose answer is lost has happened, and is not reported as a conflict with itself",
  async (relay, store) => {
    relay.onAnswer = once();
    assertEquals(await store.commit(claim), true);
    assertEquals((await store.get(["claim"]))?.value, "mine");
    assertEquals(await store.commit(claim), false); // another commit with the same check
  },
);

relayTest("A commit whose request is lost happens once", async (relay, store) => {
  relay.onRequest = once();
  assertEquals(await store.commit(claim), true);
  assertEquals((await store.get(["effect"]))?.value, 1);
});

relayTest(
  "A change whose answer is lost is reported as done, although its check no longer holds",
  async (relay, store) => {
    await store.commit(claim);
    const version = (await store.get(["effect"]))?.version ?? null;
    relay.onAnswer = once();
    const change: Commit = {
      checks: [{ key: ["effect"], version }],
      writes: [{ kind: "set", key: ["effect"], value: 2 }],
    };
    assertEquals(await store.commit(change), true);
    assertEquals((await store.get(["effect"]))?.value, 2);
  },
);

relayTest("A read whose connection is lost is repeated", async (relay, store) => {
  for (const lose of [() => relay.onRequest = once(), () => relay.onAnswer = once()]) {
    lose();
    assertEquals((await store.get(["warm"]))?.value, 1);
    lose();
    assertEquals((await store.getMany(["warm", "cold"].map((part) => [part]))).map((entry) => entry?.value), [
      1,
      undefined,
    ]);
    lose();
    assertEquals((await store.list({ prefix: [], limit: 2 })).length, 1);
  }
});

relayTest(
  "While the database is away a read fails within 10 s and a commit too, and both work when it is back",
  async (relay, store) => {
    relay.onRequest = () => false;
    const began = performance.now();
    await assertRejects(() => store.get(["claim"]), StoreFailure);
    assert(performance.now() - began < 10_000);
    relay.onRequest = () => true;
    assertEquals(await store.commit(claim), true);
    assertEquals((await store.get(["claim"]))?.value, "mine");
  },
);

relayTest(
  "A server that falls silent is left after 3 s, and its commit is found again",
  async (relay, store) => {
    let isSilent = true;
    relay.onAnswer = () => isSilent ? "hold" : true;
    const committed = store.commit(claim);
    setTimeout(() => isSilent = false, 3500);
    assertEquals(await committed, true);
    assertEquals((await store.get(["effect"]))?.value, 1);
  },
);
