/** Client authentication at the token endpoint (both grants) and PAR: form parameters, mechanisms, certificates. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import type { Participant } from "testing/participants.ts";
import { authentication } from "testing/flows.ts";
import { clientAssertion } from "testing/jwts.ts";
import {
  assertAccepted,
  assertRejected,
  oauthEndpoints,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { test } from "support/environment_test.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;
const MALFORMED = [400, "invalid_request"] as const;

test("POST token, par reject a request without client_assertion [CA-N1, TC-N1, TA-N1, PA-N1] [FAPI-D3] [PA1]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "client_id alone": () => ({ form: { client_assertion: undefined, client_assertion_type: undefined } }),
    "with client_assertion_type": () => ({ form: { client_assertion: undefined } }),
    "empty": () => ({ form: { client_assertion: "" } }),
  });
});

test("POST token, par reject a missing or other client_assertion_type [CA-N2] [CA2]", async ({ env, t }) => {
  const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const others = {
    "missing": undefined,
    "empty": "",
    "SAML": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
    "the grant's URN": "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "upper case": type.toUpperCase(),
    "space behind it": `${type} `,
    "not decoded": encodeURIComponent(type),
  };
  await rejectedEverywhere(
    t,
    env,
    MALFORMED,
    Object.fromEntries(
      Object.entries(others).map((
        [name, other],
      ) => [name, () => ({ form: { client_assertion_type: other } })]),
    ),
  );
});

test("POST token, par reject authentication parameters sent twice [CA-N3, FAPI-G9] [CA3]", async ({ env, t }) => {
  const twice = (name: string, other?: string) => () => ({
    body: (good: string): string => `${good}&${name}=${other ?? new URLSearchParams(good).get(name)}`,
  });
  await rejectedEverywhere(t, env, MALFORMED, {
    "client_assertion, the same": twice("client_assertion"),
    "client_assertion, another": async () => {
      const other = await clientAssertion(env, env.tpp, "BANKA");
      return twice("client_assertion", other)();
    },
    "client_assertion, empty": twice("client_assertion", ""),
    "client_assertion, its name escaped": twice("client%5Fassertion", "x"),
    "client_assertion_type": twice("client_assertion_type"),
    "client_id, the same": twice("client_id"),
    "client_id, another": twice("client_id", env.otherTpp.clientId),
  });
});

test("POST token, par reject a second authentication mechanism [CA-N4] [CA4]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, MALFORMED, {
    "Basic": () => ({ headers: { authorization: "Basic eDp5" } }),
    "Bearer": () => ({ headers: { authorization: "Bearer x" } }),
    "client_secret": () => ({ form: { client_secret: "x" } }),
    "Basic alone": () => ({
      headers: { authorization: `Basic ${btoa(`${env.tpp.clientId}:x`)}` },
      form: { client_assertion: undefined, client_assertion_type: undefined },
    }),
  });
});

test("POST token, par name the second mechanism as the mistake [CA-N4] [CA4]", async ({ env }) => {
  const proven = "must be absent, because client_assertion authenticates the client.";
  const rest = "must be absent: client_assertion authenticates the client (private_key_jwt).";
  for (const endpoint of await oauthEndpoints(env)) {
    await endpoint.ready();
    const wordsOf = async (as?: Participant): Promise<readonly unknown[]> => {
      const sent = [{ form: { client_secret: "x" } }, { headers: { authorization: "Basic eDp5" } }];
      const answers = await Promise.all(
        sent.map((one) => endpoint.send(as === undefined ? one : { ...one, as })),
      );
      return await Promise.all(answers.map(async (answer) => (await rejectionOf(answer)).error_description));
    };
    assertEquals(await wordsOf(), [`client_secret ${proven}`, `the Authorization header ${proven}`]);
    assertEquals(await wordsOf({ ...env.tpp, transport: env.tpp.signing }), [
      `client_secret ${rest}`,
      `The Authorization header ${rest}`,
    ]);
  }
});

test("POST token, par reject a missing client_id [CA1]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, MALFORMED, {
    "missing": () => ({ form: { client_id: undefined } }),
    "empty": () => ({ form: { client_id: "" } }),
  });
});

test("POST token, par tell an unproven caller nothing of who exists and what was wrong [CA14]", async ({ env }) => {
  const other = await authentication(env, env.otherTpp, "BANKA");
  const assertion = await clientAssertion(env, env.tpp, "BANKA");
  const changed = assertion.slice(0, -10) + (assertion.at(-10) === "A" ? "B" : "A") + assertion.slice(-9);
  const unknown = "SC-00000000-0000-4000-8000-000000000000";
  const forms = {
    "unknown client": { client_id: unknown },
    "no client id at all": { client_id: "shop" },
    "client id of kilobytes": { client_id: `SC-${"0".repeat(9000)}` },
    "unknown client that signs for itself": {
      client_id: unknown,
      client_assertion: await clientAssertion(env, { ...env.tpp, clientId: unknown }, "BANKA"),
    },
    "another's key": { client_assertion: other["client_assertion"] },
    "bad signature": { client_assertion: changed },
    "no JWT": { client_assertion: "x" },
  };
  for (const endpoint of await oauthEndpoints(env)) {
    await endpoint.ready();
    for (const [name, form] of Object.entries(forms)) {
      const response = await endpoint.send({ form, as: { ...env.tpp, transport: env.tpp.signing } });
      assertEquals([response.status, await response.json()], [401, {
        error: "invalid_client",
        error_description: "Client authentication failed.",
      }], `${endpoint.name}: ${name}`);
    }
  }
});

test("POST token, par take only the client's own transport certificate [CA-N24] [FAPI-D18] [CA15]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "no certificate": () => ({ as: null }),
    "another TPP's": () => ({ as: env.otherTpp }),
    "the bank's": () => ({ as: env.bankA }),
    "the client's signing certificate": () => ({ as: { ...env.tpp, transport: env.tpp.signing } }),
  });
});

test("POST token, par reject an assertion of one client with the certificate of another [CA-N24]", async ({ env, t }) => {
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "stolen assertion": async () => ({ form: await authentication(env, env.otherTpp, "BANKA"), as: env.tpp }),
  });
});

test("POST token, par believe a certificate only from the proxy [CA-N24]", async ({ env }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    await endpoint.ready();
    const certificate = `:${env.tpp.transport.certificate}:`;
    for (const secret of [{}, { "x-proxy-secret": "" }, { "x-proxy-secret": "guess" }]) {
      const request = await endpoint.request({ headers: { "client-cert": certificate, ...secret } });
      await assertRejected(env, UNAUTHENTICATED, () => env.platform.api.fetch(request));
    }
  }
});

test("POST token, par reject malformed escapes and what is not UTF-8 [CA-N25]", async ({ env, t }) => {
  const append = (tail: string) => () => ({ body: (good: string): string => `${good}&x=${tail}` });
  const bytes = (...tail: number[]) => () => ({
    body: (good: string): Uint8Array<ArrayBuffer> =>
      new Uint8Array([...new TextEncoder().encode(`${good}&x=`), ...tail]),
  });
  await rejectedEverywhere(t, env, MALFORMED, {
    "%": append("%"),
    "%z1": append("%z1"),
    "%4": append("%4"),
    "%ff": append("%ff"),
    "overlong %c0%af": append("%c0%af"),
    "surrogate %ed%a0%80": append("%ed%a0%80"),
    "in a name": () => ({ body: (good) => `${good}&%zz=1` }),
    "byte ff": bytes(0xff),
    "bytes c0 af": bytes(0xc0, 0xaf),
    "cut character": bytes(0xc3),
  });
});

test("POST token, par accept escapes of every spelling [CA-N25]", async ({ env }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    const body = (good: string): string =>
      good.replace("client_id=", "%63lient%5fid=").replaceAll(".", "%2e").replace("%3A", ":") +
      "&free=%C3%A9+%E2%82%AC&flag&&=";
    await assertAccepted(endpoint, await endpoint.send({ body }));
  }
});
