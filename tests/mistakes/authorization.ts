/** Mistakes in the pushed request, the link for the customer and the redemption of the code. */
import { bodyOf, type PushedRequest } from "testing/answers.ts";
import { dpopKey, type FormChanges, push, verifierOf } from "testing/flows.ts";
import { authorise, Browser, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { type Area, type Mistake, mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

async function pushing(bench: Workbench, form: FormChanges): Promise<Response> {
  return await push(bench.env, await bench.consent(), { form });
}

function parameter(
  name: string,
  value: string | undefined,
  expected: Mistake["expected"],
  how: string,
): Mistake {
  return { name: `${name} ${how}`, part: name, expected, make: (bench) => pushing(bench, { [name]: value }) };
}

export const PUSHED_REQUESTS: Area = {
  name: "pushed requests",
  role: "TPP",
  mistakes: [
    parameter(
      "redirect_uri",
      "https://shop.example/other",
      ({ env }) => `'${env.tpp.redirectUris[0]}'`,
      "is not registered",
    ),
    parameter("redirect_uri", undefined, ({ env }) => `'${env.tpp.redirectUris[0]}'`, "is missing"),
    parameter("code_challenge", "verifier", "43 characters", "is the verifier"),
    parameter("code_challenge_method", "plain", "S256", "is plain"),
    parameter("code_challenge_method", undefined, "S256", "is missing"),
    parameter("response_type", "token", "code", "is token"),
    parameter("response_type", undefined, "code", "is missing"),
    parameter("scope", "openid payments", "payments", "has openid"),
    parameter("scope", undefined, "payments", "is missing"),
    parameter("consent_id", crypto.randomUUID(), "awaits authorisation", "is unknown"),
    parameter("consent_id", undefined, "awaits authorisation", "is missing"),
    parameter("state", "é", "printable ASCII", "has an accent"),
    parameter("dpop_jkt", "1234", "43 characters", "is not a thumbprint"),
    parameter("request", "eyJ", "form parameters", "is a request object"),
    parameter("request_uri", "urn:x", "absent", "is sent to PAR"),
    parameter("response_mode", "fragment", "query", "is fragment"),
  ],
};

/** A code of a finished authorization. */
async function code(bench: Workbench): Promise<{ readonly consentId: string; readonly code: string }> {
  const flow = await toBank(bench.env);
  return { consentId: flow.consentId, code: codeOf(await authorise(bench.env, flow)) };
}

async function redeeming(bench: Workbench, form: FormChanges): Promise<Response> {
  return await redeem(bench.env, await code(bench), { form });
}

export const CODES: Area = {
  name: "codes and grants",
  role: "TPP",
  mistakes: [
    mistake(
      ["grant_type is missing", "grant_type", "client_credentials"],
      (bench) => redeem(bench.env, { consentId: "", code: "x" }, { form: { grant_type: undefined } }),
    ),
    mistake(
      ["grant_type refresh_token", "grant_type", "authorization_code"],
      (bench) => redeem(bench.env, { consentId: "", code: "x" }, { form: { grant_type: "refresh_token" } }),
    ),
    mistake(
      ["no code", "code", "redirect"],
      (bench) => redeem(bench.env, { consentId: "", code: "x" }, { form: { code: undefined } }),
    ),
    mistake(
      ["a mistyped code", "code", "within 60 s"],
      (bench) => redeem(bench.env, { consentId: "", code: "x".repeat(43) }),
    ),
    mistake([
      "another redirect_uri than the pushed one",
      "redirect_uri",
      ({ env }) => `'${env.tpp.redirectUris[0]}'`,
    ], (bench) => redeeming(bench, { redirect_uri: `${bench.env.tpp.redirectUris[0]}/` })),
    mistake(
      ["another code_verifier", "code_verifier", "SHA-256 is the code_challenge"],
      async (bench) => redeeming(bench, { code_verifier: await sha256("another") }),
    ),
    mistake([
      "another DPoP key than the pushed one",
      "DPoP proof header jwk",
      async () => `'${await thumbprint(await dpopKey())}'`,
    ], async (bench) => {
      const form = { dpop_jkt: await thumbprint(await dpopKey()) };
      const flow = await toBank(bench.env, { form });
      const code = codeOf(await authorise(bench.env, flow));
      return await redeem(bench.env, { consentId: flow.consentId, code }, { key: await testKey(10) });
    }),
    mistake(["a code twice", "code", "redeemed once"], async (bench) => {
      const issued = await code(bench);
      await (await redeem(bench.env, issued)).body?.cancel();
      return await redeem(bench.env, issued);
    }),
    mistake(
      ["a challenge that has led to a code", "code_challenge", "new for each authorization"],
      async (bench) => {
        const { consentId } = await bench.payable();
        return await pushing(bench, { code_challenge: await sha256(await verifierOf(consentId)) });
      },
    ),
  ],
};

/** Opens a link for the customer, changed. */
function link(
  name: string,
  change: (query: URLSearchParams) => void,
  part: string,
  expected: string,
): Mistake {
  return {
    name,
    part,
    expected,
    make: async (bench) => {
      const form = { code_challenge: await sha256(crypto.randomUUID()) };
      const pushed = await bodyOf<PushedRequest>(pushing(bench, form));
      const query = new URLSearchParams({
        client_id: bench.env.tpp.clientId,
        request_uri: pushed.request_uri,
      });
      change(query);
      return await new Browser(bench.env).open(`/BANKA/authorization.oauth2?${query}`);
    },
  };
}

export const LINKS: Area = {
  name: "links for the customer",
  role: "TPP",
  mistakes: [
    link("no client_id", (query) => query.delete("client_id"), "client_id", "that pushed the request"),
    link(
      "no request_uri",
      (query) => query.delete("request_uri"),
      "request_uri",
      "urn:ietf:params:oauth:request_uri:",
    ),
    link(
      "a request_uri that is a URL",
      (query) => query.set("request_uri", "https://shop.example/request"),
      "request_uri",
      "urn:ietf:params:oauth:request_uri:",
    ),
    link(
      "an expired request_uri",
      (query) => query.set("request_uri", `urn:ietf:params:oauth:request_uri:${"x".repeat(43)}`),
      "request_uri",
      "599 s",
    ),
    link(
      "client_id is the organisation's id",
      (query) => query.set("client_id", "example-shop"),
      "client_id",
      "that pushed the request",
    ),
    link("client_id twice", (query) => query.append("client_id", "SC-1"), "client_id", "once"),
  ],
};
