/** Who did what, when and why: newest first. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import type { HistoryView } from "./participant_view.ts";
import { Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

export function History(
  { visit, history: { entries, isIntact } }: { readonly visit: Visit; readonly history: HistoryView },
): JSX.Element {
  const { language } = visit;
  return (
    <>
      {isIntact ? null : <p class="notice" role="alert">{phrase(language, "history.altered")}</p>}
      <Table
        language={language}
        name="participant.history"
        rows={entries.toReversed()}
        columns={{
          "column.time": ({ at }) => <Instant visit={visit} at={at} />,
          "column.by": ({ who }) => <bdi>{who}</bdi>,
          "column.event": ({ what }) => phrase(language, `event.${what}`),
          "column.reason": (entry) =>
            [entry.reason, entry.approval_reason].map((reason) =>
              reason && <span class="detail" dir="auto">{reason}</span>
            ),
          "column.details": ({ details }) => <Details details={details} />,
        }}
      />
    </>
  );
}

/** What changed, by the names of the administrators' API. */
function Details({ details }: { readonly details: Readonly<Record<string, unknown>> }): JSX.Element | null {
  const facts = factsIn(details);
  if (facts.length === 0) return null;
  return (
    <dl class="changed" lang="en" dir="ltr">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Names of members, with those that contain them, and their values. */
function factsIn(
  details: Readonly<Record<string, unknown>>,
  within = "",
): readonly (readonly [string, string])[] {
  return Object.entries(details).flatMap(([name, value]) => {
    const words = `${within}${name.replaceAll("_", " ")}`;
    if (Array.isArray(value) && value.every((one) => typeof one !== "object")) {
      return [[words, value.join(", ")]];
    }
    if (typeof value === "object" && value !== null) {
      return factsIn(value as Readonly<Record<string, unknown>>, `${words}, `);
    }
    return [[words, String(value)]];
  });
}
