/** A request of a signed-in person to a console. Its data comes from the API of the console's program, as this person. */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { z } from "zod";
import type { Form } from "../base/http/body.ts";
import { chooseLanguage, isLanguage, type Language } from "../pages/language.ts";
import type { ConsoleProgram } from "./program.ts";
import type { Session } from "./session.ts";

/** An answer of the API. */
export type Answer<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly status: number;
  /** In English. */
  readonly description: string;
  /** Seconds, as the API has sent it. */
  readonly retryAfter?: string | null;
};

export interface Visit extends Session {
  readonly language: Language;
  /** Path and query of the page. */
  readonly address: string;
  readonly form: Form;
  /** Why the form makes no change: it is of an ended session. */
  readonly late: typeof LATE | undefined;
  /** Whether the person may use the endpoint, such as `GET /operations/audit`. */
  may(endpoint: string): boolean;
  /** Reads text from the API. */
  readText(path: string): Promise<Answer<string>>;
  /** Reads a document of the API. It is also the body of an answer with the status `also`, if any. */
  read<T>(path: string, schema: z.ZodType<T>, also?: number): Promise<Answer<T>>;
  /** Makes a change by the API. */
  change(path: string, body: object | undefined, method?: "POST" | "PUT"): Promise<Answer<unknown>>;
}

/** Never resolved: the API is called within the process. */
const ORIGIN = "http://api.invalid";
const LATE = {
  ok: false,
  status: 403,
  description: "You have signed in since this form was opened. Check it, and send it again.",
} as const;
const LANGUAGE_COOKIE = "console-language";

/** @param isOwn whether the form is one of the session. Any other makes no change, and its page is shown again. */
export function openVisit(
  c: Context,
  { call, may, numberOf }: Pick<ConsoleProgram, "call" | "may" | "numberOf">,
  { session, form, isOwn }: { readonly session: Session; readonly form: Form; readonly isOwn: boolean },
): Visit {
  const send = (path: string, init: RequestInit): Promise<Response> =>
    call(session.person, new Request(`${ORIGIN}${path}`, init), numberOf(c));
  const late = isOwn ? undefined : LATE;
  return {
    ...session,
    language: languageOf(c),
    address: addressOf(c),
    form,
    late,
    may: (endpoint) => may(session.person, endpoint),
    readText: async (path) => await answerOf(await send(path, {}), (answer) => answer.text()),
    read: async (path, schema, also) =>
      await answerOf(await send(path, {}), async (answer) => schema.parse(await answer.json()), also),
    change: async (path, body, method = "POST") => {
      if (late !== undefined) return late;
      const sent = body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      return await answerOf(await send(path, { method, ...sent }), (answer) => answer.json());
    },
  };
}

/** Path and query as text. */
export function addressOf(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return `${pathname}${search}`;
}

/** The language chosen on a page is kept in a cookie. */
export function languageOf(c: Context): Language {
  const chosen = c.req.query("lang");
  if (isLanguage(chosen)) setCookie(c, LANGUAGE_COOKIE, chosen, { path: "/console", sameSite: "Strict" });
  const kept = getCookie(c, LANGUAGE_COOKIE);
  return chooseLanguage(c.req.header("accept-language"), isLanguage(chosen) ? chosen : kept);
}

async function answerOf<T>(
  answer: Response,
  read: (answer: Response) => Promise<T>,
  also?: number,
): Promise<Answer<T>> {
  if (answer.ok || answer.status === also) return { ok: true, value: await read(answer) };
  const { error_description: description = "" } = await answer.json() as {
    readonly error_description?: string;
  };
  return { ok: false, status: answer.status, description, retryAfter: answer.headers.get("retry-after") };
}
