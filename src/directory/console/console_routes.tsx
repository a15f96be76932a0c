/** The directory's console: pages over the administrators' endpoints, on their listener. */
import type { Endpoint } from "../../base/http/endpoint.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ConsoleProgram } from "../../console/program.ts";
import { consoleAssets } from "../../console/assets.ts";
import { renderFrame } from "../../console/frame.tsx";
import { SIGN_OUT_PATH } from "../../console/paths.ts";
import { type SignInDeps, signInPages, signOut } from "../../console/sign_in.ts";
import { history, participantRecord, proposals } from "../http/answer_schema.ts";
import type { Visit } from "../../console/visit.ts";
import { HISTORY_PAGE } from "../http/admin_routes.ts";
import type { Directory } from "../changes/directory.ts";
import { asOrgId } from "../participants/identifiers.ts";
import { findParticipant, listParticipants } from "../participants/participant_store.ts";
import { changeRoutes } from "./change_routes.tsx";
import { consolePage, type PageContext, publicPage } from "./console_page.ts";
import { fileRoutes } from "./file_routes.ts";
import { peopleHead } from "../participants/history_store.ts";
import { OWN_PATH, PEOPLE_PATH } from "./people.ts";
import { History } from "./history_table.tsx";
import { More } from "../../console/parts.tsx";
import type { HistoryView } from "./participant_view.ts";
import { ParticipantPage } from "./participant_page.tsx";
import { ParticipantsPage } from "./participants_page.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { PROPOSALS_PATH, ProposalsPage } from "./proposals_page.tsx";

export interface ConsoleRouteDeps extends SignInDeps {
  readonly directory: Directory;
}

export function consoleRoutes(deps: ConsoleRouteDeps): readonly Endpoint[] {
  const { program, directory } = deps;
  return [
    ...consoleAssets().map(([path, answer]) => publicPage("get", path, answer)),
    ...signInPages(deps).map(({ method, path, handle }) => publicPage(method, path, handle)),
    consolePage(program, "post", SIGN_OUT_PATH, (_visit, c) => signOut(deps, c)),
    participantsRoute(deps),
    participantRoute(deps),
    ownRoute(deps),
    proposalsRoute(deps),
    peopleRoute(deps),
    ...fileRoutes(program, directory),
    ...changeRoutes(program, directory.terms.environment),
  ];
}

/** Declares a page that changes nothing. */
function readingPage(
  program: ConsoleProgram,
  path: string,
  title: PlainKey,
  draw: (visit: Visit, c: PageContext) => Promise<JSX.Element>,
): Endpoint {
  return consolePage(program, "get", path, async (visit, c) => {
    const page = await draw(visit, c);
    return c.html(renderFrame(program, { ...visit, title: words(visit.language, title) }, page));
  });
}

function participantsRoute({ program, directory }: ConsoleRouteDeps): Endpoint {
  return readingPage(program, "/console", "participants.title", async (visit, c) => {
    const view = {
      all: await listParticipants(directory.store),
      search: (c.req.query("search") ?? "").trim(),
      sort: c.req.query("sort") === "end" ? "end" as const : "name" as const,
      statementDays: directory.terms.statementDays,
      now: directory.clock(),
      restoredAt: await directory.restored.takenAt(),
    };
    return <ParticipantsPage visit={visit} view={view} />;
  });
}

function participantRoute({ program, directory }: ConsoleRouteDeps): Endpoint {
  return readingPage(program, "/console/participants/{org_id}", "participant.title", async (visit, c) => {
    const path = `/participants/${encodeURIComponent(c.req.param("org_id") ?? "")}`;
    const orgId = asOrgId(c.req.param("org_id"));
    const [record, known] = await Promise.all([
      visit.read(path, participantRecord),
      orgId === undefined ? null : findParticipant(directory.store, orgId),
    ]);
    if (!record.ok || known === null) throw new ApiError("directory.not_found", "no such participant");
    const at = `/console/participants/${record.value.org_id}`;
    const entries = await readHistoryView(
      visit,
      path,
      parseBefore(c.req.query("before")) ?? known.value.historyLength,
    );
    const view = { visit, record: record.value, history: entries, at, now: directory.clock() };
    return <ParticipantPage {...view} />;
  });
}

function proposalsRoute({ program }: ConsoleRouteDeps): Endpoint {
  return readingPage(program, PROPOSALS_PATH, "proposals.title", async (visit, c) => {
    const after = c.req.query("after");
    const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
    const page = await visit.read(`/proposals${query}`, proposals);
    if (!page.ok) throw new ApiError("directory.not_found", "no such page");
    return <ProposalsPage visit={visit} page={page.value} />;
  });
}

/** What people attempted: sign-ins, forbidden pages, approvals that were refused. */
function peopleRoute({ program, directory }: ConsoleRouteDeps): Endpoint {
  return readingPage(program, PEOPLE_PATH, "people.title", async (visit, c) => {
    const { length } = await peopleHead(directory.store);
    const view = await readHistoryView(visit, "/people", parseBefore(c.req.query("before")) ?? length);
    return (
      <>
        <h1>{phrase(visit.language, "people.title")}</h1>
        <section class="card">
          <History visit={visit} history={view} />
        </section>
        <More visit={visit} path={PEOPLE_PATH} query={{ before: view.before }} cursor="before" />
      </>
    );
  });
}

/** The newest entries before a number. */
async function readHistoryView(visit: Visit, path: string, before: number): Promise<HistoryView> {
  const first = Math.max(0, before - HISTORY_PAGE);
  const query = first === 0 ? "" : `?${new URLSearchParams({ after: String(first - 1) })}`;
  const page = await visit.read(`${path}/history${query}`, history);
  if (!page.ok) throw new ApiError("directory.not_found", "no such page");
  const entries = page.value.history.filter(({ sequence }) => sequence < before);
  return { entries, isIntact: page.value.is_intact, before: first === 0 ? undefined : String(first) };
}

function parseBefore(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function ownRoute({ program, directory }: ConsoleRouteDeps): Endpoint {
  return readingPage(program, OWN_PATH, "own.title", async (visit) => {
    const path = `/participants/${encodeURIComponent(visit.person.organisation ?? "")}`;
    const record = await visit.read(path, participantRecord);
    if (!record.ok) throw new ApiError("directory.not_found", "no such participant");
    const view = { visit, record: record.value, at: OWN_PATH, now: directory.clock() };
    return <ParticipantPage {...view} />;
  });
}
