/** How the platform fetches participants' keys and what it does without them (Decision A9; checklist DC4, DC-N22). */
import { assertEquals, assertMatch } from "@std/assert";
import {
  addKey,
  endless,
  FAILURES,
  fetchedAnew,
  forUrls,
  keyUrls,
  readiness,
  serving,
} from "../../support/directory_network.ts";
import {
  authorize,
  Browser,
  call,
  clientToken,
  createConsent,
  good,
  push,
  requestToken,
  returnPath,
  toBank,
} from "../../../scripts/testing/flows.ts";
import { testKey } from "../../../scripts/testing/keys.ts";
import { onboardOnly } from "../../../scripts/testing/participants.ts";
import {
  assertRefused,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
} from "../../../scripts/testing/registration.ts";
import { statementWith } from "../../../scripts/testing/registration.ts";
import { errorBody, unchanged } from "../../../scripts/testing/resource_answers.ts";
import { DIRECTORY_URL, openWorld, type World } from "../../../scripts/testing/environment.ts";

async function tokenStatus(world: World): Promise<number> {
  return (await requestToken(world, world.tpp)).status;
}

Deno.test("POST register answers 503 without the participant's key set, stores nothing, and works after [DC-N22] [DC4]", async (t) => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(world, NEWCOMER);
  const [jwks = "", revoked = ""] = keyUrls(newcomer);
  for (const [name, fail] of Object.entries(FAILURES)) {
    for (const [list, broken] of Object.entries({ "keys": jwks, "revoked keys": revoked })) {
      await t.step(`${list}: ${name}`, async () => {
        world.network = forUrls(world, ({ href }) => href === broken, fail());
        world.fetched.length = 0;
        const attempt = (): Promise<Response> => postRegistration(world, newcomer);
        const response = await assertRefused(world, attempt, 503, "temporarily_unavailable");
        assertEquals(response.headers.get("retry-after"), "30");
        assertEquals(fetchedAnew(world).toSorted(), [jwks, revoked]); // no redirect was followed
      });
    }
  }
  await t.step("and 201 once the directory is back", async () => {
    world.network = (request) => world.directory.fetch(request);
    assertEquals((await postRegistration(world, newcomer)).status, 201);
  });
});

Deno.test("POST register answers 503 without the directory's own keys [DC-N22] [DC2]", async () => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(world, NEWCOMER);
  world.now += 900_001;
  fetchedAnew(world);
  world.network = forUrls(world, ({ pathname }) => pathname === "/jwks", serving("<html>"));
  const attempt = (): Promise<Response> => postRegistration(world, newcomer);
  const response = await assertRefused(world, attempt, 503, "temporarily_unavailable");
  assertEquals(response.headers.get("retry-after"), "30");
  await assertRefused(world, attempt, 503, "temporarily_unavailable");
  assertEquals(fetchedAnew(world), [`${DIRECTORY_URL}/jwks`]); // once in 30 s
  world.network = (request) => world.directory.fetch(request);
  world.now += 30_000;
  assertEquals((await postRegistration(world, newcomer)).status, 201);
});

Deno.test("POST register takes a statement by a new key of the directory once it may ask again [DC2] [A9]", async () => {
  await using world = await openWorld(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(world, NEWCOMER);
  const signer = { key: await testKey(15), kid: "new" };
  world.network = forUrls(world, ({ pathname }) => pathname === "/jwks", async (request) => {
    const { keys } = await (await world.directory.fetch(request)).json();
    return Response.json({ keys: [...keys, { ...signer.key.publicJwk, kid: "new", use: "sig" }] });
  });
  const statement = await statementWith(newcomer, { signer });
  const attempt = (): Promise<Response> => postRegistration(world, newcomer, { statement });
  await assertRefused(world, attempt, 400, "invalid_software_statement");
  world.now += 30_000;
  assertEquals((await attempt()).status, 201);
});

Deno.test("a key set of exactly 256 KiB is read, of a longer one no more than that [A9]", async (t) => {
  await using world = await openWorld();
  const active = (url: URL): boolean => url.href === keyUrls(world.tpp)[0];
  await t.step("262,144 bytes", async () => {
    const [url = ""] = keyUrls(world.tpp);
    const keys = await (await world.directory.fetch(new Request(url))).text();
    world.network = forUrls(world, active, serving(keys.padEnd(262_144)));
    world.now += 300_000;
    assertEquals([await tokenStatus(world), (await readiness(world)).body.parts["directory"]], [200, {
      ok: true,
    }]);
  });
  await t.step("more", async () => {
    const stream = endless();
    world.network = forUrls(world, active, stream.network);
    world.now += 300_000;
    assertEquals(await tokenStatus(world), 200); // by the last good copy
    assertEquals([stream.cancelled(), stream.sent() <= 6 * 65_536], [true, true]);
  });
});

Deno.test("a directory that does not answer is given up after 2 seconds [A9]", async () => {
  await using world = await openWorld();
  const timeouts: number[] = [];
  const real = AbortSignal.timeout;
  AbortSignal.timeout = (milliseconds): AbortSignal => {
    timeouts.push(milliseconds);
    return AbortSignal.abort(new DOMException("timed out", "TimeoutError"));
  };
  try {
    world.network = (request) =>
      new Promise((_, reject) => {
        if (request.signal.aborted) reject(request.signal.reason);
      });
    world.now += 300_000;
    assertEquals(await tokenStatus(world), 200);
  } finally {
    AbortSignal.timeout = real;
  }
  assertEquals(timeouts, [2000, 2000, 2000]); // the status list and both key sets
  assertMatch(world.logged.join("\n"), /participants\.keys_unavailable.*TimeoutError/);
});

Deno.test("key sets are used for 300 s and fetched once for any number of calls [A9]", async (t) => {
  await using world = await openWorld();
  fetchedAnew(world);
  await t.step("not again before 300 s", async () => {
    assertEquals(await tokenStatus(world), 200);
    world.now += 299_999;
    assertEquals(await tokenStatus(world), 200);
    assertEquals(fetchedAnew(world), []);
  });
  await t.step("once at 300 s", async () => {
    world.now += 1;
    assertEquals(await tokenStatus(world), 200);
    assertEquals(await tokenStatus(world), 200);
    assertEquals(fetchedAnew(world), keyUrls(world.tpp));
  });
  await t.step("once for parallel calls after a long silence", async () => {
    world.now += 2_000_000;
    const statuses = await Promise.all(Array.from({ length: 5 }, () => tokenStatus(world)));
    assertEquals(statuses, [200, 200, 200, 200, 200]);
    assertEquals(fetchedAnew(world), keyUrls(world.tpp));
  });
});

Deno.test("an unknown kid is asked for again, once in 30 s [A9]", async (t) => {
  await using world = await openWorld();
  const { tpp } = world;
  const stranger = { ...tpp, signing: { ...tpp.signing, kid: "unknown" } };
  world.now += 29_999;
  fetchedAnew(world);
  await t.step("not within 30 s of the last fetch", async () => {
    assertEquals((await requestToken(world, stranger)).status, 401);
    assertEquals(fetchedAnew(world), []);
  });
  await t.step("after 30 s, once", async () => {
    world.now += 1;
    for (let n = 0; n < 3; n++) assertEquals((await requestToken(world, stranger)).status, 401);
    assertEquals(fetchedAnew(world), keyUrls(tpp));
  });
  await t.step("for a strange certificate as well", async () => {
    world.now += 30_000;
    for (let n = 0; n < 3; n++) {
      assertEquals((await requestToken(world, tpp, "BANKA", { as: world.otherTpp })).status, 401);
    }
    assertEquals(fetchedAnew(world), keyUrls(tpp));
  });
  await t.step("and that renews the copy", async () => {
    world.now += 299_999;
    assertEquals(await tokenStatus(world), 200);
    assertEquals(fetchedAnew(world), []);
  });
});

Deno.test("parallel calls by a new key are all served by the one fetch that finds it [A9]", async () => {
  await using world = await openWorld();
  const { tpp } = world;
  const signing = await addKey(world, tpp, "signing", 10);
  world.now += 30_000;
  fetchedAnew(world);
  const calls = Array.from({ length: 4 }, () => requestToken(world, { ...tpp, signing }));
  assertEquals((await Promise.all(calls)).map(({ status }) => status), [200, 200, 200, 200]);
  assertEquals(fetchedAnew(world), keyUrls(tpp));
});

Deno.test("running traffic goes on for 900 s without the directory, which is asked once in 30 s [A9]", async (t) => {
  await using world = await openWorld();
  for (const [name, fail] of Object.entries(FAILURES)) {
    await t.step(name, async () => {
      world.network = (request) => world.directory.fetch(request);
      world.now += 300_000;
      const bound = await clientToken(world, world.tpp); // with a fresh copy
      const { ConsentId } = (await createConsent(world, bound)).Data;
      world.network = fail();
      fetchedAnew(world);
      for (const [after, fetches] of [[300_000, 2], [29_999, 0], [1, 2], [569_999, 2], [1, 0]] as const) {
        world.now += after;
        assertEquals(await tokenStatus(world), 200);
        const path = `/BANKA/domestic-payment-consents/v1/${ConsentId}`;
        assertEquals((await call(world, world.tpp, bound, path)).status, 200);
        assertEquals(fetchedAnew(world).length, fetches);
      }
      world.now += 1;
      assertEquals(await tokenStatus(world), 503);
    });
  }
});

Deno.test("nothing is trusted once the copy is older than 900 s: 503 everywhere, nothing changes [A9]", async (t) => {
  await using world = await openWorld();
  const { tpp, bankA } = world;
  const bound = await clientToken(world, tpp);
  const path = `/BANKA/domestic-payment-consents/v1/${(await createConsent(world, bound)).Data.ConsentId}`;
  world.now += 299_999;
  const flow = await toBank(world);
  const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
  const [jwks = ""] = keyUrls(tpp);
  world.network = FAILURES["unreachable"]?.() ?? world.network;
  world.now += 599_999;
  const returning = await returnPath(world, bankA, flow.handover);
  world.now += 3;
  await t.step("token", async () => {
    const response = await unchanged(world, () => requestToken(world, tpp));
    assertEquals([response.status, response.headers.get("retry-after")], [503, "30"]);
    assertEquals((await response.json()).error, "temporarily_unavailable");
  });
  await t.step("GET consent", async () => {
    const response = await unchanged(world, () => call(world, tpp, bound, path));
    assertEquals(response.headers.get("retry-after"), "30");
    assertEquals((await errorBody(response, 503)).Errors[0].ErrorCode, "UK.OBIE.UnexpectedError");
  });
  await t.step("the bank's return", async () => {
    const response = await unchanged(world, () => flow.browser.open(returning));
    assertEquals([response.status, response.headers.get("location")], [503, null]);
  });
  await t.step("the log names the URL and the reason", () => {
    const line = world.logged.find((text) =>
      text.includes("participants.keys_unavailable") && text.includes(jwks)
    );
    assertMatch(line ?? "", /"why":"TypeError"/);
  });
  await t.step("traffic is back within 30 s of the directory", async () => {
    world.network = (request) => world.directory.fetch(request);
    world.now += 30_000;
    assertEquals(await tokenStatus(world), 200);
    assertEquals((await call(world, tpp, bound, path)).status, 200);
  });
  await t.step("but the link of 15 minutes ago is over", async () => {
    assertEquals((await authorize(new Browser(world), tpp, pushed.request_uri)).status, 400);
  });
});

Deno.test("GET authorization answers 503 with a page while the TPP's keys are too old [A9]", async () => {
  await using world = await openWorld();
  const bound = await clientToken(world, world.tpp);
  world.now += 299_999;
  const { ConsentId } = (await createConsent(world, bound)).Data;
  world.now += 290_000;
  world.network = FAILURES["HTML"]?.() ?? world.network;
  const pushed = await good(push(world, ConsentId), 201);
  world.now += 310_002;
  const response = await unchanged(
    world,
    () => authorize(new Browser(world), world.tpp, pushed.request_uri),
  );
  assertEquals([response.status, response.headers.get("retry-after")], [503, "30"]);
  assertMatch(response.headers.get("content-type") ?? "", /^text\/html/);
});

Deno.test("GET authorization goes back to the TPP while the bank's keys are too old [A9] [B5]", async () => {
  await using world = await openWorld();
  const { tpp } = world;
  world.network = forUrls(world, ({ pathname }) => pathname.includes("/BANKA/"), serving("<html>"));
  world.now += 900_001;
  const bound = await clientToken(world, tpp);
  const pushed = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
  const response = await unchanged(world, () => authorize(new Browser(world), tpp, pushed.request_uri));
  const to = new URL(response.headers.get("location") ?? "");
  assertEquals([response.status, to.origin], [303, "https://shop.example"]);
  assertEquals(to.searchParams.get("error"), "temporarily_unavailable");
});
