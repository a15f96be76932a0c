/** Pages that say why a request did not work, and what to do. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Language } from "../../pages/language.ts";
import type { Site } from "../../pages/site.ts";
import type { DrawErrorPage } from "../http/on_error.ts";
import { renderFrame } from "./frame.tsx";
import { phrase, words } from "./phrase.ts";
import type { Session } from "./session.ts";
import { languageOf } from "./visit.ts";

interface Notice {
  readonly status: ContentfulStatusCode;
  readonly name: "forbidden" | "form" | "failed" | "unknown";
  readonly site: Site;
  readonly language: Language;
  readonly session?: Session;
}

export function drawNotice(c: Context, { status, name, site, language, session }: Notice): Response {
  const title = words(language, `error.${name}`);
  const frame = { language, title, site, address: "/console", ...session };
  return c.html(
    renderFrame(
      frame,
      <article class="card">
        <h1>{title}</h1>
        <p>{phrase(language, `error.${name}.todo`)}</p>
        <p class="help">
          {phrase(language, "error.number", { number: <code dir="ltr">{c.get("interactionId")}</code> })}
        </p>
        <p>
          <a class="button" href="/console">
            <span>{phrase(language, "error.back")}</span>
          </a>
        </p>
      </article>,
    ),
    status,
  );
}

/** Returns the function that renders an error of the console's paths. */
export function consoleErrorPages(site: Site): DrawErrorPage {
  return (c, { status }) => {
    const name = status === 404 ? "unknown" : "failed";
    return drawNotice(c, { status: status as ContentfulStatusCode, name, site, language: languageOf(c) });
  };
}
