/** Pages that say why a request did not work, and what to do. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Language } from "../pages/language.ts";
import { renderFrame } from "./frame.tsx";
import { HOME_PATH } from "./paths.ts";
import { phrase, words } from "./phrase.ts";
import type { ConsoleProgram } from "./program.ts";
import type { Session } from "./session.ts";
import { languageOf } from "./visit.ts";

interface Notice {
  readonly status: ContentfulStatusCode;
  readonly name: "forbidden" | "form" | "failed" | "unknown";
  readonly language: Language;
  readonly session?: Session;
}

/** The parts of a program that a notice shows. */
export type NoticeProgram = Pick<ConsoleProgram, "site" | "product" | "pages" | "may" | "numberOf">;

export function drawNotice(
  program: NoticeProgram,
  c: Context,
  { status, name, language, session }: Notice,
): Response {
  const title = words(language, `error.${name}`);
  return c.html(
    renderFrame(
      program,
      { language, title, address: HOME_PATH, ...session },
      <article class="card">
        <h1>{title}</h1>
        <p>{phrase(language, `error.${name}.todo`)}</p>
        <p class="help">
          {phrase(language, "error.number", { number: <code dir="ltr">{program.numberOf(c)}</code> })}
        </p>
        <p>
          <a class="button" href={HOME_PATH}>
            <span>{phrase(language, "error.back")}</span>
          </a>
        </p>
      </article>,
    ),
    status,
  );
}

/** Returns the function that renders an error of the console's paths. */
export function consoleErrorPages(
  program: NoticeProgram,
): (c: Context, error: { readonly status: number }) => Response {
  return (c, { status }) => {
    const name = status === 404 ? "unknown" : "failed";
    return drawNotice(program, c, { status: status as ContentfulStatusCode, name, language: languageOf(c) });
  };
}
