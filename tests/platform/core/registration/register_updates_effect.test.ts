import { assertEquals } from "@std/assert";
import { clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
import {
  authorise,
  authorize,
  Browser,
  openHandover,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { MANY_REGISTRATIONS, postRegistration, renewedStatement } from "testing/registration.ts";
import { openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";

Deno.test("POST register: new redirect_uris count at the next authorization, removed ones no more [FAPI-D17] [RFC 9126 §7.4]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const before = (await createConsent(env, bound)).Data.ConsentId;
  const pushed = await good(push(env, before), 201);
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, tpp, { redirect_uris });
  const after = (await createConsent(env, bound)).Data.ConsentId;
  assertEquals((await push(env, after, { form: { redirect_uri: redirect_uris[0] } })).status, 400);
  assertEquals((await postRegistration(env, tpp, { statement, claims: { redirect_uris } })).status, 201);
  assertEquals((await push(env, after, { form: { redirect_uri: SHOP_REDIRECTS[0] } })).status, 400);
  assertEquals((await push(env, after, { form: { redirect_uri: redirect_uris[0] } })).status, 201);
  const snapshot = await env.snapshot();
  const departure = await authorize(new Browser(env), tpp, pushed.request_uri);
  assertEquals([departure.status, departure.headers.get("location")], [400, null]);
  assertEquals(await env.snapshot(), snapshot);
});

Deno.test("POST register: consent_managedby_bank counts at the next authorization [FAPI-D17]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const { bankA } = env;
  const atPlatform = await authorise(env, await toBank(env));
  assertEquals(atPlatform.status, 303);
  const statement = await renewedStatement(env, bankA, { consent_managedby_bank: true });
  const before = await toBank(env); // the statement has no effect until it is registered
  const return1 = await returned(before);
  assertEquals(new URL(return1).pathname, "/BANKA/authorization.consent.oauth2");
  assertEquals((await postRegistration(env, bankA, { statement })).status, 201);
  const flow = await toBank(env);
  const one = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  const two = { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819" };
  assertEquals((await putAccounts(env, bankA, flow.consentId, [one, two])).status, 400);
  const return2 = await returned(flow);
  assertEquals(new URL(return2).origin, "https://shop.example");

  async function returned(started: Awaited<ReturnType<typeof toBank>>): Promise<string> {
    await good(putAccounts(env, bankA, started.consentId), 200);
    const path = await returnPath(env, bankA, started.handover);
    return (await started.browser.open(path)).headers.get("location") ?? "";
  }
});

Deno.test("POST register: a bank's new redirect URL is where the next customer is sent [FAPI-D17] [A5]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const { bankA, tpp } = env;
  const redirect_uris = ["https://bank-a.example/new-sca?from=platform"];
  const statement = await renewedStatement(env, bankA, { redirect_uris });
  const changes = { statement, claims: { redirect_uris } };
  assertEquals((await postRegistration(env, bankA, changes)).status, 201);
  const bound = await clientToken(env, tpp);
  const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  const departure = await authorize(new Browser(env), tpp, pushed.request_uri);
  const location = departure.headers.get("location") ?? "";
  assertEquals(location.startsWith("https://bank-a.example/new-sca?from=platform&oAuthUrl="), true, location);
  assertEquals((await openHandover(bankA, departure)).claims.aud, "BANKA");
});

Deno.test("POST register: tokens and consents outlive an update [FAPI-D17]", async () => {
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const { tpp } = env;
  const bound = await clientToken(env, tpp);
  const statement = await renewedStatement(env, tpp, { description: "Another text" });
  assertEquals((await postRegistration(env, tpp, { statement })).status, 201);
  assertEquals((await createConsent(env, bound)).Data.Status, "AwaitingAuthorisation");
  assertEquals((await requestToken(env, tpp)).status, 200);
});
