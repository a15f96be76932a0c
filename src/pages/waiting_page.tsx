/**
 * The page on which a browser waits while its customer confirms on another device. It loads itself again by a Refresh
 * header, so it works without scripts. The link does the same.
 */
import { formatDuration, formatTime } from "./formats.ts";
import { renderDocument } from "./html_document.tsx";
import type { Language } from "./language.ts";
import { type LanguageLink, Layout } from "./layout.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { phrase, words } from "./phrase.ts";
import type { Site } from "./site.ts";

export interface WaitingView {
  readonly tppName: string;
  readonly bankName: string;
  /** This page. */
  readonly address: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly now: number;
  readonly site: Site;
  readonly languageSwitch: readonly LanguageLink[];
}

/** The page as a whole HTML document. */
export function renderWaitingPage(view: WaitingView, language: Language): string {
  const { tppName, bankName, address, expiresAt, now, site, languageSwitch } = view;
  const title = words(language, "waiting.title");
  const names = { tpp: <ParticipantText text={tppName} />, bank: <ParticipantText text={bankName} /> };
  const left = {
    duration: <strong>{formatDuration(language, expiresAt - now)}</strong>,
    time: (
      <time datetime={new Date(expiresAt).toISOString()}>
        <bdi>{formatTime(language, expiresAt, site.operator.timeZone)}</bdi>
      </time>
    ),
  };
  return renderDocument(
    <Layout language={language} title={title} site={site} languageSwitch={languageSwitch}>
      <article class="card">
        <h1>{title}</h1>
        <p>{phrase(language, "waiting.confirm", names)}</p>
        <p>{phrase(language, "waiting.itself")}</p>
        <p>
          <a class="button" href={address}>
            <span>{phrase(language, "waiting.goOn")}</span>
          </a>
        </p>
        <p class="help">{phrase(language, "waiting.timeLeft", left)}</p>
      </article>
    </Layout>,
  );
}
