/**
 * Key sets that are wrong, ambiguous or revoked, and whether JWTs by their keys are accepted at each place (contract J1
 * to J38).
 */
import { assertEquals } from "@std/assert";
import { bodyOf, rejectionOf } from "testing/answers.ts";
import { requestToken } from "testing/flows.ts";
import { forged, INVALID, pss, takenEverywhere, wrong } from "support/jwt_attacks.ts";
import {
  assertionPlaces,
  jwtPlaces,
  registrationPlaces,
  returnPlace,
  signaturePlaces,
} from "support/jwt_places.ts";
import { type JwtPlace } from "support/jwt_place.ts";
import { signJwt, thumbprint } from "testing/jwts.ts";
import { smallTestKey, type TestKey, testKey } from "testing/keys.ts";
import { type ExpectedFault } from "testing/resource_answers.ts";
import { AUTH_URL, DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

/** The owner of the edited key sets: all participants, or the directory. */
type Publisher = "participants" | "directory";
type PublishedKey = Readonly<Record<string, unknown>> & { readonly n: string };
type PublishedKeys = { readonly keys: readonly PublishedKey[] };
type Edit = (keys: readonly PublishedKey[]) => readonly PublishedKey[];

const PARTICIPANTS = /\/participants\/[^/]+\/jwks$/;
const REVOKED = /\/participants\/[^/]+\/jwks\/revoked$/;

/** Publishes these key sets as edited from now on, and makes every cached copy expire. */
function publish(env: Environment, path: RegExp, edit: Edit): void {
  env.network = async (request) => {
    const response = await env.directory.fetch(request);
    if (!path.test(new URL(request.url).pathname)) return response;
    const { keys } = await bodyOf<PublishedKeys>(response);
    return Response.json({ keys: edit(keys) });
  };
  env.now += 300_000;
}

/** Places that use this publisher's keys. Codes expire before key sets do. */
async function placesOf(env: Environment, publisher: Publisher): Promise<readonly JwtPlace[]> {
  const registering = await registrationPlaces(env);
  if (publisher === "directory") return registering.filter(({ kind }) => kind === "statement");
  return [
    ...(await assertionPlaces(env)).filter(({ name }) => !name.startsWith("code")),
    ...registering.filter(({ kind }) => kind === "registration"),
    await returnPlace(env),
    ...await signaturePlaces(env),
  ];
}

/**
 * Valid tokens, signed with the place's key or another: rejected at all places of the publisher, without state changes.
 */
async function assertRejectedBy(
  env: Environment,
  places: readonly JwtPlace[],
  by?: TestKey,
  fault: ExpectedFault = wrong("kid"),
): Promise<void> {
  for (const place of places) {
    const good = await place.parts();
    const token = await forged(good, by === undefined ? {} : { sign: pss(by) });
    await place.rejects(await unchanged(env, () => place.present(token)), fault);
  }
}

/** Each edit, at the participants' sets and at the directory's. */
async function rejectedUnder(
  t: Deno.TestContext,
  edits: Readonly<Record<string, (key: PublishedKey) => PublishedKey | readonly PublishedKey[]>>,
  by?: TestKey,
): Promise<void> {
  // A set without any usable signing key would be taken for a fault of the directory.
  const spare = await testKey(13);
  const usable = { ...spare.publicJwk, kid: await thumbprint(spare), use: "sig", alg: "PS256" };
  for (const [name, edit] of Object.entries(edits)) {
    for (const publisher of ["participants", "directory"] as const) {
      await t.step(`${publisher}: ${name}`, async () => {
        await using env = await openEnvironment();
        const places = await placesOf(env, publisher);
        const onSigning = (key: PublishedKey): readonly PublishedKey[] =>
          key.use === "sig" ? [edit(key)].flat() : [key];
        publish(
          env,
          publisher === "directory" ? /^\/jwks$/ : PARTICIPANTS,
          (keys) => [...keys.flatMap(onSigning), usable],
        );
        await assertRejectedBy(env, places, by);
      });
    }
  }
}

Deno.test("the control: good keys, published anew, are believed", async (t) => {
  await using env = await openEnvironment();
  const places = (await jwtPlaces(env)).filter(({ kind, name }) =>
    kind !== "proof" && !name.startsWith("code")
  );
  publish(env, /\/jwks$/, (keys) => keys.map((key) => ({ ...key, note: "published anew" })));
  await takenEverywhere(t, places);
});

Deno.test("a published key of 1024 bits, or in a second spelling, verifies nothing [J5] [J34]", async (t) => {
  const small = await smallTestKey();
  await rejectedUnder(t, { "a key of 1024 bits": (key) => ({ ...key, n: small.publicJwk.n }) }, small);
  await rejectedUnder(t, {
    "n with a leading zero octet": (key) => ({ ...key, n: withZero(key.n) }),
    "n padded": (key: PublishedKey) => ({ ...key, n: `${key.n}==` }),
    "e with leading zeros": (key) => ({ ...key, e: "AAEAAQ" }),
    "with its private half": (key) => ({ ...key, d: "AAAA" }),
    "with p alone": (key) => ({ ...key, p: "AAAA" }),
  });
});

Deno.test("a published key without use, for another use, operation or algorithm verifies nothing [J36]", async (t) => {
  await rejectedUnder(t, {
    "without use": ({ use: _, ...key }) => key,
    "use enc": (key) => ({ ...key, use: "enc" }),
    "use tls": (key) => ({ ...key, use: "tls" }),
    "use SIG": (key) => ({ ...key, use: "SIG" }),
    "use in a list": (key) => ({ ...key, use: ["sig"] }),
    "key_ops sign": (key) => ({ ...key, key_ops: ["sign"] }),
    "no key_ops": (key) => ({ ...key, key_ops: [] }),
    "alg RS256": (key) => ({ ...key, alg: "RS256" }),
    "alg none": (key) => ({ ...key, alg: "none" }),
    "alg null": (key) => ({ ...key, alg: null }),
    "kty EC": (key) => ({ ...key, kty: "EC" }),
    "without kid": ({ kid: _, ...key }) => key,
    "kid a number": (key) => ({ ...key, kid: 7 }),
  });
});

Deno.test("a kid that two signing keys share names neither, and one shared with another use names the signing key [J8]", async (t) => {
  const other = await testKey(15);
  const twin = (key: PublishedKey): PublishedKey => ({ ...key, ...other.publicJwk });
  const both = {
    "a second signing key behind it": (key: PublishedKey) => [key, twin(key)],
    "a second signing key before it": (key: PublishedKey) => [twin(key), key],
    "the same key twice": (key: PublishedKey) => [key, key],
    "a second signing key, its kid padded": (
      key: PublishedKey,
    ) => [key, { ...twin(key), kid: `${key.kid}=` }],
  };
  await rejectedUnder(t, both);
  await rejectedUnder(t, both, other);
  const sharing = {
    "enc": (key: PublishedKey) => [{ ...twin(key), use: "enc" }, key],
    "tls": (key: PublishedKey) => [{ ...twin(key), use: "tls" }, key],
    "RS256": (key: PublishedKey) => [{ ...twin(key), alg: "RS256" }, key],
  };
  for (const [use, edit] of Object.entries(sharing)) {
    await t.step(`a kid shared with a key for ${use}`, async (t) => {
      await using env = await openEnvironment();
      const places = await placesOf(env, "participants");
      publish(env, PARTICIPANTS, (keys) => keys.flatMap((key) => key.use === "sig" ? edit(key) : [key]));
      await assertRejectedBy(env, places.filter(({ kind }) => kind !== "signature"), other);
      await assertRejectedBy(env, places.filter(({ kind }) => kind === "signature"), other, INVALID);
      await takenEverywhere(t, places);
    });
  }
});

Deno.test("a client that publishes others' kids gets nowhere with them but in its own name [J7]", async (t) => {
  await using env = await openEnvironment();
  const places = (await jwtPlaces(env)).filter(({ kind, name }) =>
    kind !== "proof" && !name.startsWith("code")
  );
  const attacker = env.otherTpp;
  const directory = await thumbprint(await testKey(14));
  const victims = [...new Set(places.map(({ who }) => who.signing.kid)), directory];
  const home = RegExp(`/participants/${attacker.orgId}/jwks$`);
  publish(env, home, (keys) => {
    const own = keys.filter(({ use }) => use === "sig");
    return [...keys, ...victims.flatMap((kid) => own.map((key) => ({ ...key, kid })))];
  });
  for (const place of places) {
    await t.step(`${place.name}: the attacker's key under the victim's kid`, async () => {
      await assertRejectedBy(env, [place], attacker.signing.key, INVALID);
    });
  }
  await t.step("the attacker's own name with its own key under the victim's kid", async () => {
    const claims = { iss: attacker.clientId, sub: attacker.clientId, aud: `${AUTH_URL}/BANKA`, jti: "1" };
    const assertion = { ...claims, exp: env.now / 1000 + 60 };
    const signer = { key: attacker.signing.key, kid: env.tpp.signing.kid };
    const form = { client_assertion: await signJwt(signer, assertion) };
    assertEquals((await requestToken(env, attacker, "BANKA", { form })).status, 200);
    const victims = await signJwt({ ...signer, key: env.tpp.signing.key }, { ...assertion, jti: "2" });
    const rejected = await requestToken(env, attacker, "BANKA", { form: { client_assertion: victims } });
    assertEquals([rejected.status, (await rejectionOf(rejected)).error], [401, "invalid_client"]);
  });
  await takenEverywhere(t, places);
});

Deno.test("a revoked key that is still published verifies nothing, within the life of a copy [J35]", async (t) => {
  for (const use of ["sig", "tls"] as const) {
    await t.step(`use ${use}`, async (t) => {
      await using env = await openEnvironment();
      const places = await placesOf(env, "participants");
      const active = async (request: Request): Promise<readonly PublishedKey[]> => {
        const url = request.url.replace(/\/revoked$/, "");
        return (await bodyOf<PublishedKeys>(env.directory.fetch(new Request(url)))).keys;
      };
      env.network = async (request) => {
        if (!REVOKED.test(new URL(request.url).pathname)) return await env.directory.fetch(request);
        return Response.json({ keys: (await active(request)).filter((key) => key.use === use) });
      };
      env.now += 300_000;
      for (const place of places) {
        if (use === "tls" && place.kind === "return") continue; // browsers have no certificate
        await t.step(place.name, async () => {
          if (use === "sig") return await assertRejectedBy(env, [place]);
          const token = await forged(await place.parts());
          assertEquals((await unchanged(env, () => place.present(token))).status, 401);
        });
      }
    });
  }
});

Deno.test("where no list of revoked keys was heard for 15 minutes nothing is verified at all: 503 [J35]", async (t) => {
  await using env = await openEnvironment();
  const places = await placesOf(env, "participants");
  const asked: string[] = [];
  env.network = (request) => {
    if (!REVOKED.test(new URL(request.url).pathname)) return env.directory.fetch(request);
    asked.push(request.url);
    return Promise.resolve(new Response(null, { status: 503 }));
  };
  env.now += 900_001;
  await stepsOf(t, places, (place) => place.name, async (place) => {
    const token = await forged(await place.parts());
    const answer = await unchanged(env, () => place.present(token));
    assertEquals([answer.status, answer.headers.get("retry-after")], [503, "30"]);
  });
  assertEquals(asked.every((url) => url.startsWith(DIRECTORY_URL)) && asked.length > 0, true);
});

function withZero(n: string): string {
  const octets = Uint8Array.fromBase64(n, { alphabet: "base64url" });
  return new Uint8Array([0, ...octets]).toBase64({ alphabet: "base64url", omitPadding: true });
}
