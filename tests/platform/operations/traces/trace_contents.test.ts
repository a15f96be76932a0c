/** Traces must not contain anything that a copy of the database could be misused for. */
import { assert, assertEquals } from "@std/assert";
import { ACCOUNTS } from "testing/back_channel.ts";
import { authorised, putAccounts, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, DEBTOR_ACCOUNT, good, pay, requestToken } from "testing/flows.ts";
import { maskedText } from "../../../../src/platform/operations/traces/trace.ts";
import { comeBack } from "../../core/frontchannel/come_back.ts";
import { storedTraces } from "./read_traces.ts";

/** Notes every credential that crosses the two hosts. */
function watchCredentials(env: Environment): Set<string> {
  const seen = new Set<string>();
  const add = (text: string | null | undefined): void => {
    if (text !== null && text !== undefined && text.length > 8) seen.add(text);
  };
  const { api, browser } = env;
  const watched = async (request: Request, send: () => Promise<Response>): Promise<Response> => {
    add(request.headers.get("authorization")?.split(" ")[1]);
    for (const name of ["dpop", "x-jws-signature"]) add(request.headers.get(name));
    add(request.headers.get("cookie")?.split("=")[1]);
    const body = request.body === null ? "" : await request.clone().text();
    const form = new URLSearchParams([...new URLSearchParams(body), ...new URL(request.url).searchParams]);
    for (const name of ["client_assertion", "code", "code_verifier", "request_uri", "oAuthUrl", "csrf"]) {
      add(form.get(name));
    }
    const answer = await send();
    for (const name of ["access_token", "request_uri"]) {
      add(new RegExp(`"${name}":"([^"]+)"`).exec(await answer.clone().text())?.[1]);
    }
    const location = URL.parse(answer.headers.get("location") ?? "");
    for (const name of ["code", "oAuthUrl"]) add(location?.searchParams.get(name));
    return answer;
  };
  env.api = (request, as) => watched(request, () => api(request, as));
  env.browser = (request) => watched(request, () => browser(request));
  return seen;
}

Deno.test("no trace holds a credential, an account or a name [TRC2]", async () => {
  await using env = await openEnvironment();
  const credentials = watchCredentials(env);
  const risk = { MerchantCustomerIdentification: "Margaret Hamilton" };
  const flow = await authorised(env, { body: consentBody({ risk }) });
  await good(pay(env, flow), 201);
  assert((await pay(env, flow, { idempotencyKey: "key", body: "{}" })).status === 400);
  // Rejections that quote what was sent.
  const { token } = flow.bound;
  const number = DEBTOR_ACCOUNT.Identification;
  const other = await toBank(env);
  await good(putAccounts(env, other.bank, other.consentId, ACCOUNTS), 200);
  for (const aud of [token, number, "GB33 BUKB 2020 1555 5555 55", "margaret@mail.example"]) {
    assertEquals((await comeBack(env, other, { aud })).status, 400);
    assertEquals((await requestToken(env, env.tpp, "BANKA", { form: { client_id: aud } })).status, 401);
    const proofChanges = { claims: { htm: aud, htu: `https://api.platform.example/${aud}` } };
    await call(env, env.tpp, await clientToken(env, env.tpp), `/BANKA/domestic-payments/v1/${aud}`, {
      proofChanges,
    });
  }
  await env.platform.writeTraces();
  const traces = await env.store.list({ prefix: ["trace"], limit: 1000 });
  const runs = await env.store.list({ prefix: ["trace_run"], limit: 1000 });
  const stored = [...traces, ...runs].map(({ key, value }) => JSON.stringify([key, value]));
  assert((await storedTraces(env)).length > 30 && credentials.size > 30);
  const accounts = [
    number,
    "FR1420041010050500013M02606",
    "GB33 BUKB",
    ...ACCOUNTS.map(({ Identification }) => Identification),
  ];
  for (
    const secret of [...credentials, ...accounts, "ACME Inc", "Margaret", "margaret", "customer-1", "FRESCO"]
  ) {
    const found = stored.find((text) => text.includes(secret));
    assertEquals(found, undefined, `a trace has ${secret}`);
  }
});

Deno.test("maskedText cuts credentials, numbers and addresses, and leaves ids and short words [TRC2]", () => {
  const id = "SC-7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11";
  for (
    const kept of [
      "'BANKA'",
      `'${id}'`,
      "612 s old",
      "'https://auth.example/BANKA'",
      "kid 'p4rI-0fVkqZVAdY3Qx1p3yZ0d2M'",
    ]
  ) {
    assertEquals(maskedText(kept), kept);
  }
  for (
    const [text, shown] of [
      [`'${"a".repeat(43)}'`, "'aaaa...'"],
      ["eyJhbGciOiJQUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "eyJh....e30.x"],
      ["'GB33BUKB20201555555555'", "'GB33...'"],
      ["'GB33 BUKB 2020 1555 5555 55'", "'GB33...'"],
      ["call +57 300 123 4567", "call +57 3..."],
      ["'ana.perez@mail.example'", "'ana....'"],
      [`${id}0`, `${id.slice(0, 4)}...`],
    ] as const
  ) {
    assertEquals(maskedText(text), shown);
  }
});
