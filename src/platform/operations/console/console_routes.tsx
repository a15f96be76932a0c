/** The operators' console: pages over the operations API, on its listener. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Clock } from "../../../base/kernel/clock.ts";
import { consoleAssets } from "../../../console/assets.ts";
import { renderFrame } from "../../../console/frame.tsx";
import { hidden, SIGN_OUT_PATH } from "../../../console/paths.ts";
import type { CallApi, ConsoleProgram } from "../../../console/program.ts";
import { type SignInDeps, signInPages, signOut } from "../../../console/sign_in.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { actionRoutes } from "./action_routes.tsx";
import { banksPage } from "./banks_page.tsx";
import { bulkRoutes } from "./bulk_routes.tsx";
import { casePage, downloadBundle } from "./case_page.tsx";
import { consolePage } from "./console_page.ts";
import { dashboard } from "./dashboard_page.tsx";
import { historyPage } from "./history_page.tsx";
import { evidencePage } from "./evidence_page.tsx";
import { disputesPage } from "./disputes_page.tsx";
import { designPage } from "./design_page.tsx";
import { eventsPage } from "./events_page.tsx";
import { ordersPage } from "./orders_page.tsx";
import { participantPage } from "./participant_page.tsx";
import { participantsPage } from "./participants_page.tsx";
import { type PlainKey, words } from "./phrase.ts";
import { keysPage } from "./keys_page.tsx";
import { Done } from "./parts.tsx";
import { ownPage } from "./own_page.tsx";
import { proposalsPage } from "./proposals_page.tsx";
import { funnelPage } from "./funnel_page.tsx";
import { downloadReport, reportsPage } from "./reports_page.tsx";
import { searchPage } from "./search_page.tsx";
import { unsettledPage } from "./unsettled_page.tsx";
import type { Visit } from "../../../console/visit.ts";

type Values = Readonly<Record<string, string>>;
/** Draws what follows the title of a page, from the values of its query and of its path. */
type Draw = (visit: Visit, query: Values, path: Values) => Promise<JSX.Element>;
/** Of a page whose reader asked for it. */
const REFRESH_SECONDS = 15;
type DeclarePage = (path: string, name: PlainKey, draw: Draw) => PlatformEndpoint;

const DASHBOARD = "/console";

/** The dashboard refreshes itself until the reader stops it. */
function isLive({ live }: Readonly<Record<string, string>>): boolean {
  return live !== "0";
}

/** The console without its way to the operations API. */
export interface ConsoleParts extends Omit<SignInDeps, "program"> {
  readonly program: Omit<ConsoleProgram, "call">;
}

export function consoleRoutes(parts: ConsoleParts, call: CallApi): readonly PlatformEndpoint[] {
  const program = { ...parts.program, call };
  const { clock } = program;
  const page = (path: string, name: PlainKey, draw: Draw): PlatformEndpoint =>
    consolePage(program, "get", path, async (visit, c) => {
      const title = words(visit.language, name);
      const content = await draw(visit, c.req.query(), c.req.param());
      if (path === DASHBOARD && isLive(c.req.query())) c.header("refresh", String(REFRESH_SECONDS));
      const whole = [<h1>{title}</h1>, <Done visit={visit} />, content];
      return c.html(renderFrame(program, { ...visit, title }, whole));
    });
  return [
    endpoint("browser", "public", hidden("get", "/"), [], (c) => c.redirect("/console", 303)),
    ...assetRoutes(),
    ...signInRoutes({ ...parts, program }),
    ...overviewPages(page, clock),
    ...casePages(page, clock),
    consolePage(program, "get", "/console/cases/{id}/bundle", downloadBundle),
    ...["banks.csv", "banks.json", "tpps.csv", "tpps.json", "funnel.csv", "funnel.json"].map((file) =>
      consolePage(program, "get", `/console/reports/${file}`, downloadReport)
    ),
    ...actionRoutes(program),
    ...bulkRoutes(program),
  ];
}

function overviewPages(page: DeclarePage, clock: Clock): readonly PlatformEndpoint[] {
  return [
    page(DASHBOARD, "dashboard.title", (visit, query) => dashboard(visit, clock(), isLive(query))),
    page("/console/orders", "orders.title", (visit, query) => ordersPage(visit, query)),
    page("/console/unsettled", "unsettled.title", (visit) => unsettledPage(visit)),
    page("/console/disputes", "disputes.title", (visit) => disputesPage(visit)),
    page("/console/events", "events.title", (visit, { after }) => eventsPage(visit, after)),
    page("/console/banks", "banks.title", (visit, { after }) => banksPage(visit, after, clock())),
    page("/console/participants", "participants.title", (visit, { search = "", after }) => {
      return participantsPage(visit, search, after);
    }),
    page("/console/participants/{id}", "participant.title", (visit, _query, { id = "" }) => {
      return participantPage(visit, id, clock());
    }),
    page("/console/proposals", "proposals.title", (visit) => proposalsPage(visit)),
    page("/console/keys", "keys.title", (visit) => keysPage(visit)),
    page("/console/design", "design.title", (visit) => Promise.resolve(designPage(visit, clock()))),
    page("/console/own", "own.title", (visit, query) => ownPage(visit, query, clock())),
    page("/console/reports/funnel", "reports.funnel", (visit, query) => funnelPage(visit, query, clock())),
    page("/console/reports", "reports.title", (visit, { kind, id, from, until, after }) => {
      return reportsPage(
        visit,
        { kind: kind === "tpps" ? "tpps" : "banks", id, from, until, after },
        clock(),
      );
    }),
  ];
}

function casePages(page: DeclarePage, clock: Clock): readonly PlatformEndpoint[] {
  return [
    page("/console/audit", "audit.title", (visit, query) => historyPage(visit, query, clock())),
    page("/console/search", "search.title", (visit, query) => searchPage(visit, query)),
    page("/console/cases/{id}", "case.title", (visit, _query, { id = "" }) => casePage(visit, id)),
    page("/console/cases/{id}/evidence/{entry}/{item}", "evidence.title", (visit, _query, named) => {
      return evidencePage(visit, { id: "", entry: "", item: "", ...named });
    }),
  ];
}

function assetRoutes(): readonly PlatformEndpoint[] {
  return consoleAssets().map(([path, answer]) =>
    endpoint("browser", "operator", hidden("get", path), [], answer as never)
  );
}

function signInRoutes(deps: SignInDeps): readonly PlatformEndpoint[] {
  return [
    ...signInPages(deps).map(({ method, path, handle }) =>
      endpoint("browser", "operator", hidden(method, path), [], handle as never)
    ),
    consolePage(deps.program, "post", SIGN_OUT_PATH, (_visit, c) => signOut(deps, c)),
  ];
}
