/** What a client is told, and what the log says, of each wrong member of a pushed request. */
import { assertEquals } from "@std/assert";
import { openTestStore } from "testing/test_store.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { openRequestReads } from "../../../../src/base/store/request_reads.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { transact } from "../../../../src/base/store/transaction.ts";
import {
  authorizationCodeRecord,
  stageCode,
} from "../../../../src/platform/core/oauth/authorization_code_store.ts";
import { findPushedRequest } from "../../../../src/platform/core/oauth/pushed_request_store.ts";
import { referenceOf } from "../../../../src/platform/core/oauth/pushed_request.ts";
import type { AuditEvent } from "../../../../src/platform/evidence/audit_trail.ts";
import { authorizationCodeKey } from "../../../../src/platform/config/store_keys.ts";
import {
  type Push,
  pushAuthorizationRequest,
  type PushDeps,
} from "../../../../src/platform/core/oauth/push_authorization_request.ts";
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

/** Pushes a request with these parameters. The client, the consent and the proof can be others. */
async function pushed(
  form: Form,
  { client = {}, awaits = true, sequence = 199, proof, store, now = NOW, note = () => {} }: {
    readonly client?: object | null;
    readonly awaits?: boolean;
    readonly sequence?: number;
    readonly proof?: object;
    readonly store?: Store;
    readonly now?: number;
    readonly note?: (id: string, note: AuditEvent) => void;
  } = {},
): Promise<unknown> {
  if (store === undefined) {
    await using empty = await openTestStore();
    return await pushed(form, { client, awaits, sequence, ...proof && { proof }, store: empty });
  }
  const good = { role: "PISP", orgId: "SHOP", redirectUris: [REDIRECT, `${REDIRECT}2`], registration: 1 };
  const deps: unknown = {
    store,
    clock: () => now,
    findClient: () => Promise.resolve(client === null ? null : { ...good, ...client }),
    consents: {
      find: () => Promise.resolve({ value: { sequence } }),
      stageNote: (_: unknown, id: string, entry: AuditEvent) => Promise.resolve(note(id, entry)),
    },
    awaitsAuthorisation: () => Promise.resolve(awaits),
  };
  const request: unknown = {
    clientId: CLIENT,
    bank: "BANKA",
    authentication: { method: "a test" },
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
    const answer = await pushed({}, { sequence: 0, store, now: NOW + after });
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

Deno.test("a pushed request is stored whole, and its evidence has the parameters that count [PA1, PA9]", async () => {
  await using store = await openTestStore();
  const notes: unknown[] = [];
  const form = {
    state: "s",
    dpop_jkt: KEY,
    ui_locales: "fr-CA x_y en",
    prompt: "login",
    client_assertion: "a",
  };
  const answer = await pushed({ client_id: CLIENT, ...form }, {
    store,
    note: (id, { evidence = [], ...note }) => {
      const texts = evidence.map(({ kind, bytes }) => [kind, new TextDecoder().decode(bytes)]);
      notes.push([id, note, texts]);
    },
  }) as { readonly request_uri: string };
  const hash = await sha256(referenceOf(answer.request_uri) ?? "");
  const entry = await findPushedRequest(store, hash);
  const codeChallenge = await sha256(VERIFIER);
  assertEquals(entry?.value as unknown, {
    clientId: CLIENT,
    registration: 1,
    bank: "BANKA",
    consentId: CONSENT,
    redirectUri: REDIRECT,
    codeChallenge,
    state: "s",
    dpopJkt: KEY,
    uiLocales: ["fr-CA", "en"],
    expiresAt: NOW + 599_000,
    completed: false,
    sessions: 0,
  });
  const kept = new URLSearchParams([
    ["response_type", "code"],
    ["redirect_uri", REDIRECT],
    ["code_challenge", codeChallenge],
    ["code_challenge_method", "S256"],
    ["consent_id", CONSENT],
    ["client_id", CLIENT],
    ["state", "s"],
    ["dpop_jkt", KEY],
    ["scope", "payments"],
    ["ui_locales", "fr-CA en"],
  ]).toString();
  const event = "consent.authorization_requested";
  const authentication = { method: "a test" };
  const note = { at: NOW, event, actor: CLIENT, authentication };
  assertEquals(notes, [[CONSENT, note, [["pushed_request", kept]]]]);
});
