/** What a client is told, and what the log says, of each wrong member of a pushed request and of a code's redemption. */
import { assertEquals } from "@std/assert";
import { openTestStore } from "testing/test_store.ts";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { openRequestReads } from "../../../../src/base/store/request_reads.ts";
import { transact } from "../../../../src/base/store/transaction.ts";
import {
  authorizationCodeRecord,
  stageCode,
} from "../../../../src/platform/core/oauth/authorization_code_store.ts";
import { authorizationCodeKey } from "../../../../src/platform/config/store_keys.ts";
import { openAccessTokenStore } from "../../../../src/platform/core/oauth/access_token_store.ts";
import {
  type CodeGrantDeps,
  grantAuthorizationCode,
} from "../../../../src/platform/core/oauth/grant_authorization_code.ts";
import {
  type Push,
  pushAuthorizationRequest,
  type PushDeps,
} from "../../../../src/platform/core/oauth/push_authorization_request.ts";
import type { TokenRequest } from "../../../../src/platform/core/oauth/grant_client_credentials.ts";

const NOW = 1_800_000_000_000;
const CLIENT = "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
const CONSENT = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
const REDIRECT = "https://shop.example/back";
const VERIFIER = "v".repeat(43);
const KEY = "k".repeat(42) + "A";
const OTHER_KEY = "j".repeat(42) + "A";

type Form = Readonly<Record<string, string | undefined>>;
type Told = readonly [
  reason: string,
  description: string | undefined,
  fault: unknown,
  detail: string | undefined,
];

function formOf(form: Form): ReadonlyMap<string, string> {
  return new Map(Object.entries(form).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]));
}

async function told(work: Promise<unknown>): Promise<Told | unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { description, fault, detail } = error.parts;
    return [error.reason, description, fault, detail];
  }
}

/** Pushes a request with these parameters. The client, the consent and the proof can be others. */
async function pushed(
  form: Form,
  { client = {}, awaits = true, sequence = 199, proof }: {
    readonly client?: object | null;
    readonly awaits?: boolean;
    readonly sequence?: number;
    readonly proof?: object;
  } = {},
): Promise<unknown> {
  await using store = await openTestStore();
  const good = { role: "PISP", orgId: "SHOP", redirectUris: [REDIRECT, `${REDIRECT}2`], registration: 1 };
  const deps: unknown = {
    store,
    clock: () => NOW,
    findClient: () => Promise.resolve(client === null ? null : { ...good, ...client }),
    consents: {
      find: () => Promise.resolve({ value: { sequence } }),
      stageNote: () => Promise.resolve(),
    },
    awaitsAuthorisation: () => Promise.resolve(awaits),
  };
  const request: unknown = {
    clientId: CLIENT,
    bank: "BANKA",
    form: formOf({
      response_type: "code",
      redirect_uri: REDIRECT,
      code_challenge: await sha256(VERIFIER),
      code_challenge_method: "S256",
      consent_id: CONSENT,
      scope: "payments",
      ...form,
    }),
    ...proof && { proof },
    reads: openRequestReads(store),
    replayRecords: { pending: [] },
  };
  return await told(pushAuthorizationRequest(deps as PushDeps, request as Push));
}

const HASH = "a SHA-256 hash in base64url: 43 characters without padding";
const AWAITING = "the ConsentId of a consent that you created at this bank and that awaits authorisation";
const UNUSABLE = "consent_id is not a consent of this client that awaits authorisation.";
const PRINTABLE = "1 to 2048 printable ASCII characters";

Deno.test("each wrong parameter of a pushed request is told with what was expected and received [PA1, FAPI-G13]", async () => {
  const registered = `one that you have registered: '${REDIRECT}' or '${REDIRECT}2'`;
  type Row = readonly [
    form: Form,
    description: string,
    fault: readonly [at: string, expected: string, received?: string],
    options?: Parameters<typeof pushed>[1],
  ];
  const rows: readonly Row[] = [
    [{ request_uri: "x" }, "request_uri is not allowed here.", ["request_uri", "absent"]],
    [
      { request: "x" },
      "Request objects are not supported.",
      ["request", "absent: send its claims as form parameters"],
    ],
    [
      { response_mode: "fragment" },
      "Only response_mode query is supported.",
      ["response_mode", "'query' or absent", "'fragment'"],
    ],
    [{ response_type: undefined }, "response_type is required.", ["response_type", "'code'"]],
    [
      { redirect_uri: undefined },
      "redirect_uri is missing or not registered.",
      ["redirect_uri", registered],
    ],
    [
      { redirect_uri: `${REDIRECT}3` },
      "redirect_uri is missing or not registered.",
      ["redirect_uri", registered, `'${REDIRECT}3'`],
    ],
    [{ code_challenge: undefined }, "code_challenge is missing or malformed.", ["code_challenge", HASH]],
    [{ code_challenge: "x" }, "code_challenge is missing or malformed.", ["code_challenge", HASH, "'x'"]],
    [
      { code_challenge_method: "plain" },
      "code_challenge_method must be S256.",
      ["code_challenge_method", "'S256'", "'plain'"],
    ],
    [{ dpop_jkt: "x" }, "dpop_jkt is malformed.", ["dpop_jkt", HASH, "'x'"]],
    [
      { dpop_jkt: KEY },
      "dpop_jkt is not the thumbprint of the DPoP proof's key.",
      ["dpop_jkt", `'${OTHER_KEY}' (the thumbprint of the DPoP proof's key)`, `'${KEY}'`],
      { proof: { jkt: OTHER_KEY } },
    ],
    [{ state: "" }, "state is malformed.", ["state", PRINTABLE, "''"]],
    [{ state: "\n" }, "state is malformed.", ["state", PRINTABLE, "'\\u{a}'"]],
    [{ consent_id: undefined }, UNUSABLE, ["consent_id", AWAITING]],
    [{ consent_id: "x" }, UNUSABLE, ["consent_id", AWAITING, "'x'"]],
    [{}, UNUSABLE, ["consent_id", AWAITING, `'${CONSENT}'`], { awaits: false }],
    [
      {},
      "The consent was requested too often.",
      [
        "consent_id",
        "of a consent with fewer than 200 recorded steps: create another one",
        `'${CONSENT}'`,
      ],
      { sequence: 200 },
    ],
  ];
  for (const [form, description, [at, expected, received], options] of rows) {
    const fault = { at, expected, ...received === undefined ? {} : { received } };
    const wrong = ["oauth.invalid_request", description, fault, description];
    assertEquals(await pushed(form, options), wrong, JSON.stringify([form, options]));
  }
  const type = { at: "response_type", expected: "'code'", received: "'token'" };
  const words = "response_type must be 'code'";
  assertEquals(await pushed({ response_type: "token" }), [
    ...["oauth.unsupported_response_type", undefined, type, words],
  ]);
  assertEquals(await pushed({}, { client: null }), [
    ...["client.not_authenticated", undefined, undefined, "client is gone"],
  ]);
  assertEquals(await pushed({}, { client: { role: "ASPSP" } }), [
    ...["oauth.unauthorized_client", undefined, undefined, undefined],
  ]);
});

Deno.test("a pushed request with each parameter at its bound is taken [PA1]", async () => {
  for (
    const [form, options] of [
      [{}],
      [{ response_mode: "query", state: "x".repeat(2048), dpop_jkt: KEY }],
      [{ dpop_jkt: KEY }, { proof: { jkt: KEY } }],
      [{ scope: " payments " }],
    ] as const
  ) {
    const answer = await pushed(form, options) as { readonly expires_in?: number };
    assertEquals(answer.expires_in, 599, JSON.stringify(answer));
  }
  const long = await pushed({ state: "x".repeat(2049) }) as Told;
  assertEquals(long.slice(0, 2), ["oauth.invalid_request", "state is malformed."]);
  const scopes = [undefined, "", "payments openid", "bank"];
  for (const scope of scopes) {
    const received = scope === undefined ? {} : { received: `'${scope}'` };
    assertEquals(await pushed({ scope }), [
      "oauth.invalid_scope",
      "scope must be payments.",
      { at: "scope", expected: "'payments'", ...received },
      "scope must be 'payments'",
    ]);
  }
});

Deno.test("a challenge that has led to a code is spent for a day [PA1, J38]", async () => {
  await using store = await openTestStore();
  const deps = { store, clock: () => NOW };
  const code = {
    clientId: CLIENT,
    registration: 1,
    bank: "BANKA",
    consentId: CONSENT,
    redirectUri: REDIRECT,
    codeChallenge: await sha256(VERIFIER),
  } as Parameters<typeof stageCode>[1];
  const made = await transact(deps, { what: "code" }, (tx) => stageCode(tx, code, NOW));
  const entry = await authorizationCodeRecord.get(store, authorizationCodeKey(made.hash));
  assertEquals(made.hash, await sha256(made.text));
  assertEquals(entry?.value, { ...code, expiresAt: NOW + 60_000, failures: 0 });
  const isTaken = async (after: number): Promise<unknown> => {
    const answer = await told(pushAuthorizationRequest(
      {
        store,
        clock: () => NOW + after,
        findClient: () => Promise.resolve({ role: "PISP", redirectUris: [REDIRECT], registration: 1 }),
        consents: { find: () => Promise.resolve(null), stageNote: () => Promise.resolve() },
        awaitsAuthorisation: () => Promise.resolve(true),
      } as unknown as PushDeps,
      {
        clientId: CLIENT,
        bank: "BANKA",
        form: formOf({
          response_type: "code",
          redirect_uri: REDIRECT,
          code_challenge: code.codeChallenge,
          code_challenge_method: "S256",
          consent_id: CONSENT,
          scope: "payments",
        }),
        reads: openRequestReads(store),
        replayRecords: { pending: [] },
      } as unknown as Push,
    ));
    return Array.isArray(answer) ? answer : "taken";
  };
  const spent = {
    at: "code_challenge",
    expected: "new for each authorization",
    received: "one that has led to a code",
  };
  const words = "code_challenge was used before.";
  assertEquals(await isTaken(86_399_999), ["oauth.invalid_request", words, spent, words]);
  assertEquals(await isTaken(86_400_000), "taken");
});

/** Redeems a code that was issued 1 s ago, with changes to it, to the form and to who asks. */
async function redeemed(
  { code = {}, form = {}, by = {}, isAuthorised = true, at = NOW + 1000 }: {
    readonly code?: object | null;
    readonly form?: Form;
    readonly by?: object;
    readonly isAuthorised?: boolean;
    readonly at?: number;
  } = {},
): Promise<readonly unknown[]> {
  await using store = await openTestStore();
  const [notes, now]: [unknown[], () => number] = [[], () => at];
  const issued = {
    clientId: CLIENT,
    registration: 1,
    bank: "BANKA",
    consentId: CONSENT,
    redirectUri: REDIRECT,
    codeChallenge: await sha256(VERIFIER),
    expiresAt: NOW + 60_000,
    failures: 0,
    ...code,
  } as Parameters<typeof authorizationCodeRecord.set>[2];
  const key = authorizationCodeKey(await sha256("the code"));
  if (code !== null) {
    await transact({ store, clock: now }, { what: "code" }, (tx) => {
      authorizationCodeRecord.set(tx, key, issued);
      return Promise.resolve();
    });
  }
  const tokens = openAccessTokenStore(now);
  const deps = {
    store,
    clock: now,
    tokens,
    consents: {
      stageNote: (_: unknown, id: string, note: object) => Promise.resolve(void notes.push([id, note])),
    },
    isConsentAuthorized: () => Promise.resolve(isAuthorised),
  } as unknown as CodeGrantDeps;
  const request = {
    caller: { clientId: CLIENT, registration: 1, role: "PISP" },
    authentication: { method: "a test" },
    bank: "BANKA",
    proof: { jkt: KEY },
    form: formOf({ code: "the code", redirect_uri: REDIRECT, code_verifier: VERIFIER, ...form }),
    reads: openRequestReads(store),
    replayRecords: { pending: [] },
    ...by,
  } as unknown as TokenRequest;
  const answer = await told(grantAuthorizationCode(deps, request));
  const after = (await authorizationCodeRecord.get(store, key))?.value;
  return [
    answer,
    after === undefined ? after : { failures: after.failures, isUsed: after.redeemedFor !== undefined },
    notes,
  ];
}

const UNKNOWN = {
  at: "code",
  expected: "one that this bank's authorization returned to you within 60 s",
  received: "an unknown one",
};
const OTHER_CLIENT = "code of another client or of a deleted registration";

Deno.test("each fault of a redemption is told, counted if the client is the code's, and no more than that [TA8, TA12]", async () => {
  const [open, counted] = [{ failures: 0, isUsed: false }, { failures: 1, isUsed: false }];
  const late = {
    at: "code",
    expected: "redeemed within 60 s and with at most 5 wrong attempts",
    received: "an expired or void one",
  };
  const lateWords = "code must be redeemed within 60 s and with at most 5 wrong attempts";
  const redirect = {
    at: "redirect_uri",
    expected: `'${REDIRECT}' (the one of the pushed request)`,
    received: `'${REDIRECT}/'`,
  };
  const challenge = await sha256(VERIFIER);
  const verifier = {
    at: "code_verifier",
    expected: `43 to 128 characters whose SHA-256 is the code_challenge '${challenge}'`,
  };
  const grant = (fault: { readonly at: string; readonly expected: string }, detail?: string): Told => [
    "oauth.invalid_grant",
    undefined,
    fault,
    detail ?? `${fault.at} must be ${fault.expected}`,
  ];
  type Row = readonly [Parameters<typeof redeemed>[0], Told, left: object | undefined];
  const rows: readonly Row[] = [
    [{ code: null }, grant(UNKNOWN, "unknown code"), undefined],
    [{ by: { caller: { clientId: "SC-2", registration: 1 } } }, grant(UNKNOWN, OTHER_CLIENT), open],
    [{ by: { caller: { clientId: CLIENT, registration: 2 } } }, grant(UNKNOWN, OTHER_CLIENT), open],
    [{ by: { bank: "BANKB" } }, grant(UNKNOWN, "code of another bank"), counted],
    [{ form: { redirect_uri: `${REDIRECT}/` } }, grant(redirect), counted],
    [{ form: { code_verifier: undefined } }, grant(verifier), counted],
    [{ form: { code_verifier: "w".repeat(43) } }, grant(verifier), counted],
    [{ at: NOW + 60_000 }, [...grant(late).slice(0, 3), lateWords] as unknown as Told, open],
    [{ code: { failures: 5 } }, grant(late), { failures: 5, isUsed: false }],
    [{ at: NOW + 60_000, form: { code_verifier: undefined } }, grant(verifier), open],
    [
      { isAuthorised: false },
      grant({ at: "the consent of the code", expected: "Authorized" }),
      open,
    ],
  ];
  for (const [given, expected, left] of rows) {
    assertEquals(await redeemed(given), [expected, left, []], JSON.stringify(given));
  }
  const bound = await redeemed({ code: { dpopJkt: OTHER_KEY } });
  const words = `the key with the thumbprint '${OTHER_KEY}', to which the code is bound`;
  const jwk = { at: "DPoP proof header jwk", expected: words, received: `'${KEY}'` };
  assertEquals(bound, [
    ["dpop.key_mismatch", undefined, jwk, `DPoP proof header jwk must be ${words}`],
    counted,
    [],
  ]);
  const required = "code and redirect_uri are required.";
  const missing = async (form: Form): Promise<unknown> => (await redeemed({ form }))[0];
  const codeFault = { at: "code", expected: "the code of the redirect to your redirect_uri" };
  const uriFault = { at: "redirect_uri", expected: "the one of the pushed request" };
  const wrong = (fault: typeof codeFault): Told => [
    "oauth.invalid_request",
    required,
    fault,
    `${fault.at} must be ${fault.expected}`,
  ];
  assertEquals(await missing({ code: undefined }), wrong(codeFault));
  assertEquals(await missing({ redirect_uri: undefined }), wrong(uriFault));
  assertEquals(await missing({ code: undefined, redirect_uri: undefined }), wrong(codeFault));
});

Deno.test("a redemption issues one token with the code's rights, and a second one revokes it and says so [TA1, FAPI-D12]", async () => {
  const [answer, left, notes] = await redeemed({ code: { dpopJkt: KEY } });
  const { access_token: token, ...rest } = answer as Readonly<Record<string, unknown>>;
  assertEquals(rest, { token_type: "DPoP", expires_in: 3600, scope: "payments" });
  assertEquals(left, { failures: 0, isUsed: true });
  const issued = { code: await sha256("the code"), token: await sha256(String(token)) };
  const authentication = { method: "a test" };
  assertEquals(notes, [[CONSENT, {
    at: NOW + 1000,
    event: "consent.token_issued",
    actor: CLIENT,
    issued,
    authentication,
  }]]);
  const used = { redeemedFor: await sha256("the token") };
  const again = {
    at: "code",
    expected: "redeemed once",
    received: "one that was redeemed before; its token is revoked now",
  };
  const reused = ["oauth.invalid_grant", undefined, again, "code must be redeemed once"];
  const state = { failures: 0, isUsed: true };
  assertEquals(await redeemed({ code: used }), [reused, state, []], "its token has ended");
  const [fault] = await redeemed({ code: used, form: { code_verifier: undefined } }) as [Told];
  assertEquals((fault[2] as { readonly at: string }).at, "code_verifier", "what is wrong revokes nothing");
});
