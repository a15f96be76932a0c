/** Who did what, when and why: newest first. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, NamedTable } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import type { HistoryView } from "./participant_view.ts";
import { phrase, words } from "./phrase.ts";

export function History(
  { visit, history: { entries, isIntact } }: { readonly visit: Visit; readonly history: HistoryView },
): JSX.Element {
  const { language } = visit;
  return (
    <>
      {isIntact ? null : <p class="notice" role="alert">{phrase(language, "history.altered")}</p>}
      <NamedTable
        name={words(language, "participant.history")}
        heads={(["column.time", "column.by", "column.event", "column.reason", "column.details"] as const)
          .map((key) => words(language, key))}
        rows={entries.toReversed().map((entry) => [
          <Instant visit={visit} at={entry.at} />,
          <bdi>{entry.who}</bdi>,
          phrase(language, `event.${entry.what}`),
          [entry.reason, entry.approval_reason].map((reason) =>
            reason === undefined ? null : <span class="detail" dir="auto">{reason}</span>
          ),
          <code class="detail" dir="ltr">{JSON.stringify(entry.details)}</code>,
        ])}
      />
    </>
  );
}
