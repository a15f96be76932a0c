/** The public page of the banks' service levels: all banks over a month, or one bank by day. No volumes. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatDay, formatInstant } from "./formats.ts";
import { renderDocument } from "./html_document.tsx";
import { type Language, LOCALES } from "./language.ts";
import { type LanguageLink, Layout } from "./layout.tsx";
import { ParticipantText } from "./participant_text.tsx";
import { type MessageKey, phrase, words } from "./phrase.ts";
import { Plot } from "./plot.tsx";
import type { Site } from "./site.ts";

/** Rates are parts of 1, times milliseconds. A time of null is above every bound. Undefined: not known. */
export interface LevelNumbers {
  readonly availability: number | undefined;
  readonly answerRate: number | undefined;
  readonly median: number | null | undefined;
  readonly percentile95: number | null | undefined;
}

export interface ShownLevels {
  readonly bank: string;
  readonly name: string;
  readonly total: LevelNumbers;
  /** Oldest first. */
  readonly days: readonly (LevelNumbers & { readonly day: string })[];
}

/** The state of a bank now, and since when, milliseconds. */
export interface ShownState {
  readonly state: "available" | "degraded" | "down" | "planned_outage";
  readonly since: number;
}

export interface ServiceLevelsView {
  readonly site: Site;
  readonly languageSwitch: readonly LanguageLink[];
  readonly from: string;
  readonly until: string;
  /** Milliseconds. */
  readonly at: number;
  readonly banks: readonly ShownLevels[];
  /** Shown by day. */
  readonly one?: ShownLevels;
  readonly addressOf: (bank?: string) => string;
  /** Undefined if the bank was never anything but available. */
  readonly healthOf: (bank: string) => ShownState | undefined;
  /** The slowest time that is told apart, milliseconds. */
  readonly slowest: number;
}

/** The page as a whole HTML document. */
export function renderServiceLevels(view: ServiceLevelsView, language: Language): string {
  const { site, languageSwitch, one } = view;
  const title = words(language, "levels.title");
  return renderDocument(
    <Layout language={language} title={title} site={site} languageSwitch={languageSwitch} isPublic>
      <div class="levels">
        <h1>{title}</h1>
        <p>
          {phrase(language, "levels.lead", {
            from: formatDay(language, Date.parse(view.from)),
            until: formatDay(language, Date.parse(view.until)),
            time: formatInstant(language, view.at),
          })}
        </p>
        {one === undefined ? <AllBanks {...view} language={language} /> : drawOneBank(one, view, language)}
        <Meaning language={language} />
      </div>
    </Layout>,
  );
}

function AllBanks(
  { banks, addressOf, healthOf, slowest, language }: ServiceLevelsView & { language: Language },
): JSX.Element {
  if (banks.length === 0) return <p class="card">{phrase(language, "levels.none")}</p>;
  return (
    <section class="card">
      {drawNumbers(
        language,
        slowest,
        "levels.bank",
        banks.map(({ bank, name, total }) => [
          <>
            <a href={addressOf(bank)}>
              <ParticipantText text={name} />
            </a>
            {drawState(healthOf(bank), language)}
          </>,
          total,
        ]),
      )}
    </section>
  );
}

function drawOneBank(one: ShownLevels, view: ServiceLevelsView, language: Language): JSX.Element {
  const percent = percentOf(language);
  return (
    <section class="card">
      <h2>
        <ParticipantText text={one.name} />
      </h2>
      {drawState(view.healthOf(one.bank), language)}
      <p>
        <a href={view.addressOf()}>{phrase(language, "levels.all")}</a>
      </p>
      <Plot
        title={words(language, "levels.unavailable")}
        values={one.days.map(({ day, availability }) => [
          formatDay(language, Date.parse(day)),
          availability === undefined ? undefined : 1 - roundedDown(availability), // what the table lacks to 100 %
        ])}
        least={0.01}
        format={percent}
      />
      {drawNumbers(
        language,
        view.slowest,
        "levels.day",
        one.days.toReversed().map((numbers) => [
          <time datetime={numbers.day}>{formatDay(language, Date.parse(numbers.day))}</time>,
          numbers,
        ]),
      )}
    </section>
  );
}

function drawState(now: ShownState | undefined, language: Language): JSX.Element {
  const state = now?.state ?? "available";
  const text = now === undefined || state === "available"
    ? phrase(language, "levels.state.available")
    : phrase(language, `levels.state.${state}`, { time: formatInstant(language, now.since) });
  return <p class={`state state-${state}`}>{text}</p>;
}

function drawNumbers(
  language: Language,
  slowest: number,
  first: MessageKey & ("levels.bank" | "levels.day"),
  rows: readonly (readonly [JSX.Element, LevelNumbers])[],
): JSX.Element {
  const percent = percentOf(language);
  const time = timeOf(language, slowest);
  const heads = ["levels.availability", "levels.answered", "levels.median", "levels.percentile95"] as const;
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={words(language, "levels.title")}>
      <table>
        <thead>
          <tr>{[first, ...heads].map((head) => <th scope="col">{phrase(language, head)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map(([name, { availability, answerRate, median, percentile95 }]) => (
            <tr>
              <th scope="row">{name}</th>
              <td data-label={words(language, heads[0])}>{formatKnown(availability, percent)}</td>
              <td data-label={words(language, heads[1])}>{formatKnown(answerRate, percent)}</td>
              <td data-label={words(language, heads[2])}>{formatKnown(median, time)}</td>
              <td data-label={words(language, heads[3])}>{formatKnown(percentile95, time)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function formatKnown<T>(value: T | undefined, format: (value: T) => string): string {
  return value === undefined ? "–" : format(value);
}

function Meaning({ language }: { readonly language: Language }): JSX.Element {
  return (
    <section class="card">
      <h2>{phrase(language, "levels.meaning")}</h2>
      <p>{phrase(language, "levels.meaning.availability")}</p>
      <p>{phrase(language, "levels.meaning.answered")}</p>
      <p>{phrase(language, "levels.meaning.times")}</p>
      <p>
        <a href="/service-levels.json">{phrase(language, "levels.json")}</a>
      </p>
    </section>
  );
}

/** Formats parts of 1, rounded down: one bad minute in a month must show. */
export function percentOf(language: Language): (part: number) => string {
  const format = new Intl.NumberFormat(LOCALES[language], { style: "percent", maximumFractionDigits: 2 });
  return (part) => format.format(roundedDown(part));
}

function roundedDown(part: number): number {
  return Math.floor(part * 10_000 + 1e-9) / 10_000;
}

/** Formats the upper bound of a class of times: `≤ 250 ms`. */
export function timeOf(language: Language, slowest: number): (milliseconds: number | null) => string {
  const format = new Intl.NumberFormat(LOCALES[language], { style: "unit", unit: "millisecond" });
  return (milliseconds) =>
    milliseconds === null ? `> ${format.format(slowest)}` : `≤ ${format.format(milliseconds)}`;
}
