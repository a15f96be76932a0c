/** The page of each change: what it does, a form with a reason, and the answer of the operations API. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { honoPath } from "../../../base/http/endpoint.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { type Action, ACTIONS, bodyOf, type Field } from "./actions.ts";
import { ChangeForm, type FormField } from "../../../console/form.tsx";
import { disputeDetails } from "./disputes_page.tsx";
import { renderFrame } from "../../../console/frame.tsx";
import type { ConsoleProgram } from "../../../console/program.ts";
import type { Language } from "../../../pages/language.ts";
import { consolePage } from "./console_page.ts";
import { readNames } from "./names.ts";
import { orderDetails } from "./orders_page.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { ProposalDetails, proposalOf, PROPOSED_PATH } from "./proposals_page.tsx";
import type { Visit } from "../../../console/visit.ts";

export function actionRoutes(program: ConsoleProgram): readonly PlatformEndpoint[] {
  return ACTIONS.flatMap((action) => {
    const path = `/console${action.path}`;
    return [
      consolePage(program, "form", path, async (visit, c) => {
        return c.html(draw(program, visit, await shownOf(visit, action, c.req.path)));
      }),
      consolePage(program, "post", path, async (visit, c) => {
        const api = c.req.path.replace(/^\/console/, "/operations");
        const answer = await visit.change(api, bodyOf(action, visit.form));
        if (answer.ok && isProposed(answer.value)) return c.redirect(PROPOSED_PATH, 303);
        if (answer.ok) {
          return c.redirect(`${action.back}?${new URLSearchParams({ done: action.title })}`, 303);
        }
        const shown = { ...await shownOf(visit, action, c.req.path), fault: answer.description };
        return c.html(draw(program, visit, shown), answer.status as ContentfulStatusCode);
      }),
    ];
  });
}

/** Whether the API has stored the change as a proposal (contract FE1). */
export function isProposed(value: unknown): boolean {
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

async function shownOf(visit: Visit, action: Action, path: string): Promise<Shown> {
  const of = subjectOf(action, path);
  if (action.path.startsWith("/disputes/")) {
    return { action, path, of, details: await disputeDetails(visit, of) };
  }
  if (action.path.startsWith("/payment-orders/")) {
    return { action, path, of, details: await orderDetails(visit, of) };
  }
  if (!action.path.startsWith("/proposals/")) {
    const names = await readNames(visit, [of], action.path.startsWith("/organisations/") ? [of] : []);
    return { action, path, of, name: names.get(of) };
  }
  const one = await proposalOf(visit, of);
  return { action, path, of, details: <ProposalDetails visit={visit} one={one} /> };
}

interface Shown {
  readonly action: Action;
  readonly path: string;
  /** The id of what is changed. */
  readonly of: string;
  readonly name?: string | undefined;
  /** What is decided on. */
  readonly details?: JSX.Element | null;
  /** Why the API did not make the change, in English. */
  readonly fault?: string;
}

function draw(
  program: ConsoleProgram,
  visit: Visit,
  { action, path, of, name, details = null, fault }: Shown,
): string {
  const { language } = visit;
  const title = words(language, action.title);
  const view = {
    title,
    of,
    ofName: name,
    effect: phrase(language, `${action.title}.effect` as PlainKey),
    details,
    path,
    fields: action.fields.map((field) => formField(language, field)),
    submit: title,
    isDanger: /\/(block|revoke-tokens|hold|close)$/.test(action.path),
    back: action.back,
    fault,
  };
  return renderFrame(program, { ...visit, title }, <ChangeForm visit={visit} view={view} />);
}

export function formField(
  language: Language,
  { name, member, kind, least, most, choices = [] }: Field,
): FormField {
  const hint = kind === "check" ? {} : { hint: phrase(language, `field.${name}.hint` as PlainKey) };
  const worded = choices.map((one) => [one, phrase(language, `disputes.${one}`)] as const);
  const label = phrase(language, `field.${name}`);
  return { name, member, kind, least, most, label, choices: worded, ...hint };
}
