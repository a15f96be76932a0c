/** Good requests of browsers: the TPP's link, the bank's return, the consent screen, and pages that anybody may read. */
import { IMPLICIT, sealedReturn, signedReturn } from "../testing/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  clientToken,
  createConsent,
  good,
  push,
  putAccounts,
  returnPath,
  toBank,
} from "../testing/flows.ts";
import { ACCOUNTS, readForm } from "../testing/front_channel.ts";
import type { World } from "../testing/environment.ts";
import { formPart } from "./body_parts.ts";
import { queryPlace, type Specimen } from "./parts.ts";
import { requestPart } from "./request_parts.ts";
import { returnOriginRule, returnRule } from "./rules.ts";
import { headerOf, record, type Shot } from "./sample_request.ts";
import { sealedPart } from "./token_parts.ts";
import { openPage, signingKeyOf, tokensOf, type Workshop } from "./environment.ts";

const PAGES: readonly (readonly [path: string, surface: Specimen["surface"]])[] = [
  ["/.well-known/oauth-authorization-server/BANKA", "oauth"],
  ["/jwks", "oauth"],
  ["/health/live", "oauth"],
  ["/health/ready", "oauth"],
  ["/openapi.json", "oauth"],
  ["/docs", "page"],
  ["/docs?q=payment&lang=es", "page"],
  ["/docs/reference/data-types", "page"],
];

/** All of them. */
export async function browserSpecimens(workshop: Workshop): Promise<readonly Specimen[]> {
  const pages = await Promise.all(PAGES.map(([path, surface]) => openPage(workshop, path, surface)));
  return [
    await link(workshop),
    await bankReturn(workshop, "bank return", await toBank(workshop.world, { body: IMPLICIT })),
    await bankReturn(workshop, "bank return to the screen", await reported(workshop.world)),
    await bankReturn(workshop, "return of a bank with a screen", await chosen(workshop.world)),
    ...await screen(workshop),
    ...pages,
  ];
}

async function link(workshop: Workshop): Promise<Specimen> {
  const { world } = workshop;
  const consentId = (await createConsent(world, await clientToken(world, world.tpp))).Data.ConsentId;
  const { request_uri } = await good(push(world, consentId), 201);
  const shot = await record(world, (w) => authorize(new Browser(w), w.tpp, request_uri));
  const query = { client_id: [world.tpp.clientId], request_uri: [request_uri] };
  return { name: "authorize", status: 303, surface: "page", shot, parts: [requestPart({ query })] };
}

/** A flow whose customer has accounts to choose from. */
async function reported(world: World): Promise<AtBank> {
  const flow = await toBank(world);
  await good(putAccounts(world, world.bankA, flow.consentId, ACCOUNTS), 200);
  return flow;
}

/** A flow whose customer has chosen an account at the bank. */
async function chosen(world: World): Promise<AtBank> {
  const flow = await toBank(world, { bank: world.bankB });
  await good(putAccounts(world, world.bankB, flow.consentId, ACCOUNTS.slice(0, 1)), 200);
  return flow;
}

async function bankReturn(workshop: Workshop, name: string, flow: AtBank): Promise<Specimen> {
  const { world, notary } = workshop;
  const token = await signedReturn(world, flow);
  const { bank } = flow;
  const path = await sealedReturn(world, bank.orgId, token);
  const shot = await record(world, (w) => within(w, flow.browser).open(path));
  const place = queryPlace("oAuthUrl");
  notary.trust("return", token);
  notary.trustSealed(place.read(shot) ?? "", token);
  const key = await signingKeyOf(bank);
  const inner = {
    ...tokensOf(workshop, "return", key, returnRule(bank, flow.handover)),
    minimum: returnOriginRule(bank, flow.handover),
  };
  const parts = [sealedPart(inner, workshop.recipient, place), requestPart({ also: sameBrowser(shot) })];
  return { name, status: 303, surface: "page", shot, parts };
}

async function screen(workshop: Workshop): Promise<readonly Specimen[]> {
  const { world } = workshop;
  const { browser, handover } = await reported(world);
  const answer = await browser.open(await returnPath(world, world.bankA, handover));
  const path = answer.headers.get("location") ?? "";
  const { csrf } = readForm(await (await browser.open(path)).text());
  const body = new URLSearchParams({ csrf, decision: "accept", account: "0" });
  const shown = await record(world, (w) => within(w, browser).open(path));
  const decided = await record(world, (w) => within(w, browser).open(path, { method: "POST", body }));
  const request = requestPart({
    also: sameBrowser(shown),
    query: { flow: [queryPlace("flow").read(shown)] },
  });
  return [
    { name: "consent screen", status: 200, surface: "page", shot: shown, parts: [request] },
    {
      name: "decision",
      status: 303,
      surface: "page",
      shot: decided,
      parts: [request, formPart({ csrf: [csrf], decision: ["accept", "refuse"] })],
    },
  ];
}

/** A browser with the cookies of another one. */
function within(world: World, { cookies }: Browser): Browser {
  const browser = new Browser(world);
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  return browser;
}

/** The cookie that the good request has. */
function sameBrowser(good: Shot): (shot: Shot) => string | undefined {
  const cookiesOf = (shot: Shot): readonly string[] =>
    (headerOf(shot, "cookie") ?? "").split(/[;,]/).map((cookie) => cookie.trim());
  const [wanted = "none"] = cookiesOf(good);
  return (shot) => cookiesOf(shot).includes(wanted) ? undefined : "took another browser's cookie";
}
