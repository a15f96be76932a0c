/** `POST /register/v1`: certificate, method, media type and size (contract DC1, DC11, DC-N18, DC-N19, DC-N24, DC-N26). */
import { assertEquals } from "@std/assert";
import { onboardOnly } from "testing/participants.ts";
import {
  assertRejected,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  registrationJwt,
} from "testing/registration.ts";
import { BASE_URL, openEnvironment, throughProxy } from "testing/environment.ts";
import { rawJws } from "testing/raw_jws.ts";
import { steps, stepsOf } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";

const test = testWith(() => openEnvironment(MANY_REGISTRATIONS));

test("POST register rejects a caller without the participant's certificate [DC-N18] [DC11]", async ({ env, t }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  await t.step("no certificate", async () => {
    await assertRejected(env, () => postRegistration(env, newcomer, { as: null }), 401, "invalid_client");
  });
  await t.step("a certificate without the proxy's secret", async () => {
    const body = await registrationJwt(env, newcomer);
    const headers = {
      "content-type": "application/jose",
      "client-cert": `:${newcomer.transport.certificate}:`,
    };
    const request = new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body });
    await assertRejected(env, () => env.platform.api.fetch(request), 401, "invalid_client");
  });
  await t.step("the certificate of another organisation", async () => {
    const as = env.otherTpp;
    await assertRejected(env, () => postRegistration(env, newcomer, { as }), 401, "invalid_client");
  });
  await t.step("the participant's signing certificate", async () => {
    const as = { ...newcomer, transport: newcomer.signing };
    await assertRejected(env, () => postRegistration(env, newcomer, { as }), 401, "invalid_client");
  });
  await t.step("a certificate that is over", async () => {
    const then = env.now;
    env.now = Date.UTC(2099, 0, 1);
    await assertRejected(env, () => postRegistration(env, newcomer), 401, "invalid_client");
    env.now = then;
  });
  await t.step("and takes the participant's own", async () => {
    assertEquals((await postRegistration(env, newcomer)).status, 201);
  });
});

test("POST register rejects other media types and codings [DC-N19] [DC1]", async ({ env, t }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const types = [
    "application/json",
    "application/jwt",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/jose+json",
    "application/jose; charset=iso-8859-1",
    "",
    null,
  ];
  for (const contentType of types) {
    await t.step(contentType === null ? "no Content-Type" : `"${contentType}"`, async () => {
      const attempt = (): Promise<Response> => postRegistration(env, newcomer, { contentType });
      await assertRejected(env, attempt, 415, "invalid_client_metadata");
    });
  }
  await t.step("gzip", async () => {
    const headers = { "content-encoding": "gzip" };
    await assertRejected(env, () => postRegistration(env, newcomer, { headers }), 415, "invalid_request");
  });
});

test("register answers other methods 405 with Allow [DC-N24]", async ({ env, t }) => {
  await stepsOf(t, ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"], (method) => method, async (method) => {
    const request = (): Promise<Response> =>
      env.platform.api.fetch(throughProxy(new Request(`${BASE_URL}/register/v1`, { method }), env.tpp));
    const response = await assertRejected(env, request, 405, "invalid_request");
    assertEquals(response.headers.get("allow"), "POST");
  });
  await t.step("HEAD", async () => {
    const request = new Request(`${BASE_URL}/register/v1`, { method: "HEAD" });
    const response = await env.platform.api.fetch(throughProxy(request, env.tpp));
    assertEquals([response.status, response.headers.get("allow")], [405, "POST"]);
  });
});

test("POST register rejects what is too large or too deep [DC-N26]", async ({ env, t }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  await t.step("a JWT of more than 32 KiB", async () => {
    const claims = { client_uri: "x".repeat(32_768) };
    await assertRejected(env, () => postRegistration(env, newcomer, { claims }), 413, "invalid_request");
  });
  await t.step("a body of more than 64 KiB", async () => {
    const body = "a".repeat(65_537);
    await assertRejected(env, () => postRegistration(env, newcomer, { body }), 413, "invalid_request");
  });
  await t.step("a statement of 30 KiB is too large within the JWT", async () => {
    const claims = { software_statement: "a".repeat(30_720) };
    await assertRejected(env, () => postRegistration(env, newcomer, { claims }), 413, "invalid_request");
  });
  await steps(t, { "a depth of 17": 17, "a depth of 10,000": 10_000 }, async (depth) => {
    const bomb = `{"redirect_uris":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const key = await newcomer.signing.key.privateKey("sign");
    const header = { alg: "PS256", typ: "JWT", kid: newcomer.signing.kid };
    const body = await rawJws(key, header, bomb);
    const attempt = (): Promise<Response> => postRegistration(env, newcomer, { body });
    await assertRejected(env, attempt, 400, "invalid_client_metadata");
  });
  await t.step("bytes that are no text", async () => {
    const body = new Uint8Array([0xff, 0xfe, 0x00, 0x2e, 0x2e]);
    await assertRejected(
      env,
      () => postRegistration(env, newcomer, { body }),
      400,
      "invalid_client_metadata",
    );
  });
});
