/** Logins of a participant's people. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, NamedTable, State } from "../../console/parts.tsx";
import type { ParticipantView } from "./participant_view.ts";
import { phrase, words } from "./phrase.ts";

export function Logins({ visit, record: { logins }, at }: ParticipantView): JSX.Element {
  const { language } = visit;
  if (logins.length === 0) return <p>{phrase(language, "participant.noLogins")}</p>;
  return (
    <NamedTable
      name={words(language, "participant.logins")}
      heads={(["column.contact", "column.status", "column.from", "column.until", "column.actions"] as const)
        .map((key) => words(language, key))}
      rows={logins.map((login) => [
        <bdi>{login.name}</bdi>,
        <State
          is={login.status === "Active" ? "good" : "bad"}
          words={phrase(language, `status.${login.status}`)}
        />,
        <Instant visit={visit} at={login.issued_at} />,
        <Instant visit={visit} at={login.expires_at} />,
        login.status === "Active"
          ? <a href={`${at}/logins/${login.login_id}/revoke`}>{phrase(language, "change.revokeLogin")}</a>
          : null,
      ])}
    />
  );
}
