/** Rejections that hint at an attack have log lines of their own level, with everything that is known of the request. */
import { assert, assertEquals } from "@std/assert";
import { call, clientToken, createConsent, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { dpopProof } from "testing/jwts.ts";

type Line = Readonly<Record<string, unknown>>;

function loggedLines({ logged }: Environment, event: string): readonly Line[] {
  return logged.map((line) => JSON.parse(line) as Line).filter((line) => line["event"] === event);
}

Deno.test("a replayed proof and another participant's certificate are security events; lines of a request share its ids", async (t) => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const path = `/BANKA/domestic-payment-consents/v1/${ConsentId}`;

  await t.step("security.replay", async () => {
    const target = { method: "GET", url: `${BASE_URL}${path}`, accessToken: bound.token };
    const proof = await dpopProof(env, bound.key, target);
    await good(call(env, env.tpp, bound, path, { proof }), 200);
    assertEquals((await call(env, env.tpp, bound, path, { proof })).status, 401);
    const [line] = loggedLines(env, "security.replay");
    assertEquals(line?.["level"], "security");
    const { bank, clientId, orgId, consentId, certificate, interactionId } = line ?? {};
    assertEquals([bank, clientId, orgId, consentId], ["BANKA", env.tpp.clientId, env.tpp.orgId, ConsentId]);
    assert(typeof certificate === "string" && typeof interactionId === "string");
  });

  await t.step("security.certificate_mismatch", async () => {
    assertEquals((await call(env, env.tpp, bound, path, { as: env.otherTpp })).status, 401);
    assertEquals(loggedLines(env, "security.certificate_mismatch").length, 1);
  });

  await t.step("lines of a request share its ids and the caller's trace", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    await good(call(env, env.tpp, bound, path, { headers }), 200);
    assertEquals(loggedLines(env, "request.answered").at(-1)?.["traceId"], traceId);
    const flow = await authorised(env);
    const { DomesticPaymentId } = (await good(pay(env, flow), 201)).Data;
    const answered = loggedLines(env, "request.answered").at(-1);
    assertEquals([answered?.["paymentId"], answered?.["consentId"]], [DomesticPaymentId, flow.consentId]);
  });
});
