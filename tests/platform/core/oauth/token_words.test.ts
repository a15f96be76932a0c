/** What a client is told, and what the log says, of each fault of a code's redemption. */
import { assertEquals } from "@std/assert";
import { openTestStore } from "testing/test_store.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { openRequestReads } from "../../../../src/base/store/request_reads.ts";
import { transact } from "../../../../src/base/store/transaction.ts";
import { authorizationCodeRecord } from "../../../../src/platform/core/oauth/authorization_code_store.ts";
import { authorizationCodeKey } from "../../../../src/platform/config/store_keys.ts";
import { openAccessTokenStore } from "../../../../src/platform/core/oauth/access_token_store.ts";
import {
  type CodeGrantDeps,
  grantAuthorizationCode,
} from "../../../../src/platform/core/oauth/grant_authorization_code.ts";
import type { TokenRequest } from "../../../../src/platform/core/oauth/grant_client_credentials.ts";
import {
  CLIENT,
  CONSENT,
  type Form,
  formOf,
  KEY,
  NOW,
  OTHER_KEY,
  REDIRECT,
  type Told,
  told,
  VERIFIER,
} from "./told.ts";

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
  const deps: unknown = {
    store,
    clock: now,
    tokens,
    consents: {
      stageNote: (_: unknown, id: string, note: object) => Promise.resolve(void notes.push([id, note])),
    },
    isConsentAuthorized: () => Promise.resolve(isAuthorised),
  };
  const request: unknown = {
    caller: { clientId: CLIENT, registration: 1, role: "PISP" },
    authentication: { method: "a test" },
    bank: "BANKA",
    proof: { jkt: KEY },
    form: formOf({ code: "the code", redirect_uri: REDIRECT, code_verifier: VERIFIER, ...form }),
    reads: openRequestReads(store),
    replayRecords: { pending: [] },
    ...by,
  };
  const answer = await told(grantAuthorizationCode(deps as CodeGrantDeps, request as TokenRequest));
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
    [{ at: NOW + 60_000 }, grant(late, lateWords), open],
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
