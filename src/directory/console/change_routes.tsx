/** The page of each change: what it does, a form, and the answer of the administrators' endpoint. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ChangeForm, type FormField } from "../../console/form.tsx";
import { renderFrame } from "../../console/frame.tsx";
import type { ConsoleProgram } from "../../console/program.ts";
import type { Visit } from "../../console/visit.ts";
import type { Language } from "../../pages/language.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { participantRecord, proposal } from "../http/answer_schema.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import {
  type Change,
  CHANGES,
  differencesOf,
  type Field,
  hiddenOf,
  OWN_CHANGES,
  type ParticipantRecord,
} from "./changes.ts";
import { consolePage } from "./console_page.ts";
import { OWN_PATH } from "./people.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { ProposalDetails, PROPOSALS_PATH, type ProposalView, PROPOSED_PATH } from "./proposals_page.tsx";

export function changeRoutes(program: ConsoleProgram, environment: string): readonly Endpoint[] {
  return [...CHANGES, ...OWN_CHANGES].flatMap((change) => {
    const page = `/console${change.page}`;
    return [
      consolePage(program, "form", page, async (visit, c) => {
        const proposed = await proposalOf(visit, c);
        const record = await recordOf(visit, c, proposed);
        return c.html(draw(program, visit, { change, c, record, proposed }));
      }),
      consolePage(program, "post", page, async (visit, c) => {
        const record = await recordOf(visit, c, undefined);
        const body = change.body(visit.form, { environment, record });
        const answer = await visit.change(fillPath(change.api, visit, c), body, change.method);
        if (answer.ok) return done(program, visit, { change, c, value: answer.value });
        const proposed = await proposalOf(visit, c);
        const shown = {
          change,
          c,
          record: record ?? await recordOf(visit, c, proposed),
          proposed,
          fault: answer.description,
        };
        return c.html(draw(program, visit, shown), answer.status as ContentfulStatusCode);
      }),
    ];
  });
}

interface Shown {
  readonly change: Change;
  readonly c: Context;
  readonly record: ParticipantRecord | undefined;
  /** The proposal of the path, if it has one that exists. */
  readonly proposed: ProposalView | undefined;
  /** Why the change was not made, in English. */
  readonly fault?: string;
}

/** The participant of the path, or of the proposal, if there is one that exists. */
async function recordOf(
  visit: Visit,
  c: Context,
  proposed: ProposalView | undefined,
): Promise<ParticipantRecord | undefined> {
  const orgId = orgIdOf(visit, c) ?? proposed?.org_id;
  if (orgId === undefined) return undefined;
  const answer = await visit.read(`/participants/${encodeURIComponent(orgId)}`, participantRecord);
  return answer.ok ? answer.value : undefined;
}

async function proposalOf(visit: Visit, c: Context): Promise<ProposalView | undefined> {
  const id = c.req.param("proposal_id");
  if (id === undefined) return undefined;
  const answer = await visit.read(`/proposals/${encodeURIComponent(id)}`, proposal);
  if (!answer.ok) throw new ApiError("directory.not_found", "no such proposal");
  return answer.value;
}

/** The organisation of the person, or else the one of the path. */
function orgIdOf({ person }: Visit, c: Context): string | undefined {
  return person.organisation ?? c.req.param("org_id");
}

/** A path with the parameters of the request. */
function fillPath(template: string, visit: Visit, c: Context): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => {
    return encodeURIComponent((name === "org_id" ? orgIdOf(visit, c) : c.req.param(name)) ?? "");
  });
}

/** The page after a change that was made or proposed. */
function done(
  program: ConsoleProgram,
  visit: Visit,
  { change, c, value }: { readonly change: Change; readonly c: Context; readonly value: unknown },
): Response | Promise<Response> {
  const { state, proposal_id, change: approved, org_id, result } = Object(value);
  if (change.name === "login" && state === undefined) {
    return c.html(drawLogin(program, visit, c.req.param("org_id"), value));
  }
  if (change.name === "approve" && approved === "issueLogin") {
    return c.html(drawLogin(program, visit, org_id, result));
  }
  if (state === "proposed") return c.redirect(PROPOSED_PATH, 303);
  if (proposal_id !== undefined) {
    return c.redirect(`${PROPOSALS_PATH}?${new URLSearchParams({ done: change.name })}`, 303);
  }
  return c.redirect(resultOf(change, visit, c, value), 303);
}

/** The page of the participant, which the answer of an onboarding names, or the first page. */
function resultOf({ name }: Change, visit: Visit, c: Context, value: unknown): string {
  const orgId: unknown = c.req.param("org_id") ?? Object(value)["org_id"];
  const page = pageOf(visit, typeof orgId === "string" ? orgId : undefined);
  return `${page}?${new URLSearchParams({ done: name })}`;
}

function pageOf({ person }: Visit, orgId: string | undefined): string {
  if (person.organisation !== undefined) return OWN_PATH;
  return orgId === undefined ? "/console" : `/console/participants/${encodeURIComponent(orgId)}`;
}

/** A token is in no address and in no cookie: it is shown in the answer to the form, once. */
function drawLogin(program: ConsoleProgram, visit: Visit, orgId: string | undefined, value: unknown): string {
  const { language } = visit;
  const title = words(language, "change.login.done");
  return renderFrame(
    program,
    { ...visit, title, address: pageOf(visit, orgId) },
    <article class="card">
      <h1>{title}</h1>
      <p>{phrase(language, "login.once")}</p>
      <p>
        <code id="token" class="detail" dir="ltr">{String(Object(value)["token"])}</code>
      </p>
      <p>
        <a class="button" href={pageOf(visit, orgId)}>
          <span>{phrase(language, "participant.title")}</span>
        </a>
      </p>
    </article>,
  );
}

function draw(program: ConsoleProgram, visit: Visit, { change, c, record, proposed, fault }: Shown): string {
  const { language } = visit;
  const title = words(language, `change.${change.name}`);
  const orgId = orgIdOf(visit, c);
  const subject = [orgId, c.req.param("kid"), c.req.param("login_id")].filter((part) => part !== undefined)
    .join(" ");
  const view = {
    title,
    ...(subject === "" ? {} : { of: subject }),
    ofName: record?.org_name,
    effect: phrase(language, `change.${change.name}.effect`),
    details: proposed === undefined ? null : (
      <ProposalDetails
        visit={visit}
        one={proposed}
        differences={record === undefined ? [] : differencesOf(proposed, record)}
      />
    ),
    path: c.req.path,
    fields: change.fields(record).map((field) => formField(language, field, record)),
    hidden: hiddenOf(change, visit.form, record),
    submit: title,
    isDanger: change.name.startsWith("revoke"),
    back: proposed === undefined ? pageOf(visit, orgId) : PROPOSALS_PATH,
    fault,
  };
  return renderFrame(program, { ...visit, title }, <ChangeForm visit={visit} view={view} />);
}

function formField(language: Language, field: Field, record: ParticipantRecord | undefined): FormField {
  const { name, kind, hint, most, isOptional = false, choices, value, ofRole } = field;
  const group = field.group === undefined ? undefined : words(language, `group.${field.group}`);
  const label = phrase(language, `field.${name}` as PlainKey);
  const hintKey = hint ?? (name === "reason" ? "field.reason.hint" : undefined);
  return {
    name,
    kind,
    label,
    group,
    ofRole,
    isOptional,
    ...(most === undefined ? {} : { most }),
    ...(hintKey === undefined ? {} : { hint: phrase(language, hintKey) }),
    ...(choices === undefined ? {} : {
      choices: choices.values.map((one) =>
        [one, phrase(language, `${choices.of}.${one}` as PlainKey)] as const
      ),
    }),
    ...(value === undefined || record === undefined ? {} : { value: value(record) }),
  };
}
