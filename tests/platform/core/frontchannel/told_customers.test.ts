/** The whole of each page and log entry that a customer's link or return leads to if it cannot go on. */
import { assertEquals } from "@std/assert";
import { goodReturn } from "support/at_bank.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { type AtBank, authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { consentBody, DEBTOR_ACCOUNT, good } from "testing/flows.ts";
import { adminCall } from "testing/participants.ts";
import { postRegistration, renewedStatement } from "testing/registration.ts";
import { steps } from "support/steps.ts";
import { post, toScreen } from "./deciding_customer.ts";

const SHOP = "https://www.example.com/";
const CALLBACK = "https://shop.example/callback";
const SPANISH = { "accept-language": "es" };

/** What the page and the log say. */
interface Told {
  readonly status: number;
  /** Of the TPP's `ui_locales`, which are French, or of the browser. */
  readonly language: "fr" | "es";
  readonly next: string | null;
  /** Whether the page names the TPP. */
  readonly isNamed: boolean;
  /** In the page's address in other languages. */
  readonly fault?: string;
  readonly logged: readonly string[];
}

async function toldBy(env: Environment, answer: Response): Promise<Told> {
  const html = await answer.text();
  const id = answer.headers.get("x-fapi-interaction-id");
  const lines = env.logged.map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ interactionId, reason, why }) => interactionId === id && (reason ?? why) !== undefined);
  const logged = lines.map(({ event, bank, reason = "", detail, why = detail }) =>
    `${event} ${bank} ${reason}: ${why}`
  );
  const fault = /fault=([a-z_]+)/.exec(html)?.[1];
  return {
    status: answer.status,
    language: html.includes('<html lang="fr"') ? "fr" : "es",
    next: /<a class="button" href="([^"?]*)/.exec(html)?.[1] ??
      answer.headers.get("location")?.split("?")[0] ?? null,
    isNamed: html.includes("Example Shop Ltd"),
    ...(fault === undefined ? {} : { fault }),
    logged,
  };
}

async function begun(env: Environment, body = IMPLICIT): Promise<AtBank> {
  return await toBank(env, { body, form: { ui_locales: "fr" } });
}

async function inSecondTab(env: Environment, flow: AtBank): Promise<AtBank> {
  const { claims } = await openHandover(env.bankA, await authorize(flow.browser, env.tpp, flow.requestUri));
  return { ...flow, handover: claims };
}

async function returned(env: Environment, flow: AtBank, browser = flow.browser): Promise<Response> {
  return await browser.open(await goodReturn(env, flow), { headers: SPANISH });
}

function opened(env: Environment, flow: AtBank): Promise<Response> {
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: flow.requestUri });
  return new Browser(env).open(`/BANKA/authorization.oauth2?${query}`, { headers: SPANISH });
}

async function moveRedirect(env: Environment): Promise<void> {
  env.now += 1000;
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, env.tpp, { redirect_uris });
  assertEquals((await postRegistration(env, env.tpp, { statement, claims: { redirect_uris } })).status, 201);
}

const CASES: Readonly<Record<string, readonly [act: (env: Environment) => Promise<Response>, told: Told]>> = {
  "the TPP is inactive": [async (env) => {
    const flow = await begun(env);
    const path = `/participants/${env.tpp.orgId}/software/status`;
    await good(adminCall(env, "PUT", path, { status: "Inactive", reason: "a test" }), 200);
    env.now += 301_000;
    return await opened(env, flow);
  }, {
    status: 400,
    language: "fr",
    next: null,
    isNamed: false,
    fault: "client_not_usable",
    logged: [
      "request.rejected BANKA authorization.client_unusable: the client must be active, with this redirect_uri",
    ],
  }],
  "the redirect_uri is not registered any more": [async (env) => {
    const flow = await begun(env);
    await moveRedirect(env);
    return await opened(env, flow);
  }, {
    status: 400,
    language: "fr",
    next: null,
    isNamed: false,
    fault: "client_not_usable",
    logged: [
      "request.rejected BANKA authorization.redirect_uri_unusable: the client must be active, with this redirect_uri",
    ],
  }],
  "the standing of the TPP is unknown": [async (env) => {
    env.now += 590_000;
    env.network = () => Promise.reject(new TypeError("connection refused"));
    const flow = await begun(env);
    env.now += 500_000;
    return await opened(env, flow);
  }, {
    status: 503,
    language: "fr",
    next: CALLBACK,
    isNamed: true,
    logged: [
      "participants.status_list_unavailable BANKA : TypeError",
      "request.rejected BANKA platform.unavailable: no fresh copy of https://directory.example/status: TypeError",
    ],
  }],
  "no address of the TPP is left": [async (env) => {
    const flow = await begun(env);
    await moveRedirect(env);
    return await returned(env, flow);
  }, {
    status: 400,
    language: "es",
    next: SHOP,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.finished: no address of the TPP is left"],
  }],
  "the consent lapsed before the answer of another tab": [async (env) => {
    const CompletionDateTime = new Date(env.now + 300_000).toISOString();
    const flow = await begun(
      env,
      consentBody({
        initiation: { DebtorAccount: DEBTOR_ACCOUNT },
        data: { Authorisation: { AuthorisationType: "Any", CompletionDateTime } },
      }),
    );
    const second = await inSecondTab(env, flow);
    env.now += 300_000;
    await (await returned(env, second)).body?.cancel();
    return await returned(env, flow);
  }, {
    status: 400,
    language: "fr",
    next: SHOP,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.finished: answered before"],
  }],
  "another tab was first": [async (env) => {
    const flow = await begun(env);
    await (await returned(env, await inSecondTab(env, flow))).body?.cancel();
    return await returned(env, flow);
  }, {
    status: 400,
    language: "fr",
    next: SHOP,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.accepted: decided before"],
  }],
  "another choice was first": [async (env) => {
    const flow = await begun(env, consentBody());
    const screen = await toScreen(env, flow);
    await (await post(flow, screen, "accept")).body?.cancel();
    return await post(flow, screen, "refuse");
  }, {
    status: 400,
    language: "fr",
    next: CALLBACK,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.accepted: decided before"],
  }],
  "another browser": [async (env) => await returned(env, await begun(env), new Browser(env)), {
    status: 400,
    language: "es",
    next: SHOP,
    isNamed: true,
    logged: [
      "request.rejected BANKA interaction.not_yours: returned in another browser",
      "security.session_of_another_browser BANKA interaction.not_yours: returned in another browser",
    ],
  }],
  "another browser, after the end": [async (env) => {
    const flow = await begun(env);
    await (await returned(env, flow)).body?.cancel();
    return await returned(env, flow, new Browser(env));
  }, {
    status: 400,
    language: "es",
    next: SHOP,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.finished: returned after its end"],
  }],
  "a late session of another browser": [async (env) => {
    const flow = await begun(env);
    env.now += 900_000;
    await (await returned(env, flow)).body?.cancel();
    return await returned(env, flow, new Browser(env));
  }, {
    status: 400,
    language: "es",
    next: SHOP,
    isNamed: true,
    logged: ["request.rejected BANKA interaction.finished: returned after its end"],
  }],
  "a result of another consent": [async (env) => {
    const flow = await begun(env);
    const path = await goodReturn(env, flow, { ref_id: crypto.randomUUID().replaceAll(/[0-9a-f]/g, "0") });
    return await flow.browser.open(path, { headers: SPANISH });
  }, {
    status: 303,
    language: "es",
    next: CALLBACK,
    isNamed: false,
    logged: ["bank_return.unusable BANKA : ref_id must be the consent of this session"],
  }],
};

Deno.test("each page says in the TPP's language where to go on, and the log says why [G1, G8, AZ4, B4]", async (t) => {
  await steps(t, CASES, async ([act, told]) => {
    await using env = await openEnvironment();
    assertEquals(await toldBy(env, await act(env)), told);
  });
});
