/** Who the person of a provider's token is, and when the provider's keys are fetched. */
import { assertEquals, assertRejects } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Person } from "../../../../src/base/http/bearer.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { because, ok } from "../../../../src/base/kernel/result.ts";
import type { OidcSettings } from "../../../../src/platform/config/operators_config.ts";
import {
  openOidcOperators,
  personOf,
  withOidc,
} from "../../../../src/platform/guards/security/oidc_operators.ts";

const SETTINGS: OidcSettings = {
  issuer: "https://id.example/tenant/",
  audience: "https://operations.example",
  rolesClaim: "roles",
  organisationClaim: "org",
};
const METADATA = `${SETTINGS.issuer}.well-known/openid-configuration`;
const KEYS = "https://id.example/keys";

Deno.test("the person of a token is an operator or a participant, never both [OP12, OWN1]", () => {
  const operator = (...roles: string[]): Person => ({
    name: "maria@id.example",
    roles,
    person: "maria@id.example",
  });
  const nothing = { name: "maria@id.example", roles: [] };
  const cases: readonly (readonly [claims: object, person: Person | undefined, without?: true])[] = [
    [{ roles: "viewer  auditor root" }, operator("viewer", "auditor")],
    [{ roles: ["viewer", 7, "participants"] }, operator("viewer")],
    [{ roles: { viewer: true } }, operator()],
    [{}, operator()],
    [{ roles: "viewer", org: "BANKA" }, nothing],
    [{ roles: "viewer", org: "BANKA" }, operator("viewer"), true],
    [{ roles: "participant viewer" }, nothing],
    [{ roles: "participant viewer" }, operator("viewer"), true],
    [{ roles: "participant viewer", org: "" }, nothing],
    [{ roles: "participant viewer", org: 7 }, nothing],
    [{ roles: "participant viewer", org: "BANKA" }, {
      name: "maria@id.example",
      roles: ["participant"],
      organisation: "BANKA",
    }],
    [{ sub: undefined }, undefined],
    [{ sub: 7 }, undefined],
    [{ sub: "" }, undefined],
    [{ sub: "ma ria" }, undefined],
    [{ sub: "m".repeat(129) }, undefined],
    [{ sub: "m".repeat(128) }, {
      name: `${"m".repeat(128)}@id.example`,
      roles: [],
      person: `${"m".repeat(128)}@id.example`,
    }],
  ];
  const { organisationClaim: _, ...noOrganisations } = SETTINGS;
  for (const [claims, person, without] of cases) {
    const settings = without ? noOrganisations : SETTINGS;
    assertEquals(personOf(settings, { sub: "maria", ...claims }), person, JSON.stringify(claims));
  }
});

/** Operators of a provider that answers as a test says, at a time of its own. */
function openProvider(): {
  readonly identify: (token: string) => Promise<unknown>;
  readonly answers: Map<string, unknown>;
  readonly fetched: string[];
  readonly logged: unknown[];
  now: number;
} {
  const [answers, fetched, logged] = [new Map<string, unknown>(), [] as string[], [] as unknown[]];
  const log = { warn: (...line: unknown[]) => void logged.push(line) } as never;
  const clock = { now: 1_900_000_000_000 };
  const { identify } = openOidcOperators({
    settings: SETTINGS,
    fetchJson(url) {
      fetched.push(url);
      const answer = answers.get(url);
      return Promise.resolve(answer === undefined ? because("no answer") : ok(answer));
    },
    clock: () => clock.now,
    steady: () => clock.now,
    log,
  });
  return Object.assign(clock, { identify, answers, fetched, logged });
}

Deno.test("without the provider's keys its tokens are answered 503, and the log says why [OP12]", async () => {
  const metadata = { issuer: SETTINGS.issuer, jwks_uri: KEYS };
  const cases: readonly (readonly [why: string, metadata?: unknown, keys?: unknown])[] = [
    ["no answer"],
    ["no metadata of this issuer", []],
    ["no metadata of this issuer", { ...metadata, jwks_uri: "keys" }],
    ["no metadata of this issuer", { ...metadata, issuer: "https://id.example/tenant" }],
    ["no answer", metadata],
    ["no key set", metadata, { keys: [] }],
    ["no key set", metadata, { keys: [{ kid: "a" }] }],
    ["no key set", metadata, { keys: Array(51).fill({ kty: "EC" }) }],
  ];
  for (const [why, ...answers] of cases) {
    const provider = openProvider();
    [METADATA, KEYS].forEach((url, at) => provider.answers.set(url, answers[at]));
    const { reason, parts } = await assertRejects(() => provider.identify("a.b.c"), ApiError);
    assertEquals([reason, parts], ["platform.unavailable", {
      detail: "the keys of the operators' OpenID provider are not available",
      retryAfterSeconds: 10,
    }]);
    assertEquals(provider.logged, [["operator.provider_unavailable", { issuer: SETTINGS.issuer, why }]]);
  }
});

Deno.test("the provider's keys are fetched every 5 minutes, for an unknown key every 10 s, and used for 15 minutes [OP12]", async () => {
  const provider = openProvider();
  const { identify, answers, fetched, logged } = provider;
  const [own, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const publish = async (...keys: CryptoKey[]): Promise<void> => {
    const jwks = await Promise.all(keys.map(async (key, n) => ({ ...await exportJWK(key), kid: `k${n}` })));
    answers.set(METADATA, { issuer: SETTINGS.issuer, jwks_uri: KEYS }).set(KEYS, { keys: jwks });
  };
  const token = (kid: string, key: CryptoKey): Promise<string> =>
    new SignJWT({ client_id: "c", roles: "viewer" }).setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .setIssuer(SETTINGS.issuer).setAudience(SETTINGS.audience).setSubject("maria").setJti("1")
      .setIssuedAt(provider.now / 1000).setExpirationTime(provider.now / 1000 + 7200).sign(key);
  const maria = {
    credential: "oidc",
    name: "maria@id.example",
    roles: ["viewer"],
    person: "maria@id.example",
  };
  const [known, unknown] = [await token("k0", own.privateKey), await token("k1", other.privateKey)];
  const after = async (ms: number, sent: string): Promise<readonly [found: unknown, fetches: number]> => {
    fetched.length = 0;
    provider.now += ms;
    const found = await identify(sent).catch((error) => error instanceof ApiError ? error.reason : error);
    return [found, fetched.length / 2];
  };
  await publish(own.publicKey);
  const both = await Promise.all([identify(known), identify(known)]);
  assertEquals([both, fetched], [[maria, maria], [METADATA, KEYS]], "one fetch for parallel requests");
  assertEquals(await after(9999, unknown), [{}, 0]);
  assertEquals(logged.splice(0), [["operator.token_rejected", { why: "unknown key" }]]);
  assertEquals(await after(1, unknown), [{}, 1]);
  await publish(own.publicKey, other.publicKey);
  assertEquals(await after(9999, unknown), [{}, 0]);
  assertEquals(await after(1, unknown), [maria, 1]);
  assertEquals(await after(300_000, known), [maria, 0]);
  assertEquals(await after(1, known), [maria, 1]);
  answers.clear();
  assertEquals(await after(900_000, known), [maria, 0.5]);
  assertEquals(await after(1, known), ["platform.unavailable", 0]);
  assertEquals(await after(9999, known), ["platform.unavailable", 0.5]);
  assertEquals(await after(0, "no token"), ["platform.unavailable", 0]);
});

Deno.test("a token with three parts is looked up at the provider, another one in the file [OP12]", async () => {
  const named = (name: string) => ({
    identify: (token: string) => Promise.resolve({ name: `${name} ${token}` }),
  });
  const [file, oidc] = [named("file"), named("oidc")];
  const names = async (all: ReturnType<typeof withOidc>): Promise<readonly unknown[]> =>
    await Promise.all(["a.b", "a.b.c", "a.b.c.d"].map(async (token) => (await all?.identify(token))?.name));
  assertEquals(await names(withOidc(file, oidc)), ["file a.b", "oidc a.b.c", "file a.b.c.d"]);
  assertEquals(await names(withOidc(file, undefined)), ["file a.b", "file a.b.c", "file a.b.c.d"]);
  assertEquals(await names(withOidc(undefined, oidc)), ["oidc a.b", "oidc a.b.c", "oidc a.b.c.d"]);
});
