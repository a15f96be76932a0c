// deno-lint-ignore-file jsx-key -- precompiled JSX would draw a key as an attribute, and nothing is drawn twice
/** The page of each change: what it does, a form with a reason, and the answer of the operations API. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { honoPath } from "../../base/http/endpoint.ts";
import type { PlatformEndpoint } from "../http/endpoint.ts";
import { type Action, ACTIONS, bodyOf, type Field } from "./actions.ts";
import { type ConsoleDeps, consolePage } from "./console_page.tsx";
import { renderFrame } from "./frame.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { PROPOSED_PATH } from "./proposals_page.tsx";
import type { Visit } from "./visit.ts";

export function actionRoutes(deps: ConsoleDeps): readonly PlatformEndpoint[] {
  return ACTIONS.flatMap((action) => {
    const path = `/console${action.path}`;
    return [
      consolePage(deps, "get", path, (visit, c) => {
        return c.html(draw(deps, visit, { action, path: c.req.path, of: subjectOf(action, c.req.path) }));
      }),
      consolePage(deps, "post", path, async (visit, c) => {
        const api = c.req.path.replace(/^\/console/, "/operations");
        const answer = await visit.change(api, bodyOf(action, visit.form));
        if (answer.ok && isProposed(answer.value)) return c.redirect(PROPOSED_PATH, 303);
        if (answer.ok) {
          return c.redirect(`${action.back}?${new URLSearchParams({ done: action.title })}`, 303);
        }
        const of = subjectOf(action, c.req.path);
        const shown = { action, path: c.req.path, of, fault: answer.description };
        return c.html(draw(deps, visit, shown), answer.status as ContentfulStatusCode);
      }),
    ];
  });
}

/** Whether the API has stored the change as a proposal (contract FE1). */
function isProposed(value: unknown): boolean {
  return Object(Object(value)["Data"])["State"] === "proposed";
}

/** The first id in the path: the bank, the participant or the payment. */
function subjectOf({ path }: Action, sent: string): string {
  const place = honoPath({ path } as Parameters<typeof honoPath>[0]).split("/").findIndex((part) =>
    part.startsWith(":")
  );
  const raw = sent.split("/")[place + 1] ?? "";
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

interface Shown {
  readonly action: Action;
  readonly path: string;
  /** The id of what is changed. */
  readonly of: string;
  /** Why the API did not make the change, in English. */
  readonly fault?: string;
}

function draw({ site }: ConsoleDeps, visit: Visit, shown: Shown): string {
  const { language, formToken } = visit;
  const { action: { title, fields, back }, path, of, fault } = shown;
  const view = { ...visit, title: words(language, title), site };
  return renderFrame(
    view,
    <article class="card act">
      <h1>{phrase(language, title)}</h1>
      <p class="subject">
        <code dir="ltr">{of}</code>
      </p>
      <p>{phrase(language, `${title}.effect` as PlainKey)}</p>
      {fault === undefined ? null : (
        <div class="notice" role="alert" id="fault">
          <p>{phrase(language, "form.rejected")}</p>
          <p lang="en" dir="ltr">{fault}</p>
        </div>
      )}
      <form method="post" action={path}>
        <input type="hidden" name="form_token" value={formToken} />
        {fields.map((field) => <FieldRow visit={visit} field={field} />)}
        <div class="buttons">
          <button type="submit" class="accept">{phrase(language, title)}</button>
          <a class="button" href={back}>
            <span>{phrase(language, "form.back")}</span>
          </a>
        </div>
      </form>
    </article>,
  );
}

function FieldRow({ visit, field }: { readonly visit: Visit; readonly field: Field }): JSX.Element {
  const { language, form } = visit;
  const { name, kind, least, most } = field;
  const value = form.get(name) ?? "";
  const common = { id: name, name, "aria-describedby": `${name}-hint` };
  if (kind === "check") {
    return (
      <div class="check">
        <input type="checkbox" id={name} name={name} value="true" checked={value === "true"} />
        <label for={name}>{phrase(language, `field.${name}`)}</label>
      </div>
    );
  }
  return (
    <div class="field">
      <label for={name}>{phrase(language, `field.${name}`)}</label>
      <p class="hint" id={`${name}-hint`}>{phrase(language, `field.${name}.hint` as PlainKey)}</p>
      {kind === "lines"
        ? <textarea {...common} required minlength={least} maxlength={most} rows={3}>{value}</textarea>
        : kind === "time"
        ? <input {...common} type="datetime-local" required value={value} dir="ltr" />
        : <input {...common} type="text" required minlength={least} maxlength={most} value={value} />}
    </div>
  );
}
