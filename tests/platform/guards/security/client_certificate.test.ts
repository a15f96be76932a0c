/**
 * The client certificate as each proxy hands it over (contract H1 to H23): whose it is, and what is believed.
 * `tests/properties/headers.test.ts` has malformed ones.
 */
import { assert, assertEquals } from "@std/assert";
import { X509Certificate } from "node:crypto";
import { behind, headerOf, platformBehind, SOURCES } from "support/client_certificates.ts";
import { test } from "support/environment_test.ts";
import { rejectionOf } from "testing/answers.ts";
import { call, clientToken, requestToken } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import { adminCall, type Participant, register } from "testing/participants.ts";
import { makeAuthority } from "testing/directory_environment.ts";
import { certificatePem, issue, selfSignedAuthority } from "testing/web_authority.ts";
import { AUTH_URL, BASE_URL, type Environment, PROXY_SECRET, throughProxy } from "testing/environment.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { PROXY_SECRET_HEADER } from "../../../../src/base/profile.ts";
import { certificateReader } from "../../../../src/platform/guards/security/client_certificate.ts";
import type { Platform } from "../../../../src/platform/process/compose.ts";

const DAY_MS = 86_400_000;
const CONSENT = "/BANKA/domestic-payment-consents/v1/00000000-0000-4000-8000-000000000000";

/**
 * As the TPP under these headers: token and registration return `invalid_client`, resources 401, without state changes.
 */
async function assertNoCertificate(
  env: Environment,
  platform: Platform,
  headers: Readonly<Record<string, string | null>>,
  what: string,
): Promise<void> {
  const bound = await clientToken(env, env.tpp);
  const before = await env.snapshot();
  const disguised = behind(env, platform, headers);
  const token = await requestToken(disguised, env.tpp);
  assertEquals([token.status, (await rejectionOf(token)).error], [401, "invalid_client"], what);
  const resource = await call(disguised, env.tpp, bound, CONSENT);
  await assertChallenge(resource, 401, 'DPoP error="invalid_token", algs="PS256"');
  assertEquals(await env.snapshot(), before, what);
}

test("a certificate is valid from its begin to its end, both included, and its header has 16,384 characters at most", async ({ env }) => {
  const source = "x-forwarded-client-cert";
  let now = env.now;
  const read = certificateReader({ clock: () => now, source, proxySecret: PROXY_SECRET });
  const header = headerOf(source, env.tpp.transport.certificate);
  const whyAt = async (at: number, sent = header): Promise<string> => {
    now = at;
    const found = await read(new Headers({ [PROXY_SECRET_HEADER]: PROXY_SECRET, [source]: sent }));
    return found.ok ? "valid" : found.fault.why;
  };
  const { validFrom, validTo } = new X509Certificate(certificatePem(env.tpp.transport.certificate));
  const [notBefore, notAfter] = [Date.parse(validFrom), Date.parse(validTo)];
  const over = "certificate not valid now";
  assertEquals([await whyAt(notBefore - 1), await whyAt(notBefore)], [over, "valid"]);
  assertEquals([await whyAt(notAfter), await whyAt(notAfter + 1)], ["valid", over]);
  const padded = (length: number): string =>
    header.replace("Hash=", () => `Hash=${"0".repeat(length - header.length)}`);
  const lengths = [await whyAt(env.now, padded(16_384)), await whyAt(env.now, padded(16_385))];
  assertEquals(lengths, ["valid", "malformed certificate header"]);
});

for (const source of SOURCES) {
  test(`client certificate in ${source} is the caller's, by its key alone [H12]`, async ({ env }) => {
    const platform = await platformBehind(env, source);
    const header = (who: Participant): Readonly<Record<string, string>> => ({
      [source]: headerOf(source, who.transport.certificate),
    });
    const mine = behind(env, platform, header(env.tpp));
    assertEquals((await requestToken(mine, env.tpp)).status, 200);
    const bound = await clientToken(mine, env.tpp);
    assertEquals((await call(mine, env.tpp, bound, CONSENT)).status, 400, "its own: not found");
    for (const other of [env.otherTpp, env.bankA, env.bankB]) {
      await assertNoCertificate(env, platform, header(other), other.name);
    }
    await assertNoCertificate(env, platform, {
      [source]: headerOf(source, env.tpp.signing.certificate),
    }, "its signing certificate [H11]");
  });

  test(`client certificate in ${source} counts with the proxy's secret alone [H1, H3]`, async ({ env, t }) => {
    const platform = await platformBehind(env, source);
    const good = { [source]: headerOf(source, env.tpp.transport.certificate) };
    const secrets = {
      none: null,
      empty: "",
      "its beginning": PROXY_SECRET.slice(0, -1),
      "and more": `${PROXY_SECRET}0`,
      "another of its length": "x".repeat(PROXY_SECRET.length),
      "in capitals": PROXY_SECRET.toUpperCase(),
      twice: `${PROXY_SECRET}, ${PROXY_SECRET}`,
      "beyond Latin-1's half": PROXY_SECRET.replace("a", "\u00e1"),
    };
    for (const [what, secret] of Object.entries(secrets)) {
      await t.step(
        what,
        () => assertNoCertificate(env, platform, { ...good, "x-proxy-secret": secret }, what),
      );
    }
    await t.step("the secret and no certificate", () => assertNoCertificate(env, platform, {}, "none"));
  });

  test(`client certificate in ${source} is not taken from any other header [H4, H8]`, async ({ env, t }) => {
    const platform = await platformBehind(env, source);
    const { certificate } = env.tpp.transport;
    const others = SOURCES.filter((other) => other !== source);
    for (
      const name of [
        ...others,
        ...SOURCES.map((name) => name.replaceAll("-", "_")),
        "client-cert-chain",
        "x-client-cert",
      ]
    ) {
      const headers = Object.fromEntries(
        SOURCES.map((kind) => headerOf(kind, certificate)).map((value) => [name, value]),
      );
      await t.step(name, () => assertNoCertificate(env, platform, headers, name));
    }
    await t.step("a chain beside it does not count [H8]", async () => {
      const victim = env.bankA.transport.certificate;
      const chains = [`:${victim}:`, Array(100).fill(`:${victim}:`).join(", "), "rubbish", ""];
      for (const chain of chains) {
        const headers = { [source]: headerOf(source, certificate), "client-cert-chain": chain };
        const disguised = behind(env, platform, headers);
        assertEquals((await requestToken(disguised, env.tpp)).status, 200);
        assertEquals((await requestToken(disguised, env.bankA)).status, 401);
      }
    });
  });

  test(`client certificate in ${source} is judged by its own times and key, not by its names [H9, H10, H11]`, async ({ env, t }) => {
    const platform = await platformBehind(env, source);
    const authority = await makeAuthority(new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2046, 0, 1)));
    const certify = async (
      key: number,
      order: { subject?: string; from?: number; to?: number },
    ): Promise<string> => {
      const { from = -1, to = 30, subject = `CN=${env.tpp.name}, O=${env.tpp.orgId}` } = order;
      const notBefore = new Date(env.now + from * DAY_MS);
      const notAfter = new Date(env.now + to * DAY_MS);
      const made = await issue(authority, await testKey(15), await testKey(key), {
        subject,
        notBefore,
        notAfter,
      });
      return derOf(made.certificatePem);
    };
    const rejected: readonly (readonly [string, string])[] = [
      ["over", await certify(1, { from: -2, to: -1 / DAY_MS })],
      ["not yet begun", await certify(1, { from: 2000 / DAY_MS, to: 2 })],
      ["of the same name, another key", await certify(10, {})],
      [
        "of the same name, another authority",
        derOf((await selfSignedAuthority("CN=x", await testKey(11))).certificatePem),
      ],
    ];
    for (const [what, der] of rejected) {
      await t.step(what, () => assertNoCertificate(env, platform, { [source]: headerOf(source, der) }, what));
    }
    const names = [
      'CN="a\\, b"',
      "CN=\\00",
      "CN=\u0410cme",
      'CN=a+O="b;c"',
      "CN=",
      "O=Org\\, x, CN=Bank A plc",
    ];
    for (const subject of names) {
      await t.step(`its own key, whatever its name: ${JSON.stringify(subject)}`, async () => {
        const header = { [source]: headerOf(source, await certify(1, { subject })) };
        assertEquals((await requestToken(behind(env, platform, header), env.tpp)).status, 200);
        assertEquals((await requestToken(behind(env, platform, header), env.bankA)).status, 401);
      });
    }
  });
}

test("client certificate from Envoy is found among whatever else Envoy says of the connection", async ({ env }) => {
  const platform = await platformBehind(env, "x-forwarded-client-cert");
  const good = headerOf("x-forwarded-client-cert", env.tpp.transport.certificate);
  const victim = encodeURIComponent(certificatePem(env.bankA.transport.certificate));
  const subject = String.raw`Subject="CN=\"a, b\"; Cert=${victim}, O=Org"`;
  for (
    const header of [
      good,
      `By=spiffe://x;${good};${subject};URI=spiffe://y;DNS=a;DNS=b`,
      `${good};Chain="${victim}"`,
    ]
  ) {
    const disguised = behind(env, platform, { "x-forwarded-client-cert": header });
    assertEquals((await requestToken(disguised, env.tpp)).status, 200, header);
    assertEquals((await requestToken(disguised, env.bankA)).status, 401, header);
  }
});

test("client certificate of a revoked key is rejected once the directory has been asked again [H11, J35]", async ({ env }) => {
  const { kid } = env.tpp.transport;
  const path = `/participants/${env.tpp.orgId}/keys/${kid}/revoke`;
  assertEquals((await adminCall(env, "POST", path, { reason: "key_compromise" })).status, 200);
  env.now += 301_000;
  const token = await requestToken(env, env.tpp);
  assertEquals([token.status, (await rejectionOf(token)).error], [401, "invalid_client"]);
});

test("client certificate is needed for registration, whatever else the request brings [H1, H12]", async ({ env }) => {
  for (const as of [undefined, env.bankA]) {
    const api = {
      fetch: (request: Request) => env.platform.api.fetch(throughProxy(new Request(request), as)),
    };
    const stripped = { ...env, platform: { ...env.platform, api } };
    // `register` writes the participant's own certificate: what the proxy writes after it is what counts.
    const answer = await register(stripped, as === undefined ? withoutCertificate(env.tpp) : env.tpp);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [401, "invalid_client"]);
  }
});

test("client certificate headers mean nothing on the browser host, and no answer reflects them [H21, H22, A7]", async ({ env }) => {
  const plain = await env.browser(new Request(`${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`));
  const certificate = headerOf("client-cert", env.bankA.transport.certificate);
  for (const value of [certificate, ":rubbish", "x".repeat(20_000)]) {
    const headers = Object.fromEntries([...SOURCES, "client-cert-chain"].map((name) => [name, value]));
    const url = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
    const answer = await env.browser(new Request(url, { headers }));
    assertEquals([answer.status, await answer.text()], [200, await plain.clone().text()]);
  }
  const answers = [
    await requestToken(env, env.tpp),
    await env.api(new Request(`${BASE_URL}${CONSENT}`), env.tpp),
    await env.api(new Request(`${BASE_URL}/nowhere`), env.tpp),
  ];
  for (const answer of answers) {
    const text = JSON.stringify([...answer.headers]) + await answer.text();
    assert(!text.includes(env.tpp.transport.certificate.slice(0, 100)), text);
    assertEquals(answer.headers.get("cache-control"), "no-store");
    assertEquals(answer.headers.get("client-cert"), null);
  }
  assert(!env.logged.join().includes(env.tpp.transport.certificate.slice(0, 100)));
});

function withoutCertificate(participant: Participant): Participant {
  return { ...participant, transport: { ...participant.transport, certificate: "" } };
}

function derOf(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
}
