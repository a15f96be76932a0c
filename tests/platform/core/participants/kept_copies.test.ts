/**
 * Two processes keep copies of one document of the directory at the same time (Decision A9). A copy's age and version
 * are those of the moment when it was asked for, however long the answer takes (Decision A9). Requests that wait for
 * one fetch of the directory: they keep no place in work from the request that fetches. Where the platform may fetch
 * keys from, and how it asks (Decision A9; contract DC4).
 */
import { assertEquals } from "@std/assert";
import { openLog } from "../../../../src/base/observability/log.ts";
import type { ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { ok } from "../../../../src/base/kernel/result.ts";
import type { Commit, Store } from "../../../../src/base/store/store.ts";
import { keepCopies } from "../../../../src/platform/core/participants/kept_copy_store.ts";
import { openTestStore } from "testing/test_store.ts";
import { openParticipantKeys } from "../../../../src/platform/core/participants/participant_keys.ts";
import { renewedCopy } from "../../../../src/platform/core/participants/renewed_copy.ts";
import { openEnvironment } from "testing/environment.ts";
import { pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { guardedFetch, isAllowedUrl } from "../../../../src/platform/core/participants/guarded_fetch.ts";

const FORM = {
  write: (value: string): unknown => value,
  read: (document: unknown) => Promise.resolve(ok(String(document))),
};
const log = openLog({ clock: () => 0, sink: () => {}, level: "error" });

/** A store, and a process that keeps "newer" there and waits for `go` when its pieces are written and its head is not. */
async function openRace() {
  const store = await openTestStore();
  const copyAt = (changed: Partial<Store>) =>
    keepCopies({ store: { ...store, ...changed }, clock: Date.now, log })(
      "https://directory.example/jwks",
      FORM,
    );
  const [hasPieces, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const newer = copyAt({
    async commit(staged: Commit) {
      if (staged.writes.some(({ key }) => key[0] === "kept_copy")) {
        hasPieces.resolve();
        await mayGoOn.promise;
      }
      return await store.commit(staged);
    },
  });
  let keeping: Promise<void> | undefined;
  /** Lists as another process does that meets the pieces of "newer". */
  const list: Store["list"] = async (selection) => {
    keeping ??= newer.keep({ value: "newer", fetchedAt: 20, version: 2 });
    await hasPieces.promise;
    return await store.list(selection);
  };
  const finishNewer = async (): Promise<void> => {
    mayGoOn.resolve();
    await keeping;
  };
  return { store, copyAt, newer, list, finishNewer };
}

Deno.test("a process removes no pieces of the newer document that another one keeps meanwhile [A9]", async () => {
  const { store, copyAt, list, finishNewer } = await openRace();
  const older = copyAt({
    list,
    async commit(staged: Commit) {
      if (staged.writes.some(({ kind }) => kind === "delete")) await finishNewer();
      return await store.commit(staged);
    },
  });
  await older.keep({ value: "older", fetchedAt: 10, version: 1 });
  assertEquals((await copyAt({}).load())?.value, "newer");
  await store.close();
});

Deno.test("a process whose pieces were removed before its head keeps no copy then, and a whole one later [A9]", async () => {
  const { store, copyAt, newer, list, finishNewer } = await openRace();
  await copyAt({ list }).keep({ value: "older", fetchedAt: 10, version: 1 });
  await finishNewer();
  assertEquals((await copyAt({}).load())?.value, "older");
  await newer.keep({ value: "newer", fetchedAt: 30, version: 2 });
  assertEquals((await copyAt({}).load())?.value, "newer");
  await store.close();
});

Deno.test("a stored copy is renewed at once with another content or version, and after a minute with the same [A9]", async () => {
  const { store, copyAt } = await openRace();
  const keptAt = async (fetchedAt: number, value: string, version: number): Promise<unknown> => {
    await copyAt({}).keep({ value, fetchedAt, version });
    const kept = await copyAt({}).load();
    return [kept?.fetchedAt, kept?.value, kept?.version];
  };
  assertEquals(await keptAt(0, "one", 1), [0, "one", 1]);
  assertEquals(await keptAt(59_999, "one", 1), [0, "one", 1]);
  assertEquals(await keptAt(60_000, "one", 1), [60_000, "one", 1]);
  assertEquals(await keptAt(60_000, "one", 2), [60_000, "one", 2]);
  assertEquals(await keptAt(60_001, "other", 2), [60_001, "other", 2]);
  assertEquals(await keptAt(60_000, "older", 3), [60_001, "other", 2]);
  await store.close();
});

Deno.test("background work uses the stored keys of any age, unless the directory lists another version of them [A9]", async () => {
  const urls = {
    jwksUri: "https://directory.example/jwks",
    revokedJwksUri: "https://directory.example/revoked",
  };
  const stored = { active: ["stored"], revoked: [] };
  const fetched = { active: [urls.jwksUri], revoked: [urls.revokedJwksUri] };
  for (
    const [kept, listed, expected] of [
      [undefined, undefined, stored],
      [undefined, 3, fetched],
      [3, undefined, stored],
      [3, 3, stored],
      [3, 4, fetched],
      ["nothing", undefined, fetched],
    ] as const
  ) {
    const store = await openTestStore();
    const keep = keepCopies({ store, clock: Date.now, log });
    const copy = keep(`${urls.jwksUri} ${urls.revokedJwksUri}`, { ...FORM, write: () => stored });
    if (kept !== "nothing") await copy.keep({ value: "", fetchedAt: 0, version: kept });
    const keys = openParticipantKeys({
      fetchJson: (url) => Promise.resolve(ok({ keys: [url] })),
      ages: () => 10 * 86_400_000,
      keep,
      log,
      listed: () => listed === undefined ? undefined : { version: listed, standing: "active" },
    });
    assertEquals(
      await keys.published({ clientId: "shop" as ClientId, ...urls }),
      expected,
      `${kept} ${listed}`,
    );
    await store.close();
  }
});

const NOTHING_KEPT = { load: () => Promise.resolve(undefined), keep: () => Promise.resolve() };
const TIMES = { fresh: 300_000, retry: 30_000 };

Deno.test("read fetches again what was published while the fetch before was under way [A9]", async () => {
  const directory = slowDirectory();
  let version = 1;
  const copy = renewedCopy({
    ages: () => 0,
    kept: NOTHING_KEPT,
    name: "keys",
    times: TIMES,
    fetch: directory.fetch,
    version: () => version,
  });
  const first = copy.read();
  await directory.asked;
  version = 2; // a key is revoked, and the status list shows it, before the answer has arrived
  directory.answer("with the key");
  await first;
  const second = copy.read();
  directory.answer("without it");
  assertEquals(await second, "without it");
});

Deno.test("read counts a copy's age from the request, not from the answer [A9]", async () => {
  const directory = slowDirectory();
  let now = 0;
  const copy = renewedCopy({
    ages: () => now,
    kept: NOTHING_KEPT,
    name: "keys",
    times: TIMES,
    fetch: directory.fetch,
  });
  const first = copy.read();
  await directory.asked;
  now = 2000;
  directory.answer("old");
  await first;
  now = TIMES.fresh;
  const second = copy.read();
  directory.answer("new");
  assertEquals(await second, "new");
});

Deno.test("background work fetches after the stored copy was loaded, which is not put in place of the newer one [A9]", async () => {
  for (const act of ["refresh", "read"] as const) {
    const formers: (string | undefined)[] = [];
    const load = async () => {
      await new Promise((resolve) => setTimeout(resolve));
      return { value: "stored", fetchedAt: 0, version: undefined };
    };
    const fetch = (former: string | undefined) => {
      formers.push(former);
      return Promise.resolve(ok("newer"));
    };
    const kept = { ...NOTHING_KEPT, load };
    const copy = renewedCopy<string>({ ages: () => TIMES.fresh, kept, name: "list", times: TIMES, fetch });
    await copy[act]();
    assertEquals([formers, copy.peek()], [["stored"], "newer"], act);
  }
});

Deno.test("find asks again for what the directory is known to have, if the fetch under way began before [A9, DC3]", async () => {
  for (const urgency of ["at once", "soon", undefined] as const) {
    const directory = slowDirectory();
    let now = 0;
    const [ages, times] = [() => now, { fresh: 13_000, retry: 10_000 }];
    const copy = renewedCopy({ ages, kept: NOTHING_KEPT, name: "list", times, fetch: directory.fetch });
    directory.answer("without it");
    await copy.read();
    now += times.retry;
    const refreshing = copy.refresh(); // background work
    now += 1000; // then the participant is onboarded, and registers
    const found = copy.find((list) => list === "with it" ? list : undefined, urgency);
    directory.answer("without it");
    directory.answer("with it");
    assertEquals(await found, urgency === undefined ? undefined : "with it", urgency);
    await refreshing;
  }
});

/** A directory whose answers arrive when the test says so, in the order of the requests. */
function slowDirectory(): {
  fetch(): Promise<ReturnType<typeof ok<string>>>;
  answer(value: string): void;
  /** Resolves with the first request. */
  readonly asked: Promise<void>;
} {
  const first = Promise.withResolvers<void>();
  const answers = Array.from({ length: 3 }, () => Promise.withResolvers<ReturnType<typeof ok<string>>>());
  const [asked, answered] = [[...answers], [...answers]];
  return {
    asked: first.promise,
    fetch() {
      first.resolve();
      return asked.shift()?.promise ?? Promise.reject(new Error("asked too often"));
    },
    answer: (value) => answered.shift()?.resolve(ok(value)),
  };
}

/** More than there are places for participants. */
const REQUESTS = 40;
const PATIENCE_MS = 20_000;

Deno.test("more requests than places wait for one fetch of a key set, and all go on", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_REQUESTS_IN_WORK: "8" } });
  const flow = await authorised(env);
  env.now += 301_000; // every copy is old
  const directory = env.network;
  const gate = Promise.withResolvers<void>();
  env.network = async (request) => {
    await gate.promise;
    return await directory(request);
  };
  const asked = env.fetched.length;
  const requests = Array.from({ length: REQUESTS }, async () => {
    const response = await pay(env, flow); // payments may take every place
    await response.body?.cancel();
    return response.status;
  });
  const settled = Promise.all(requests);
  while (env.fetched.length === asked) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 200)); // the others have come as far as they can
  gate.resolve();
  const late = Promise.withResolvers<readonly number[]>();
  const timer = setTimeout(() => late.resolve([]), PATIENCE_MS);
  assertEquals((await Promise.race([settled, late.promise])).toSorted(), [
    201,
    ...Array(REQUESTS - 1).fill(400),
  ]);
  clearTimeout(timer);
});

const HOSTS = ["directory.example", "keys.example:8443", "localhost:8442", "127.0.0.1:8442", "[::1]:8442"];
const PRODUCTION = { allowedHosts: HOSTS, loopbackHttp: false };
const SANDBOX = { allowedHosts: HOSTS, loopbackHttp: true };

Deno.test("isAllowedUrl allows https to the listed hosts and ports [A9]", () => {
  for (
    const url of [
      "https://directory.example/jwks",
      "https://directory.example:443/jwks",
      "https://DIRECTORY.example/jwks?a=1",
      "https://keys.example:8443/participants/x/jwks",
    ]
  ) assertEquals([url, isAllowedUrl(PRODUCTION, url)], [url, true]);
});

Deno.test("isAllowedUrl rejects every other host, port, scheme and spelling [A9] [DC4]", () => {
  for (
    const url of [
      "https://evil.example/jwks",
      "https://directory.example.evil.example/jwks",
      "https://sub.directory.example/jwks",
      "https://directory.example.:443/jwks",
      "https://directory.example:8443/jwks",
      "https://keys.example/jwks",
      "https://directory.example@evil.example/jwks",
      "https://user@directory.example/jwks",
      "https://:secret@directory.example/jwks",
      "https://directory.example\\@evil.example/jwks",
      "https://169.254.169.254/latest/meta-data",
      "https://[fd00:ec2::254]/latest",
      "http://directory.example/jwks",
      "ftp://directory.example/jwks",
      "file:///etc/passwd",
      "data:application/json,{}",
      "blob:https://directory.example/1",
      "javascript:1",
      "//directory.example/jwks",
      "/jwks",
      "",
    ]
  ) {
    // "\" is "/" in an https URL, so that one does name the directory; what matters is that both readers agree.
    const expected = url === "https://directory.example\\@evil.example/jwks";
    assertEquals([url, isAllowedUrl(PRODUCTION, url)], [url, expected]);
    assertEquals([url, isAllowedUrl(SANDBOX, url)], [url, expected]);
  }
});

Deno.test("isAllowedUrl allows http in the sandbox only, and there on this computer only [A9]", () => {
  for (const host of ["localhost:8442", "127.0.0.1:8442", "[::1]:8442"]) {
    assertEquals([isAllowedUrl(PRODUCTION, `http://${host}/jwks`)], [false]);
    assertEquals([isAllowedUrl(SANDBOX, `http://${host}/jwks`)], [true]);
  }
  for (const host of ["localhost", "localhost:8443", "127.0.0.2:8442", "directory.example", "0.0.0.0:8442"]) {
    assertEquals([host, isAllowedUrl(SANDBOX, `http://${host}/jwks`)], [host, false]);
  }
});

Deno.test("guardedFetch sends nothing to a URL that is not allowed [A9]", async () => {
  const asked: string[] = [];
  const fetchJson = guardedFetch({
    ...PRODUCTION,
    fetch: (input): Promise<Response> => {
      asked.push(String(input));
      return Promise.resolve(Response.json({}));
    },
  });
  assertEquals(await fetchJson("http://localhost:8442/jwks"), {
    ok: false,
    fault: { why: "url not allowed" },
  });
  assertEquals(asked, []);
  assertEquals(await fetchJson("https://directory.example/jwks"), { ok: true, value: {} });
  assertEquals(asked, ["https://directory.example/jwks"]);
});

Deno.test("guardedFetch asks without credentials, for JSON, and follows no redirect [A9]", async () => {
  const requests: Request[] = [];
  const fetchJson = guardedFetch({
    ...PRODUCTION,
    fetch: (input, init): Promise<Response> => {
      requests.push(new Request(input, init));
      return Promise.resolve(
        new Response(null, { status: 302, headers: { location: "https://directory.example/other" } }),
      );
    },
  });
  assertEquals(await fetchJson("https://directory.example/jwks"), {
    ok: false,
    fault: { why: "status 302" },
  });
  const [request] = requests;
  assertEquals(requests.length, 1);
  assertEquals([request?.method, request?.redirect], ["GET", "manual"]);
  assertEquals([...request?.headers ?? []], [["accept", "application/json"]]);
});
