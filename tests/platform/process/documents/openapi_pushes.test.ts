/** What the platform really pushes and hands over is what `/openapi.json` says, read as a JSON Schema by a validator. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { compactDecrypt, decodeJwt, decodeProtectedHeader } from "jose";
import { type EventPage, type OpenApi, type OpenApiOperation, present } from "testing/answers.ts";
import { openSchemas, type Schemas } from "testing/api_contract.ts";
import {
  authorize,
  Browser,
  putAccounts,
  returnClaims,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { signedReturn } from "testing/bank_return.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { call, clientToken, createConsent, good, push } from "testing/flows.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { onlyPush, openPushEnvironment, paid, report } from "support/orders.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { openReceiver, pushedLater } from "../../events/receiver.ts";

const DAY = 86_400_000;

type Content = { readonly schema: object };
type Operation = OpenApiOperation & {
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
};
type Webhooks = OpenApi & {
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** The served document, and a validator of its schemas. */
interface Described {
  readonly document: Webhooks;
  readonly schemas: Schemas;
}

async function described(env: Environment): Promise<Described> {
  const document = await good<Webhooks>(env.browser(new Request(`${AUTH_URL}/openapi.json`)), 200);
  return { document, schemas: openSchemas(document) };
}

/** The faults of a text and of what it holds, layer by layer. `opened` has the content of each encrypted layer. */
function faultsOf(
  { schemas }: Described,
  schema: object,
  text: string,
  opened: readonly string[] = [],
): string[] {
  const [inside, ...deeper] = opened;
  const { contentSchema } = schema as { contentSchema: { prefixItems: readonly [object, object] } };
  const [header, content] = contentSchema.prefixItems;
  const faults = [
    ...schemas.faults(schema as Json, text),
    ...schemas.faults(header as Json, decodeProtectedHeader(text)),
  ];
  return inside === undefined
    ? [...faults, ...schemas.faults(content as Json, decodeJwt(text))]
    : [...faults, ...faultsOf({ schemas } as Described, content, inside, deeper)];
}

type Json = Parameters<Schemas["faults"]>[0];

function webhook({ document }: Described, name: string, method = "post"): Operation {
  return present(document.webhooks[name]?.[method]);
}

/** The schema of what the webhook's request has in its body. */
function bodyOf(operation: Operation, type: string | null): object {
  return present(operation.requestBody?.content[type ?? ""]).schema;
}

/** The schema of an answer. */
function answerSchema(operation: Operation, status: number, type: string): object {
  const answer = operation.responses[status] as { content: Record<string, Content> };
  return present(answer.content[type]).schema;
}

function parameterOf(operation: Operation | undefined, name: string): object {
  const found = (operation?.parameters ?? []).find((one) => one.name === name) as
    | { schema?: object }
    | undefined;
  return present(found?.schema);
}

Deno.test("a pushed order and the bank's answer are as the document says [MD14, D2, D4]", async () => {
  await using env = await openPushEnvironment(() => Response.json(ANSWER));
  await paid(env);
  const { headers, body } = onlyPush(env);
  const served = await described(env);
  const operation = webhook(served, "paymentOrder");
  const schema = bodyOf(operation, headers.get("content-type"));
  assertEquals(faultsOf(served, schema, body), []);
  const answer = answerSchema(operation, 200, "application/json") as Json;
  assertEquals(served.schemas.faults(answer, ANSWER), []);
  assertNotEquals(served.schemas.faults(answer, { Status: "Pending" }), []);
  assertNotEquals(
    faultsOf(served, schema, await signedReturn(env, await toBank(env))),
    [],
    "not another JWT",
  );
});

const ANSWER = { Status: "Rejected", StatusReason: "AM04: Insufficient funds" };

Deno.test("an inquiry after a restore and the bank's statement are as the document says [MD14, G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  await paid(env);
  env.books.pageSize = 1;
  await restore(env, copy);
  env.pushes.length = 0;
  const states: unknown[] = [];
  while (states.at(-1) !== "released" && states.length < 5) {
    states.push((await env.operate("/operations/order-holds/BANKA/reconcile", ""))[1].Data.State);
  }
  assertEquals(states, ["comparing", "released"]);
  const served = await described(env);
  const operation = webhook(served, "orderInquiry");
  const faults = env.pushes.map(({ headers, body }) =>
    faultsOf(served, bodyOf(operation, headers.get("content-type")), body)
  );
  assert(faults.length >= 2, "one for each page");
  assertEquals(faults.flat(), []);
  const statement = await env.books.statement({ Since: new Date(env.now - DAY).toISOString() });
  assertEquals(faultsOf(served, answerSchema(operation, 200, "application/jose"), statement), []);
});

Deno.test("each kind of event is as the document says, pushed, and polled by the bank [MD14, EVT2, EVT17, EVT18, EVT19]", async () => {
  await using env = await openReceiver();
  await rejectedPayment(env);
  const bound = await clientToken(env, env.tpp, "BANKA");
  await createConsent(env, bound); // expires
  await rejectedConsent(env);
  await announceOutage(env);
  await env.platform.spreadNotices();
  while (await pushedLater(env, 60_000) > 0);
  const polledByBank = await good(
    call(env, env.bankA, await clientToken(env, env.bankA, "BANKA"), "/BANKA/back-channel-events/v1", {
      body: JSON.stringify({ returnImmediately: true }),
      signature: null,
      idempotencyKey: null,
    }),
    200,
  ) as EventPage;
  env.now += 335 * DAY; // 30 days before the statement's end, and the consent's
  await env.platform.followDirectory();
  await env.platform.notifyExpiries();
  while (await pushedLater(env, 60_000) > 0);
  const served = await described(env);
  const schema = bodyOf(webhook(served, "event"), "application/secevent+jwt");
  const pushed = [...env.received.map(({ token }) => token), ...Object.values(polledByBank.sets)];
  assertEquals(Object.keys(polledByBank.sets).length, 1);
  assertEquals(pushed.flatMap((token) => faultsOf(served, schema, token)), []);
  assertEquals(kindsOf(pushed), [
    "consent-authorised",
    "consent-consumed",
    "consent-rejected",
    "outage-announced",
    "payment-status-changed",
    "software-statement-expiring",
  ]);
});

function kindsOf(tokens: readonly string[]): readonly string[] {
  const names = tokens.flatMap((token) => Object.keys(decodeJwt<{ events: object }>(token).events));
  const own = names.filter((name) => name.startsWith(AUTH_URL)).map((name) => name.split("/").at(-1) ?? "");
  return [...new Set(own)].toSorted();
}

async function rejectedPayment(env: Environment): Promise<void> {
  const { DomesticPaymentId: id } = await paid(env);
  await good(report(env, id, "Rejected"), 200);
}

async function rejectedConsent(env: Environment): Promise<void> {
  const { browser, bank, handover } = await toBank(env);
  await browser.open(await returnPath(env, bank, handover, { claims: { status_code: "failure" } }));
}

async function announceOutage(env: Environment): Promise<void> {
  const [FromDateTime, UntilDateTime] = [1, 2].map((hours) =>
    new Date(env.now + hours * 3_600_000).toISOString()
  );
  const Data = { FromDateTime, UntilDateTime, Text: "Maintenance.", Reason: "Announced by the bank." };
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ Data }),
  };
  await good(env.asOperator("/operations/banks/BANKA/outages", init), 201);
}

Deno.test("the handover and the result of a customer's visit are as the document says [MD14, HO1, RT1]", async () => {
  await using env = await openPushEnvironment();
  const bound = await clientToken(env, env.tpp, "BANKA");
  const { Data: { ConsentId } } = await createConsent(env, bound);
  const pushed = await good(push(env, ConsentId, { form: { ui_locales: "fr-CA en" } }), 201);
  const departure = await authorize(new Browser(env), env.tpp, pushed.request_uri);
  const sealed = new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
  const { plaintext } = await compactDecrypt(
    sealed,
    await present(env.bankA.encryption).key.privateKey("decrypt"),
  );
  const served = await described(env);
  const handover = parameterOf(webhook(served, "customerHandover", "get"), "oAuthUrl");
  assertEquals(faultsOf(served, handover, sealed, [new TextDecoder().decode(plaintext)]), []);

  const flow = await toBank(env);
  const jws = await signedReturn(env, flow);
  const back = new URL(await returnPath(env, flow.bank, flow.handover), AUTH_URL).searchParams.get(
    "oAuthUrl",
  );
  const result = parameterOf(
    served.document.paths["/{bank}/authorization.sca.oauth2"]?.["get"] as Operation,
    "oAuthUrl",
  );
  assertEquals(faultsOf(served, result, back ?? "", [jws]), []);
});

Deno.test("a result needs exactly the claims that the document requires [MD14, RT1]", async () => {
  await using env = await openPushEnvironment();
  const { document } = await described(env);
  const { required } = document.components.schemas["BankResultClaims"] as { required: readonly string[] };
  const flow = await toBank(env);
  const needed: string[] = [];
  for (const name of Object.keys(returnClaims(env, flow.bank, flow.handover))) {
    const fresh = await toBank(env);
    await good(putAccounts(env, fresh.bank, fresh.consentId), 200);
    const path = await returnPath(env, fresh.bank, fresh.handover, { claims: { [name]: undefined } });
    const { headers } = await fresh.browser.open(path);
    if (!(headers.get("location") ?? "").includes("/authorization.consent.oauth2")) needed.push(name);
  }
  assertEquals(needed.toSorted(), [...required].toSorted());
});
