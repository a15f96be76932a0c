/**
 * The authorization matrix: every endpoint of the operations API and every page of the console, for the people of every
 * organisation. What another organisation owns is not reachable by id, search, report or trace.
 */
import type { z } from "zod";
import type {
  OwnConsent,
  OwnPayment,
  ownRegistrationSchema,
} from "../../../../src/platform/operations/participant_views/own_representation.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { Found, Reports } from "testing/operation_answers.ts";
import type { CreatedConsent } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { consoleOf } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { besideAttempts } from "support/attempts.ts";
import { stepsOf } from "support/steps.ts";
import {
  guardOperations,
  operation,
  ownOperation,
} from "../../../../src/platform/guards/security/operation.ts";
import {
  OPERATION_ROLES,
  PARTICIPANT,
  ROLES,
} from "../../../../src/platform/guards/security/operator_roles.ts";
import { openOrganisation } from "../../../../src/platform/guards/security/organisation.ts";

const API = Object.entries(OPERATION_ROLES).filter(([name]) => name.includes(" /operations/"));
const PAGES = Object.entries(OPERATION_ROLES).filter(([name]) => name.startsWith("GET /console"));
const OWN = API.filter(([, roles]) => roles.includes(PARTICIPANT)).map(([name]) => name.split(" ")[1] ?? "");
/** The same for everyone: shared figures and names of checks. */
const UNKNOWN = "0b2f1c5e-0000-4000-8000-000000000000";

async function send(
  env: Environment,
  orgId: string,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  return await env.platform.operations.fetch(
    new Request(`${OPERATIONS_URL}${path}`, { ...init, headers: personOf(orgId) }),
  );
}

async function answerText(env: Environment, orgId: string, path: string): Promise<string> {
  const answer = await send(env, orgId, path);
  const text = await answer.text();
  assertEquals(answer.status, 200, `${orgId} ${path}: ${text}`);
  return text;
}

async function bodyOfOwn<T = unknown>(env: Environment, orgId: string, path: string): Promise<T> {
  return JSON.parse(await answerText(env, orgId, `/operations/own/${path}`)) as T;
}

type OwnRegistrations = { Data: { Registration: z.infer<typeof ownRegistrationSchema>[] } };

/** An own payment of the shop at bank A, and a consent and a rejected request of the other shop at bank B. */
async function twoCases(env: Environment): Promise<Readonly<Record<"shop" | "other", readonly string[]>>> {
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId } } = await good(pay(env, flow), 201);
  const dispute = { DomesticPaymentId, Action: "Open", Statement: "It never came." };
  const token = await clientToken(env, env.tpp, "BANKA");
  await good(
    call(env, env.tpp, token, "/BANKA/disputes/v1", { body: JSON.stringify({ Data: dispute }) }),
    201,
  );
  const interaction = crypto.randomUUID();
  const headers = { "x-fapi-interaction-id": interaction };
  const rejected = await pay(env, flow, { headers, idempotencyKey: "another-key-of-the-shop" });
  assertEquals(rejected.status, 400);
  await rejected.body?.cancel();
  const bound = await clientToken(env, env.otherTpp, "BANKB");
  const at = "/BANKB/domestic-payment-consents/v1";
  const otherInteraction = crypto.randomUUID();
  const initiation = { EndToEndIdentification: "OTHER.4711" };
  const body = JSON.stringify(consentBody({ initiation }));
  const made = await good<CreatedConsent>(
    call(env, env.otherTpp, bound, at, { body, headers: { "x-fapi-interaction-id": otherInteraction } }),
    201,
  );
  const missing = await call(env, env.otherTpp, bound, `${at}/${UNKNOWN}`);
  assertEquals(missing.status, 400);
  await missing.body?.cancel();
  await env.platform.writeTraces();
  await env.platform.writeFigures();
  return {
    shop: [flow.consentId, DomesticPaymentId, interaction, env.tpp.clientId, "FRESCO.21302.GFX.20"],
    other: [made.Data.ConsentId, otherInteraction, env.otherTpp.clientId, "OTHER.4711"],
  };
}

Deno.test("people of a participant may call what is declared for them, and nothing else [OWN1, OP2, O6]", async (t) => {
  for (const roles of [[PARTICIPANT], [...ROLES, PARTICIPANT], [...ROLES], []]) {
    await using env = await openEnvironment({ operators: await testPeople(roles) });
    const before = await besideAttempts(env);
    await stepsOf(t, API, ([name]) => `${name} as ${roles.join("+") || "none"}`, async ([name, admitted]) => {
      const [method = "", declared = ""] = name.split(" ");
      const path = declared.replaceAll(/\{\w+\}/g, "BANKA");
      for (const { orgId } of [env.tpp, env.otherTpp, env.bankA, env.bankB]) {
        const answer = await send(env, orgId, path, { method });
        await answer.body?.cancel();
        assertEquals(answer.status === 403, !admitted.includes(PARTICIPANT), `${orgId}: ${answer.status}`);
      }
    });
    assertEquals(await besideAttempts(env), before, "nothing was changed");
    const histories = await env.store.list({ prefix: ["audit"], limit: 1000 });
    const events = histories.map(({ value }) => (value as { readonly event: string }).event);
    assert(!events.includes("operator.read"), "no read of a case was recorded");
  }
});

Deno.test("another organisation's data is not in any answer, by id, search, report or trace [OWN2]", async (t) => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const ids = await twoCases(env);
  const foreign: Readonly<Record<string, readonly string[]>> = {
    [env.tpp.orgId]: ids.other,
    [env.otherTpp.orgId]: ids.shop,
    BANKA: ids.other,
    BANKB: ids.shop,
  };
  const queries = (own: string): readonly string[] =>
    own.endsWith("payment-orders") ? ["?state=dead", "?state=held"] : own.endsWith("search") ? [] : [""];
  await stepsOf(t, Object.entries(foreign), ([orgId]) => orgId, async ([orgId, theirs]) => {
    for (const path of OWN.flatMap((own) => queries(own).map((query) => `${own}${query}`))) {
      const text = await answerText(env, orgId, path);
      for (const id of theirs) assert(!text.includes(id), `${path} has ${id}`);
      for (const id of theirs) {
        assertEquals(await answerText(env, orgId, `${path}${path.includes("?") ? "&" : "?"}id=${id}`), text);
      }
    }
    const nothing = await answerText(env, orgId, `/operations/own/search?q=${UNKNOWN}`);
    assertEquals(JSON.parse(nothing), { Data: { Case: [], Trace: [], IsComplete: true } });
    for (const id of theirs) {
      assertEquals(await answerText(env, orgId, `/operations/own/search?q=${id}`), nothing, id);
    }
  });
});

Deno.test("an organisation finds what it owns: as TPP, and as the bank of the payment [OWN3]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const { shop: [consentId, paymentId, interaction, clientId, endToEnd] } = await twoCases(env);
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    for (const id of [consentId, paymentId, endToEnd]) {
      const { Data } = await bodyOfOwn<Found>(env, orgId, `search?q=${id}`);
      assertEquals(Data.Case.map((one) => one.DomesticPaymentId), [paymentId], `${orgId} ${id}`);
    }
  }
  const byRequest = await bodyOfOwn<Found>(env, env.tpp.orgId, `search?q=${interaction}`);
  assertEquals(byRequest.Data.Trace.map((trace) => trace.Status), [400]);
  const rejected = await bodyOfOwn<{ Data: Pick<Found["Data"], "Trace"> }>(
    env,
    env.tpp.orgId,
    "rejected-requests",
  );
  assertEquals(rejected.Data.Trace.map((trace) => trace.InteractionId), [interaction]);
  const { Data: { Registration } } = await bodyOfOwn<OwnRegistrations>(env, env.tpp.orgId, "registrations");
  assertEquals(Registration.map((one) => [one.ClientId, one.Status]), [[clientId, "active"]]);
  const ofBank = await bodyOfOwn<{ Data: { Payment: OwnPayment[] } }>(env, "BANKA", "payments");
  assertEquals(ofBank.Data.Payment.map((one) => [one.DomesticPaymentId, one.Tpp]), [
    [paymentId, "Example Shop Ltd · Example Shop Ltd app"],
  ]);
  const ofTpp = await bodyOfOwn(env, env.tpp.orgId, "payments");
  assertEquals(ofTpp, ofBank);
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    const consents = await bodyOfOwn<{ Data: { Consent: OwnConsent[] } }>(env, orgId, "consents");
    assertEquals(consents.Data.Consent.map((one) => one.ConsentId), [consentId], orgId);
  }
  for (const [orgId, id] of [[env.tpp.orgId, clientId], ["BANKA", "BANKA"]] as const) {
    const { Data: { Report: [report] } } = await bodyOfOwn<Reports>(env, orgId, "reports");
    assertEquals([report?.Id, report?.Total.Payments], [id, 1]);
  }
});

Deno.test("an organisation that the directory does not list owns nothing [OWN2]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  await twoCases(env);
  for (const path of OWN.filter((own) => !own.endsWith("search"))) {
    const text = await answerText(
      env,
      "NOBODY",
      path.endsWith("payment-orders") ? `${path}?state=dead` : path,
    );
    const { IsComplete: _, ...lists } = (JSON.parse(text) as { Data: Record<string, unknown> }).Data;
    assertEquals(Object.values(lists), [[]], path);
  }
});

Deno.test("the console shows participants their own page alone [OWN1]", async (t) => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const ids = await twoCases(env);
  const browser = consoleOf(env);
  const token = personOf(env.tpp.orgId).authorization.replace("Bearer ", "");
  await browser.submit("/console/sign-in", { token, next: "/console" });
  const home = await browser.get("/console");
  assertEquals([home.status, home.headers.get("location")], [303, "/console/own"]);
  await stepsOf(
    t,
    PAGES.filter(([name]) => name !== "GET /console"),
    ([name]) => name,
    async ([name, roles]) => {
      const page = await browser.get((name.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, "BANKA"));
      assertEquals(page.status, roles.includes(PARTICIPANT) ? 200 : 403);
    },
  );
  const own = await browser.get("/console/own");
  assert(own.html.includes(ids.shop[0] ?? "-") && own.html.includes(ids.shop[1] ?? "-"), "its lists");
  assert(own.html.includes(env.tpp.clientId) && own.html.includes("resource.invalid_consent_status"));
  for (const id of ids.other) assert(!own.html.includes(id), id);
  const found = await browser.get(`/console/own?q=${ids.shop[1]}`);
  assert(found.html.includes(ids.shop[0] ?? ""));
  const missed = await browser.get(`/console/own?q=${ids.other[0]}`);
  assert(missed.html.includes("No case and no request has this identifier."));
});

Deno.test("an endpoint for participants that is not bounded by their organisation does not start [OWN1]", () => {
  const described = { method: "get", responses: { 200: { description: "Fine" } } } as const;
  const own = { ...described, path: "/operations/own/registrations" } as const;
  const open = { ...described, path: "/operations/controls" } as const;
  const guarded = (endpoint: Parameters<typeof guardOperations>[2][number]) => (): unknown =>
    guardOperations({} as never, () => Promise.reject(new Error()), [endpoint]);
  assertThrows(guarded(operation(own, [], (c) => c.text("everything"))), Error, "ownOperation");
  assertThrows(guarded(ownOperation(open, () => Promise.resolve({ lists: {} }))), Error, "ownOperation");
});

Deno.test("an answer with what the organisation has not recognised fails [OWN1]", async () => {
  const organisation = openOrganisation("SHOP", []);
  const route = {
    method: "get",
    path: "/operations/own/new",
    responses: { 200: { description: "Fine" } },
  } as const;
  const { handle } = ownOperation(route, () => Promise.resolve({ lists: { Case: [{ Id: "x" } as never] } }));
  const c = { get: () => organisation, req: { query: () => ({}) } };
  await assertRejects(async () => await handle(c as never), Error, "another organisation");
  assertEquals(organisation.recognise({ Id: "x" }, { clientId: undefined, bank: undefined }), undefined);
});
