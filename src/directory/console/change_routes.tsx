/** The page of each change: what it does, a form, and the answer of the administrators' endpoint. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ChangeForm, type FormField } from "../../console/form.tsx";
import { renderFrame } from "../../console/frame.tsx";
import type { ConsoleProgram } from "../../console/program.ts";
import type { Visit } from "../../console/visit.ts";
import type { Language } from "../../pages/language.ts";
import { participantRecord } from "../answer_schema.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { type Change, CHANGES, type Field, type ParticipantRecord } from "./changes.ts";
import { consolePage } from "./console_page.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";

export function changeRoutes(program: ConsoleProgram, environment: string): readonly Endpoint[] {
  return CHANGES.flatMap((change) => {
    const page = `/console${change.page}`;
    return [
      consolePage(program, "get", page, async (visit, c) => {
        return c.html(draw(program, visit, { change, c, record: await recordOf(visit, c) }));
      }),
      consolePage(program, "post", page, async (visit, c) => {
        const record = await recordOf(visit, c);
        const body = change.body(visit.form, { environment, record });
        const answer = await visit.change(filled(change.api, c), body, change.method);
        if (answer.ok) return c.redirect(resultOf(change, c, answer.value), 303);
        const shown = { change, c, record, fault: answer.description };
        return c.html(draw(program, visit, shown), answer.status as ContentfulStatusCode);
      }),
    ];
  });
}

interface Shown {
  readonly change: Change;
  readonly c: Context;
  readonly record: ParticipantRecord | undefined;
  /** Why the change was not made, in English. */
  readonly fault?: string;
}

/** The participant of the path, if it has one that exists. */
async function recordOf(visit: Visit, c: Context): Promise<ParticipantRecord | undefined> {
  const orgId = c.req.param("org_id");
  if (orgId === undefined) return undefined;
  const answer = await visit.read(`/participants/${encodeURIComponent(orgId)}`, participantRecord);
  return answer.ok ? answer.value : undefined;
}

/** A path with the parameters of the request. */
function filled(template: string, c: Context): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(c.req.param(name) ?? ""));
}

/** The page of the participant, which the answer of an onboarding names, or the first page. */
function resultOf({ name }: Change, c: Context, value: unknown): string {
  const orgId: unknown = c.req.param("org_id") ?? Object(value)["org_id"];
  const page = typeof orgId === "string" ? `/console/participants/${encodeURIComponent(orgId)}` : "/console";
  return `${page}?${new URLSearchParams({ done: name })}`;
}

function draw(program: ConsoleProgram, visit: Visit, { change, c, record, fault }: Shown): string {
  const { language } = visit;
  const title = words(language, `change.${change.name}`);
  const orgId = c.req.param("org_id");
  const subject = [orgId, c.req.param("kid")].filter((part) => part !== undefined).join(" ");
  const view = {
    title,
    ...(subject === "" ? {} : { of: subject }),
    effect: phrase(language, `change.${change.name}.effect`),
    path: c.req.path,
    fields: change.fields(record).map((field) => formField(language, field, record)),
    submit: title,
    back: orgId === undefined ? "/console" : `/console/participants/${encodeURIComponent(orgId)}`,
    fault,
  };
  return renderFrame(program, { ...visit, title }, <ChangeForm visit={visit} view={view} />);
}

function formField(language: Language, field: Field, record: ParticipantRecord | undefined): FormField {
  const { name, kind, hint, most, isOptional = false, choices, value } = field;
  const label = phrase(language, `field.${name}` as PlainKey);
  const hintKey = hint ?? (name === "reason" ? "field.reason.hint" : undefined);
  return {
    name,
    kind,
    label,
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
