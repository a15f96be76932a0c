/** Attacks by a TLS client on a proxy before the first HTTP byte (contract FAPI-G1, H9, H11, H18, H19). */
import "reflect-metadata";
import { ExtendedKeyUsage, ExtendedKeyUsageExtension } from "@peculiar/x509";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type EchoSite, testSite } from "./echo_site.ts";
import { testKey } from "testing/keys.ts";
import { API_HOST, AUTH_HOST, type ProxyUnderTest } from "./proxy_program.ts";
import { handshake } from "./raw_tls.ts";
import {
  type CertificateOrder,
  issue,
  selfSignedAuthority,
  type TlsIdentity,
} from "testing/web_authority.ts";
import { stepsOf } from "./steps.ts";

const RECOMMENDED = [
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
];
const GET = `GET /probe HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: close\r\n\r\n`;

/** Registers the tests. `refusal` is the status of a request without a good certificate; 0: no answer at all. */
export function tlsAttacks(proxy: ProxyUnderTest, rejection: 0 | 400 | 401): void {
  const test = testSite(proxy);

  test("speaks TLS 1.3 by preference and of 1.2 the recommended suites alone [FAPI-G1]", async ({ site, t }) => {
    for (const host of [API_HOST, AUTH_HOST]) await t.step(host, () => versionsAndSuites(site, host));
  });

  test("asks for a certificate on the API host alone, and answers to no other name [FAPI-G2]", async ({ site }) => {
    assertEquals((await handshake(site.port, API_HOST)).asksForCertificate, true);
    assertEquals((await handshake(site.port, AUTH_HOST)).asksForCertificate, false);
    for (const name of ["other.example", "localhost", `x.${API_HOST}`, undefined]) {
      assertEquals((await handshake(site.port, name)).completed, false, name);
    }
  });

  test("never resumes a session nor renegotiates one [H18, H19]", async ({ site }) => {
    const certificate = await asFile(site.alice);
    const session = await Deno.makeTempFile();
    for (const version of ["-tls1_2", "-tls1_3"]) {
      await Deno.truncate(session);
      const first = await handshake(site.port, API_HOST, [
        "-cert",
        certificate,
        version,
        "-sess_out",
        session,
      ]);
      assert(first.completed && !first.reused, first.output);
      if ((await Deno.stat(session)).size === 0) continue; // not even a session to come back with
      const again = await handshake(site.port, API_HOST, [
        "-cert",
        certificate,
        version,
        "-sess_in",
        session,
      ]);
      assertEquals([again.completed, again.reused], [true, false], again.output);
    }
    const renegotiation = await handshake(site.port, API_HOST, ["-cert", certificate, "-tls1_2"], "R\n");
    assertMatch(
      renegotiation.output,
      /RENEGOTIATING[\s\S]*(no renegotiation|unexpected message|handshake failure)/i,
    );
    await Promise.all([certificate, session].map((path) => Deno.remove(path)));
  });

  test("lets nobody pass without a good certificate of the participants' authority [H9, H11]", async ({ site, t }) => {
    const cases = await badCertificates(site);
    await stepsOf(t, cases, ([what]) => what, async ([, identity]) => {
      const answer = await site.send(GET, identity);
      assertEquals(answer.status, rejection, answer.text);
    });
    assertEquals(site.received, []);
    assertEquals((await site.send(GET, site.alice)).status, 200);
  });
}

async function versionsAndSuites(site: EchoSite, host: string): Promise<void> {
  const certificate = await asFile(site.alice);
  const shake = (...args: string[]): ReturnType<typeof handshake> =>
    handshake(site.port, host, ["-cert", certificate, ...args]);
  const usual = await shake();
  assertEquals(usual.protocol, "TLSv1.3");
  for (const version of ["-tls1", "-tls1_1"]) {
    assertEquals((await shake(version, "-cipher", "ALL:@SECLEVEL=0")).completed, false, version);
  }
  for (const suite of RECOMMENDED.slice(0, 2)) { // the certificates are RSA
    const { protocol, suite: chosen } = await shake("-tls1_2", "-cipher", suite);
    assertEquals([protocol, chosen], ["TLSv1.2", suite]);
  }
  const others = ["ALL", "COMPLEMENTOFALL", ...RECOMMENDED.map((suite) => `!${suite}`), "@SECLEVEL=0"].join(
    ":",
  );
  assertEquals((await shake("-tls1_2", "-cipher", others)).completed, false, "a suite outside the list");
  for (
    const suite of [
      "AES128-GCM-SHA256",
      "ECDHE-RSA-AES128-SHA256",
      "ECDHE-RSA-CHACHA20-POLY1305",
      "AES256-SHA",
    ]
  ) {
    assertEquals((await shake("-tls1_2", "-cipher", `${suite}:@SECLEVEL=0`)).completed, false, suite);
  }
  await Deno.remove(certificate);
}

/** Alice's key with certificates that must not do; the last two are of another authority that bears the same name. */
async function badCertificates(site: EchoSite): Promise<[string, TlsIdentity][]> {
  const [key, authorityKey, outsiderKey] = await Promise.all([testKey(0), testKey(15), testKey(3)]);
  const subject = "CN=Participant 0";
  const day = 86_400_000;
  const certify = (order: Partial<CertificateOrder>): Promise<TlsIdentity> =>
    issue(site.participantsCa, authorityKey, key, { subject, ...order });
  const impostor = await selfSignedAuthority("CN=Test authority", outsiderKey);
  return [
    [
      "expired",
      await certify({ notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) }),
    ],
    [
      "not yet valid",
      await certify({ notBefore: new Date(Date.now() + day), notAfter: new Date(Date.now() + 2 * day) }),
    ],
    [
      "for servers only",
      await certify({ extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth])] }),
    ],
    ["of an authority of the same name", await issue(impostor, outsiderKey, key, { subject })],
    ["signed by itself", await selfSignedAuthority(subject, key)],
  ];
}

async function asFile({ certificatePem, privateKeyPem }: TlsIdentity): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".pem" });
  await Deno.writeTextFile(path, certificatePem + "\n" + privateKeyPem);
  return path;
}
