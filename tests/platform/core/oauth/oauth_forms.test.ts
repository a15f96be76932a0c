/** The form endpoints as HTTP: methods, media types, sizes, repeated and empty parameters, and what every answer carries. */
import { assertEquals, assertMatch } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertApiError,
  assertRejected,
  clientCredentials,
  type Deviation,
  FORM_TYPE,
  oauthEndpoints,
  pushing,
  rejectedEverywhere,
} from "testing/oauth_requests.ts";
import { BASE_URL } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";
import { test } from "support/environment_test.ts";

const MALFORMED = [400, "invalid_request"] as const;
const LIMIT = 65_536;

test("POST token, par reject every parameter sent twice [PA-N12, TC-N2, TA-N2, FAPI-G9]", async ({ env, t }) => {
  for (const endpoint of await oauthEndpoints(env)) {
    await endpoint.ready();
    const names = [
      ...new URLSearchParams(await (await endpoint.request()).text()).keys(),
      "state",
      "dpop_jkt",
      "foo",
    ];
    const twice = (name: string, value?: string): Deviation => ({
      body: (good) => {
        const sent = new URLSearchParams(good);
        const first = sent.get(name) ?? "x";
        sent.set(name, first);
        sent.append(name, value ?? first);
        return sent.toString();
      },
    });
    await rejectedEverywhere(
      t,
      env,
      MALFORMED,
      Object.fromEntries(names.flatMap((name) => [
        [`${name}, the same`, (): Deviation => twice(name)],
        [`${name}, empty`, (): Deviation => twice(name, "")],
      ])),
      [endpoint],
    );
  }
});

test("POST token, par take an empty parameter for none [FAPI-G9]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "client_secret": () => ({ form: { client_secret: "" } }),
    "foo": () => ({ form: { foo: "" } }),
  });
  await acceptedEverywhere(t, env, {
    "state, dpop_jkt, request_uri, request": () => ({
      form: { state: "", dpop_jkt: "", request_uri: "", request: "" },
    }),
  }, [await pushing(env)]);
});

test("POST token, par ignore unknown parameters [TC-N10, PA-N15, FAPI-G9]", async ({ env, t }) => {
  await acceptedEverywhere(t, env, {
    "foo=bar": () => ({ form: { foo: "bar" } }),
    "nonce, prompt, claims": () => ({ form: { nonce: "n".repeat(64), prompt: "none", claims: "{}" } }),
    "__proto__": () => ({
      form: { ["__proto__x"]: "1", constructor: "x" },
      body: (good) => `${good}&__proto__=x`,
    }),
  });
});

test("token, par answer every method but POST with 405 and Allow [TC-N6, PA-N11, FAPI-G10]", async ({ env, t }) => {
  const methods = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "patch", "PROPFIND"];
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    for (const method of methods) {
      await t.step(`${method} ${endpoint.path}`, async () => {
        const good = await endpoint.request();
        const body = ["GET", "HEAD"].includes(method) ? null : await good.text();
        const { headers } = good;
        const url = body === null ? `${endpoint.target.url}?${await good.text()}` : endpoint.target.url;
        const request = new Request(url, { method, headers, body });
        const response = await unchanged(env, () => env.api(request, env.tpp));
        assertEquals(response.headers.get("allow"), "POST");
        assertEquals(response.headers.get("access-control-allow-origin"), null);
        if (method !== "HEAD") await assertApiError(response, [405, "invalid_request"]);
        else assertEquals([response.status, await response.text()], [405, ""]);
      });
    }
  }
});

test("POST token, par reject bodies of other media types [TC-N7, FAPI-G10]", async ({ env, t }) => {
  const typed = (type: string) => (): Deviation => ({ headers: { "content-type": type } });
  await rejectedEverywhere(t, env, MALFORMED, {
    "text/plain": typed("text/plain"),
    "JSON's type": typed("application/json"),
    "a form in Latin-1": typed(`${FORM_TYPE}; charset=iso-8859-1`),
    "a form with more": typed(`${FORM_TYPE}; boundary=x`),
    "two types": typed(`${FORM_TYPE}, ${FORM_TYPE}`),
    "no type's name": typed("x-www-form-urlencoded"),
    "empty": typed(""),
    "JSON": () => ({
      headers: { "content-type": "application/json" },
      body: (good) => JSON.stringify(Object.fromEntries(new URLSearchParams(good))),
    }),
    "multipart": () => ({
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: (good) =>
        [...new URLSearchParams(good)].map(([name, value]) =>
          `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
        ).join("") + "--x--\r\n",
    }),
  });
  for (const endpoint of await oauthEndpoints(env)) {
    await t.step(`${endpoint.name}: no Content-Type`, async () => {
      await endpoint.ready();
      const good = await endpoint.request();
      const headers = new Headers(good.headers);
      headers.delete("content-type");
      const body = new TextEncoder().encode(await good.text());
      const request = new Request(good.url, { method: "POST", headers, body });
      await assertRejected(env, MALFORMED, () => env.api(request, env.tpp));
    });
  }
});

test("POST token, par accept the media type in any case, with charset UTF-8 [FAPI-G10]", async ({ env, t }) => {
  const typed = (type: string) => (): Deviation => ({ headers: { "content-type": type } });
  await acceptedEverywhere(t, env, {
    "upper case": typed(FORM_TYPE.toUpperCase()),
    "charset": typed(`${FORM_TYPE};charset=UTF-8`),
    "charset, quoted": typed(`${FORM_TYPE} ; Charset="utf-8"`),
  });
});

test("POST token, par reject content codings [FAPI-G10]", async ({ env, t }) => {
  const coded = (coding: string) => (): Deviation => ({ headers: { "content-encoding": coding } });
  await rejectedEverywhere(t, env, [415, "invalid_request"], { "gzip": coded("gzip"), "br": coded("br") });
  await acceptedEverywhere(t, env, { "identity": coded("identity") });
});

test("POST token, par reject bodies over 64 KiB [TC-N12, PA-N16, FAPI-G11]", async ({ env, t }) => {
  const padded = (size: number) => (): Deviation => ({ body: (good) => `${good}&x=`.padEnd(size, "x") });
  await rejectedEverywhere(t, env, [413, "invalid_request"], {
    "one byte more": padded(LIMIT + 1),
    "1 MB": padded(1_000_000),
    "1 MB without parameters": () => ({ body: () => "&".repeat(1_000_000) }),
    "declared alone": () => ({ headers: { "content-length": String(LIMIT + 1) } }),
  });
  await acceptedEverywhere(t, env, { "64 KiB exactly": padded(LIMIT) });
});

test("POST token, par stop reading a stream at 64 KiB, whatever length it declares [FAPI-G11]", async ({ env }) => {
  for (const endpoint of [clientCredentials(env), await pushing(env)]) {
    const { url, headers } = await endpoint.request();
    for (const declared of [undefined, "10", "abc"]) {
      let pulled = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller): void {
          controller.enqueue(new Uint8Array(16_384).fill(0x78));
          pulled += 1;
          if (pulled === 1000) controller.close();
        },
      });
      const sent = new Headers(headers);
      if (declared !== undefined) sent.set("content-length", declared);
      const request = new Request(url, { method: "POST", headers: sent, body });
      await assertRejected(env, [413, "invalid_request"], () => env.api(request, env.tpp));
      assertEquals(pulled < 10, true, `${pulled} chunks were read`);
    }
  }
});

test("POST token, par quote input in error_description bounded and escaped alone [FAPI-G13]", async ({ env, t }) => {
  const client = {
    client_id: "invalid_client",
    client_assertion: "invalid_client",
    client_assertion_type: "invalid_request",
  };
  const pushed = [
    "redirect_uri",
    "code_challenge",
    "code_challenge_method",
    "consent_id",
    "state",
    "dpop_jkt",
  ];
  const errors = {
    "client credentials": { ...client, grant_type: "unsupported_grant_type", scope: "invalid_scope" },
    "code": {
      ...client,
      code: "invalid_grant",
      redirect_uri: "invalid_grant",
      code_verifier: "invalid_grant",
    },
    "PAR": {
      ...client,
      ...Object.fromEntries(pushed.map((name) => [name, "invalid_request"])),
      response_type: "unsupported_response_type",
      scope: "invalid_scope",
    },
  };
  for (const endpoint of await oauthEndpoints(env)) {
    for (const [name, error] of Object.entries(errors[endpoint.name])) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const response = await endpoint.send({ form: { [name]: '"\\\r\n\t€<script>' } });
        const { error_description: description } = await rejectionOf(response.clone());
        assertEquals(/[<>€"\\]/.test(description), false);
        await assertApiError(response, [error === "invalid_client" ? 401 : 400, error]);
      });
    }
  }
});

test("token, par answer with no-store and an interaction id, good or bad [FAPI-G12, FAPI-G23]", async ({ env }) => {
  const interactionId = "F81D4FAE-7dec-11d0-a765-00a0c91e6bf6";
  for (const endpoint of await oauthEndpoints(env)) {
    const answers = [
      await endpoint.send({ headers: { "x-fapi-interaction-id": interactionId } }),
      await endpoint.send({
        headers: { "x-fapi-interaction-id": interactionId },
        form: { client_id: undefined },
      }),
      await endpoint.send({ headers: { "x-fapi-interaction-id": interactionId }, as: null }),
    ];
    for (const { headers } of answers) {
      assertEquals(headers.get("x-fapi-interaction-id"), interactionId);
      assertEquals(headers.get("cache-control"), "no-store");
      assertEquals(headers.get("x-content-type-options"), "nosniff");
    }
    const strange = await endpoint.send({ headers: { "x-fapi-interaction-id": "<script>" } });
    assertMatch(strange.headers.get("x-fapi-interaction-id") ?? "", /^[0-9a-f-]{36}$/);
    await assertAccepted(endpoint, strange);
  }
  const lost = await env.api(new Request(`${BASE_URL}/BANKA/token.oauth2/v2`, { method: "POST" }), env.tpp);
  await assertApiError(lost, [404, "not_found"]);
});
