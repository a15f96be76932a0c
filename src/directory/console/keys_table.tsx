/** A participant's keys with the ends of their certificates. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, type PartProps, State } from "../../console/parts.tsx";
import type { ParticipantRecord } from "./changes.ts";
import type { ParticipantView } from "./participant_view.ts";
import { Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

/** Certificates that end within this time are marked. */
const SOON_MS = 30 * 86_400_000;

type KeyRecord = ParticipantRecord["keys"][number];

export function Keys({ visit, record: { keys }, now, at }: Omit<ParticipantView, "entries">): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="participant.keys"
      rows={keys.toSorted(byEnd)}
      columns={{
        "column.key": ({ kid }) => <code dir="ltr">{kid}</code>,
        "column.use": ({ use }) => phrase(language, `use.${use}`),
        "column.status": (key) => <KeyStatus visit={visit} record={key} now={now} />,
        "column.from": (key) => <Instant visit={visit} at={key.not_before} />,
        "column.until": (key) => <Instant visit={visit} at={key.not_after} />,
        "column.changes": (key) => <KeyLinks visit={visit} at={at} one={key} />,
      }}
    />
  );
}

function KeyLinks(
  { visit: { language }, at, one: { kid, status } }: PartProps<KeyRecord> & { readonly at: string },
): JSX.Element {
  return (
    <ul class="changes">
      <li>
        <a href={`${at}/files/certificates/${kid}`}>{phrase(language, "file.certificate")}</a>
      </li>
      {status === "Active"
        ? (
          <li>
            <a class="danger" href={`${at}/keys/${kid}/revoke`}>{phrase(language, "change.revokeKey")}</a>
          </li>
        )
        : null}
    </ul>
  );
}

/** Usable keys first, and among them the one that ends next. */
function byEnd(a: KeyRecord, b: KeyRecord): number {
  const rank = ({ status }: KeyRecord): number => status === "Active" ? 0 : 1;
  return rank(a) - rank(b) || a.not_after.localeCompare(b.not_after) || a.kid.localeCompare(b.kid);
}

function KeyStatus(
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
