/** Valid requests of browsers: the TPP's link, the bank's return, the consent screen, and public pages. */
import { IMPLICIT, sealedReturn, signedReturn } from "../../testing/bank_return.ts";
import { clientToken, createConsent, good, push } from "../../testing/flows.ts";
import {
  type AtBank,
  authorize,
  Browser,
  putAccounts,
  returnPath,
  toBank,
} from "../../testing/authorization_flow.ts";
import { ACCOUNTS, readForm } from "../../testing/front_channel.ts";
import type { Environment } from "../../testing/environment.ts";
import { formPart } from "./body_parts.ts";
import { queryPlace, type Sample } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { returnOriginRule, returnRule } from "./rules.ts";
import { type Attempt, headerOf, record } from "./sample_request.ts";
import { sealedPart } from "./token_parts.ts";
import { openPage, type SampleContext, signingKeyOf, tokensOf } from "./environment.ts";

const PAGES: readonly (readonly [path: string, surface: Sample["surface"]])[] = [
  ["/.well-known/oauth-authorization-server/BANKA", "oauth"],
  ["/jwks", "oauth"],
  ["/health/live", "oauth"],
  ["/health/serving", "oauth"],
  ["/health/ready", "oauth"],
  ["/openapi.json", "oauth"],
  ["/docs", "page"],
  ["/docs?q=payment&lang=es", "page"],
  ["/docs/reference/data-types", "page"],
];

export async function browserSamples(context: SampleContext): Promise<readonly Sample[]> {
  const pages = await Promise.all(PAGES.map(([path, surface]) => openPage(context, path, surface)));
  return [
    await link(context),
    await bankReturn(context, "bank return", await toBank(context.env, { body: IMPLICIT })),
    await bankReturn(context, "bank return to the screen", await reported(context.env)),
    await bankReturn(context, "return of a bank with a screen", await chosen(context.env)),
    ...await screen(context),
    ...pages,
  ];
}

async function link(context: SampleContext): Promise<Sample> {
  const { env } = context;
  const consentId = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const { request_uri } = await good(push(env, consentId), 201);
  const attempt = await record(env, (w) => authorize(new Browser(w), w.tpp, request_uri));
  const query = { client_id: [env.tpp.clientId], request_uri: [request_uri] };
  return { name: "authorize", status: 303, surface: "page", attempt, parts: [requestPart({ query })] };
}

/** A flow whose customer has accounts to choose from at the platform. */
async function reported(env: Environment): Promise<AtBank> {
  const flow = await toBank(env);
  await good(putAccounts(env, env.bankA, flow.consentId, ACCOUNTS), 200);
  return flow;
}

/** A flow whose customer has chosen an account at the bank. */
async function chosen(env: Environment): Promise<AtBank> {
  const flow = await toBank(env, { bank: env.bankB });
  await good(putAccounts(env, env.bankB, flow.consentId, ACCOUNTS.slice(0, 1)), 200);
  return flow;
}

async function bankReturn(context: SampleContext, name: string, flow: AtBank): Promise<Sample> {
  const { env, resigner } = context;
  const token = await signedReturn(env, flow);
  const { bank } = flow;
  const path = await sealedReturn(env, bank.orgId, token);
  const attempt = await record(env, (w) => within(w, flow.browser).open(path));
  const place = queryPlace("oAuthUrl");
  resigner.trust("return", token);
  resigner.trustSealed(place.read(attempt) ?? "", token);
  const key = await signingKeyOf(bank);
  const inner = {
    ...tokensOf(context, "return", key, returnRule(bank, flow.handover)),
    minimum: returnOriginRule(bank, flow.handover),
  };
  const parts = [sealedPart(inner, context.recipient, place), requestPart({ also: sameBrowser(attempt) })];
  return { name, status: 303, surface: "page", attempt, parts };
}

async function screen(context: SampleContext): Promise<readonly Sample[]> {
  const { env } = context;
  const { browser, handover } = await reported(env);
  const answer = await browser.open(await returnPath(env, env.bankA, handover));
  const path = answer.headers.get("location") ?? "";
  const { csrf } = readForm(await (await browser.open(path)).text());
  const body = new URLSearchParams({ csrf, decision: "accept", account: "0" });
  const shown = await record(env, (w) => within(w, browser).open(path));
  const decided = await record(env, (w) => within(w, browser).open(path, { method: "POST", body }));
  const request = requestPart({
    also: sameBrowser(shown),
    query: { flow: [queryPlace("flow").read(shown)] },
  });
  return [
    { name: "consent screen", status: 200, surface: "page", attempt: shown, parts: [request] },
    {
      name: "decision",
      status: 303,
      surface: "page",
      attempt: decided,
      parts: [request, formPart({ csrf: [csrf], decision: ["accept", "refuse"] })],
    },
  ];
}

/** A browser with the cookies of another one. */
function within(env: Environment, { cookies }: Browser): Browser {
  const browser = new Browser(env);
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  return browser;
}

/** Requires the cookie of the valid request. */
function sameBrowser(good: Attempt): (attempt: Attempt) => string | undefined {
  const cookiesOf = (attempt: Attempt): readonly string[] =>
    (headerOf(attempt, "cookie") ?? "").split(/[;,]/).map((cookie) => cookie.trim());
  const [wanted = "none"] = cookiesOf(good);
  return (attempt) => cookiesOf(attempt).includes(wanted) ? undefined : "took another browser's cookie";
}
