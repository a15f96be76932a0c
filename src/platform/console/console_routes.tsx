/** The operators' console: pages over the operations API, on its listener. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Clock } from "../../base/kernel/clock.ts";
import { answerDocument, documentStore } from "../../base/http/public_document.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { actionRoutes } from "./action_routes.tsx";
import { banksPage } from "./banks_page.tsx";
import { casePage } from "./case_page.tsx";
import { consolePage, hidden } from "./console_page.tsx";
import { dashboard } from "./dashboard_page.tsx";
import { renderFrame } from "./frame.tsx";
import { historyPage } from "./history_page.tsx";
import { ordersPage } from "./orders_page.tsx";
import { participantsPage } from "./participants_page.tsx";
import { type PlainKey, words } from "./phrase.ts";
import { keysPage } from "./keys_page.tsx";
import { ownPage } from "./own_page.tsx";
import { proposalsPage } from "./proposals_page.tsx";
import { reportsPage } from "./reports_page.tsx";
import { type SignInDeps, signInRoutes } from "./sign_in_routes.tsx";
import { searchPage } from "./search_page.tsx";
import { ASSETS } from "./style.ts";
import type { Visit } from "./visit.ts";

type Draw = (visit: Visit, query: Readonly<Record<string, string>>, id: string) => Promise<JSX.Element>;

export interface ConsoleRouteDeps extends SignInDeps {
  readonly clock: Clock;
}

export function consoleRoutes(deps: ConsoleRouteDeps): readonly PlatformEndpoint[] {
  const { clock, site } = deps;
  const page = (path: string, name: PlainKey, draw: Draw): PlatformEndpoint =>
    consolePage(deps, "get", path, async (visit, c) => {
      const title = words(visit.language, name);
      return c.html(
        renderFrame({ ...visit, title, site }, await draw(visit, c.req.query(), c.req.param("id") ?? "")),
      );
    });
  return [
    ...assetRoutes(),
    ...signInRoutes(deps),
    page("/console", "dashboard.title", (visit) => dashboard(visit, clock())),
    page("/console/orders", "orders.title", (visit, { state, after }) => {
      return ordersPage(visit, state === "held" ? "held" : "dead", after);
    }),
    page("/console/banks", "banks.title", (visit, { after }) => banksPage(visit, after, clock())),
    page("/console/participants", "participants.title", (visit, { search = "", after }) => {
      return participantsPage(visit, search, after);
    }),
    page("/console/proposals", "proposals.title", (visit) => proposalsPage(visit)),
    page("/console/keys", "keys.title", (visit) => keysPage(visit)),
    page("/console/own", "own.title", (visit, { q = "", after }) => ownPage(visit, q.trim(), after)),
    page("/console/reports", "reports.title", (visit, { kind, id, from, until, after }) => {
      return reportsPage(visit, { kind: kind === "tpps" ? "tpps" : "banks", id, from, until, after });
    }),
    page("/console/audit", "audit.title", (visit, { subject = "", actor = "", event = "", after }) => {
      return historyPage(visit, { subject: subject.trim(), actor, event, after });
    }),
    page("/console/search", "search.title", (visit, { q = "" }) => searchPage(visit, q.trim())),
    page("/console/cases/{id}", "case.title", (visit, _query, id) => casePage(visit, id)),
    ...actionRoutes(deps),
  ];
}

function assetRoutes(): readonly PlatformEndpoint[] {
  const document = documentStore();
  return ASSETS.map(([path, type, content]) =>
    endpoint("browser", "operator", hidden("get", path), [], async (c) => {
      return answerDocument(c, await document(path, type, () => content));
    })
  );
}
