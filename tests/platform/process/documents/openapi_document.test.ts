/**
 * Properties of `/openapi.json` that generators, gateways and linters rely on: stable operation ids, security, and the
 * rules of fields.
 */
import { assert, assertEquals } from "@std/assert";
import { type OpenApi, type OpenApiOperation, type OpenApiSchema, present } from "testing/answers.ts";
import { good } from "testing/flows.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";

/** Generated clients have a method for each: a renamed operation breaks them. */
const OPERATION_IDS = {
  "post /register/v1": ["registerClient", "mutualTLS"],
  "get /register/v1/{clientId}": ["getRegisteredClient", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "delete /register/v1/{clientId}": ["deleteRegisteredClient", "mutualTLS DPoPPayments"],
  "post /{bank}/token.oauth2/v1": ["issueAccessToken", "mutualTLS"],
  "post /{bank}/par.oauth2/v1": ["pushAuthorizationRequest", "mutualTLS"],
  "post /{bank}/domestic-payment-consents/v1": ["createDomesticPaymentConsent", "mutualTLS DPoPPayments"],
  "get /{bank}/domestic-payment-consents/v1": ["listDomesticPaymentConsents", "mutualTLS DPoPPayments"],
  "get /{bank}/domestic-payment-consents/v1/{consentId}": [
    "getDomesticPaymentConsent",
    "mutualTLS DPoPPayments",
  ],
  "get /{bank}/domestic-payment-consents/v1/{consentId}/funds-confirmation": [
    "getFundsConfirmation",
    "mutualTLS DPoPPayments",
  ],
  "post /{bank}/domestic-payments/v1": ["createDomesticPayment", "mutualTLS DPoPPayments"],
  "get /{bank}/domestic-payments/v1": ["findDomesticPayment", "mutualTLS DPoPPayments"],
  "get /{bank}/domestic-payments/v1/{paymentId}": ["getDomesticPayment", "mutualTLS DPoPPayments"],
  "get /{bank}/domestic-payments/v1/{paymentId}/receipt": [
    "getDomesticPaymentReceipt",
    "mutualTLS DPoPPayments",
  ],
  "get /{bank}/back-channel-auth/v1/{consentId}": ["getBackChannelConsent", "mutualTLS DPoPBank"],
  "put /{bank}/back-channel-auth/v1/{consentId}": ["updatePayerAccounts", "mutualTLS DPoPBank"],
  "post /{bank}/authorization-results/v1": ["deliverAuthorizationResult", "mutualTLS DPoPBank"],
  "get /{bank}/back-channel-payments/v1": ["listPaymentOrders", "mutualTLS DPoPBank"],
  "get /{bank}/back-channel-payments/v1/{paymentId}": ["getPaymentOrder", "mutualTLS DPoPBank"],
  "put /{bank}/back-channel-payments/v1/{paymentId}": ["reportPaymentStatus", "mutualTLS DPoPBank"],
  "post /{bank}/back-channel-events/v1": ["pollBankEvents", "mutualTLS DPoPBank"],
  "post /{bank}/events/v1": ["pollEvents", "mutualTLS DPoPPayments"],
  "post /{bank}/events/v1/replay": ["replayEvents", "mutualTLS DPoPPayments"],
  "post /{bank}/event-subscriptions/v1": ["createEventSubscription", "mutualTLS DPoPPayments"],
  "get /{bank}/event-subscriptions/v1": ["getEventSubscriptions", "mutualTLS DPoPPayments"],
  "put /{bank}/event-subscriptions/v1/{eventSubscriptionId}": [
    "changeEventSubscription",
    "mutualTLS DPoPPayments",
  ],
  "delete /{bank}/event-subscriptions/v1/{eventSubscriptionId}": [
    "deleteEventSubscription",
    "mutualTLS DPoPPayments",
  ],
  "post /{bank}/disputes/v1": ["takeDisputeStep", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "get /{bank}/disputes/v1/{paymentId}": ["getDispute", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "get /{bank}/cases/v1/{caseId}": ["getOwnCase", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "get /traces/v1/{interactionId}": ["getTraces", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "get /traces/v1": ["listTraces", "mutualTLS DPoPPayments mutualTLS DPoPBank"],
  "get /health/live": ["getLiveness", ""],
  "get /health/serving": ["getServing", ""],
  "get /health/ready": ["getReadiness", ""],
  "get /openapi.json": ["getOpenApiDocument", ""],
  "get /service-levels.json": ["getServiceLevels", ""],
  "get /banks.json": ["getBanks", ""],
  "get /.well-known/oauth-authorization-server/{bank}": ["getAuthorizationServerMetadata", ""],
  "get /jwks": ["getPlatformKeys", ""],
  "get /{bank}/authorization.oauth2": ["authorize", ""],
  "get /{bank}/authorization.sca.oauth2": ["returnFromBank", ""],
  "get /{bank}/authorization.waiting.oauth2": ["awaitBank", ""],
};

const LIST = ["from", "until", "status", "end-to-end-id", "after"];

/** The parameters of each query. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  "get /{bank}/domestic-payment-consents/v1": LIST,
  "get /{bank}/domestic-payments/v1": [...LIST, "idempotency-key"],
  "get /{bank}/back-channel-payments/v1": ["status", "after"],
  "get /traces/v1": ["consent_id", "payment_id", "rejected"],
  "get /service-levels.json": ["bank"],
  "get /{bank}/authorization.oauth2": ["client_id", "request_uri"],
  "get /{bank}/authorization.sca.oauth2": ["oAuthUrl"],
  "get /{bank}/authorization.waiting.oauth2": ["flow", "lang"],
};

async function readDocument(): Promise<OpenApi> {
  await using env = await openEnvironment();
  return await good<OpenApi>(env.browser(new Request(`${AUTH_URL}/openapi.json`)), 200);
}

/** Of the operations API. */
async function readOperations(): Promise<OpenApi> {
  await using env = await openEnvironment();
  return await good<OpenApi>(env.asOperator("/operations/openapi.json"), 200);
}

function operationsOf(document: Pick<OpenApi, "paths">): [string, OpenApiOperation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map((
      [method, operation],
    ): [string, OpenApiOperation] => [`${method} ${path}`, operation])
  );
}

Deno.test("GET /openapi.json: every operation has its stable operationId and its security [A7]", async () => {
  const document = await readDocument();
  const found = operationsOf(document).map(([name, { operationId, security }]) => [
    name,
    [operationId, (security ?? []).flatMap((one) => Object.keys(one)).join(" ")],
  ]);
  assertEquals(Object.fromEntries(found), OPERATION_IDS);
  const schemes = document.components.securitySchemes;
  assertEquals(schemes["mutualTLS"]?.type, "mutualTLS");
  assertEquals([schemes["DPoPPayments"]?.type, schemes["DPoPPayments"]?.scheme], ["http", "DPoP"]);
});

Deno.test("GET /openapi.json: every operation has the answers that every address can give [C3]", async () => {
  for (const [name, { responses }] of operationsOf(await readDocument())) {
    const statuses = Object.keys(responses);
    const expected = name.includes("-") && name.includes("{bank}") && !name.includes(".well-known")
      ? ["400", "401", "403", "404", "405", "406", "429", "500", "503"] // resources
      : ["405", "500"];
    assertEquals(expected.filter((status) => !statuses.includes(status)), [], name);
    assert(statuses.some((status) => /^2|^303$/.test(status)), name);
  }
});

/** Every operation has words, a group and its path's parameters, and with `queries` these and the body that it reads. */
function assertDescribed({ paths, components }: OpenApi, queries?: typeof QUERIES): void {
  for (const [name, operation] of operationsOf({ paths })) {
    const { summary, description, tags = [], parameters = [], requestBody } = operation;
    assert(summary && description && tags.length === 1, name);
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = parameters.map((one) =>
      one.$ref === undefined ? one : present(components.parameters[one.$ref.split("/").at(-1) ?? ""])
    );
    assertEquals(
      declared.filter((one) => one.in === "path").map((one) => one.name).toSorted(),
      inPath.toSorted(),
      name,
    );
    if (queries === undefined) continue;
    assertEquals(requestBody !== undefined, /^(post|put) /.test(name), name);
    const query = declared.filter((one) => one.in === "query").map((one) => one.name);
    assertEquals(query, queries[name] ?? [], name);
  }
}

Deno.test("GET /openapi.json: every operation has words, a group, its parameters and the body that it reads [A7]", async () => {
  assertDescribed(await readDocument(), QUERIES);
});

Deno.test("GET /operations/openapi.json: every operation has words, an operator's token and every answer it can give [OP2]", async () => {
  const document = await readOperations();
  assertDescribed(document);
  const operations = operationsOf(document);
  for (const [name, { security, responses, requestBody, operationId }] of operations) {
    assertEquals(security, [{ Operator: [] }], name);
    const isJson = JSON.stringify(requestBody ?? {}).includes("application/json");
    const ofBody = requestBody === undefined ? [] : ["400", "413", ...isJson ? ["415"] : []];
    const expected = ["401", "403", "405", "429", "500", "503", ...ofBody];
    assertEquals(expected.filter((status) => !(status in responses)), [], name);
    assert(Object.keys(responses).some((status) => /^20[0124]$/.test(status)), name);
    assert(
      Object.keys(responses).every((status) => /^(20[0124]|40[013459]|41[35]|429|500|503)$/.test(status)),
      name,
    );
    assert(/^[a-z][A-Za-z]+$/.test(operationId), name);
  }
  assertEquals(new Set(operations.map(([, { operationId }]) => operationId)).size, operations.length);
});

const ASSERTION = [
  "client_id",
  "client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  "client_assertion",
];

/** The parameters of each form in their order, with their values if they have some. */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  ClientCredentialsRequest: ["grant_type=client_credentials", ...ASSERTION, "scope=payments|bank"],
  AuthorizationCodeRequest: [
    "grant_type=authorization_code",
    ...ASSERTION,
    "code",
    "redirect_uri",
    "code_verifier",
  ],
  PushedAuthorizationRequest: [
    ...ASSERTION,
    "response_type=code",
    "redirect_uri",
    "code_challenge",
    "code_challenge_method=S256",
    "consent_id",
    "scope=payments",
    "state?",
    "dpop_jkt?",
    "ui_locales?",
  ],
};

Deno.test("GET /openapi.json: the forms have the parameters that are read [A7]", async () => {
  const { components: { schemas } } = await readDocument();
  for (const [form, expected] of Object.entries(FORMS)) {
    const { properties = {}, required = [] } = present(schemas[form]);
    const found = Object.entries(properties).map(([name, { enum: values = [] }]) =>
      `${name}${required.includes(name) ? "" : "?"}${values.length === 0 ? "" : `=${values.join("|")}`}`
    );
    assertEquals(found, [...expected], form);
  }
});

interface JwtContent {
  readonly prefixItems: readonly [
    {
      readonly properties: Readonly<Record<string, { readonly const?: string }>>;
      readonly required: readonly string[];
    },
  ];
}

Deno.test("GET /openapi.json: every kind of JWT has the header that is checked [HO1]", async () => {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { contentSchema } = node as { contentSchema?: JwtContent };
    const header = contentSchema?.prefixItems[0];
    if (header !== undefined) {
      const fixed = Object.entries(header.properties).map(([name, { const: value }]) =>
        `${name}=${value ?? "any"}`
      );
      assertEquals(header.required, Object.keys(header.properties));
      found.add(fixed.join(" "));
    }
    for (const member of Object.values(node)) visit(member);
  };
  visit(await readDocument());
  assertEquals([...found].toSorted(), [
    "alg=PS256 typ=JWT kid=any",
    "alg=PS256 typ=order-inquiry+jwt kid=any",
    "alg=PS256 typ=order-statement+jwt kid=any",
    "alg=PS256 typ=secevent+jwt kid=any",
    "alg=RSA-OAEP-256 enc=A256GCM cty=JWT kid=any",
  ]);
});

Deno.test("GET /openapi.json: the fields of a payment's answer are not described as never answered", async () => {
  const { components: { schemas } } = await readDocument();
  assertEquals(JSON.stringify(schemas).includes("Never answered"), false);
  const payment = present(schemas["PaymentInitiation"]?.properties);
  assert("CreditorPostalAddress" in payment && "SupplementaryData" in payment);
  const consent = present(schemas["CreatedConsentInitiation"]?.properties);
  assert(!("CreditorPostalAddress" in consent) && !("SupplementaryData" in consent));
});

Deno.test("GET /openapi.json: every text of a request has its length and its characters", async () => {
  const { components: { schemas } } = await readDocument();
  const loose: string[] = [];
  const visit = (schema: OpenApiSchema, path: string): void => {
    const { type, properties = {}, items, $ref } = schema;
    if ($ref !== undefined) return visit(present(schemas[$ref.split("/").at(-1) ?? ""]), path);
    const bounded = ["pattern", "enum", "const", "format"].some((rule) => rule in schema);
    if ([type].flat().includes("string") && !bounded && !path.endsWith("SchemeName")) loose.push(path);
    for (const [name, member] of Object.entries(properties)) visit(member, `${path}.${name}`);
    for (const part of [...schema["allOf"] ?? [], ...schema["anyOf"] ?? []]) visit(part, path);
    if (items !== undefined) visit(items, `${path}[]`);
  };
  const requests = ["DomesticPaymentConsentRequest", "DomesticPaymentRequest", "PayerAccountsUpdate"];
  for (const name of [...requests, "PaymentStatusReport"]) visit(present(schemas[name]), name);
  assertEquals(loose, []);
});
