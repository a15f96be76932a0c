/** A participant's keys with the ends of their certificates. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, NamedTable, State } from "../../console/parts.tsx";
import type { ParticipantRecord } from "./changes.ts";
import type { ParticipantView } from "./participant_view.ts";
import { phrase, words } from "./phrase.ts";

/** Certificates that end within this time are marked. */
const SOON_MS = 30 * 86_400_000;

type KeyRecord = ParticipantRecord["keys"][number];

export function Keys({ visit, record: { keys }, now, at }: Omit<ParticipantView, "entries">): JSX.Element {
  const { language } = visit;
  return (
    <NamedTable
      name={words(language, "participant.keys")}
      heads={([
        "column.key",
        "column.use",
        "column.status",
        "column.from",
        "column.until",
        "column.actions",
      ] as const)
        .map((key) => words(language, key))}
      rows={keys.toSorted(byEnd).map((key) => [
        <code dir="ltr">{key.kid}</code>,
        phrase(language, `use.${key.use}`),
        <Status visit={visit} record={key} now={now} />,
        <Instant visit={visit} at={key.not_before} />,
        <Instant visit={visit} at={key.not_after} />,
        <ul class="changes">
          <li>
            <a href={`${at}/files/certificates/${key.kid}`}>{phrase(language, "file.certificate")}</a>
          </li>
          {key.status === "Active"
            ? (
              <li>
                <a class="danger" href={`${at}/keys/${key.kid}/revoke`}>
                  {phrase(language, "change.revokeKey")}
                </a>
              </li>
            )
            : null}
        </ul>,
      ])}
    />
  );
}

/** Usable keys first, and among them the one that ends next. */
function byEnd(a: KeyRecord, b: KeyRecord): number {
  const rank = ({ status }: KeyRecord): number => status === "Active" ? 0 : 1;
  return rank(a) - rank(b) || a.not_after.localeCompare(b.not_after) || a.kid.localeCompare(b.kid);
}

function Status(
  { visit: { language }, record: { status, not_after, reason }, now }: {
    readonly visit: ParticipantView["visit"];
    readonly record: KeyRecord;
    readonly now: number;
  },
): JSX.Element {
  const endsSoon = status === "Active" && Date.parse(not_after) - now < SOON_MS;
  return (
    <>
      <State
        is={status === "Active" && !endsSoon ? "good" : "bad"}
        words={phrase(language, endsSoon ? "status.soon" : `status.${status}`)}
      />
      {reason === undefined ? null : <span class="detail" dir="auto">{reason}</span>}
    </>
  );
}
