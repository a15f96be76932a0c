/** One participant: what is registered, its keys, its statement, its reports, its history, and what can be changed. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, More, NamedTable, State } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import { phrase, type PlainKey, words } from "./phrase.ts";
import { Done } from "./done.tsx";
import { History } from "./history_table.tsx";
import { Keys } from "./keys_table.tsx";
import { Links } from "./links.tsx";
import type { ParticipantView } from "./participant_view.ts";

function Logins({ visit, record: { logins }, at }: ParticipantView): JSX.Element {
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

export function ParticipantPage(view: ParticipantView): JSX.Element {
  const { visit, record, history, at } = view;
  const { language } = visit;
  const isOwn = visit.person.organisation !== undefined;
  return (
    <>
      <h1>
        <bdi>{record.org_name}</bdi>
      </h1>
      <Done visit={visit} />
      <div class="cards">
        <Facts {...view} />
        <Statement {...view} />
        <Card language={language} title="participant.keys" isWide>
          <Keys {...view} />
          <Links links={[[`${at}/certificates`, "change.certificates"]]} visit={visit} />
        </Card>
        <Card language={language} title="participant.reports" isWide>
          <Reports {...view} />
          {isOwn ? null : <Links links={[[`${at}/certifications`, "change.certification"]]} visit={visit} />}
        </Card>
        <Card language={language} title="participant.contacts" isWide>
          <Contacts {...view} />
        </Card>
        {isOwn ? null : (
          <Card language={language} title="participant.logins" isWide>
            <Logins {...view} />
            <Links links={[[`${at}/logins`, "change.login"]]} visit={visit} />
          </Card>
        )}
        {history === undefined ? null : (
          <Card language={language} title="participant.history" isWide>
            <History visit={visit} history={history} />
            <More visit={visit} path={at} query={{ before: history.before }} cursor="before" />
          </Card>
        )}
      </div>
    </>
  );
}

function Card(
  { language, title, isWide = false, children }: {
    readonly language: Visit["language"];
    readonly title: PlainKey;
    readonly isWide?: boolean;
    readonly children?: Child;
  },
): JSX.Element {
  return (
    <section class={isWide ? "card wide-card" : "card"}>
      <h2>{phrase(language, title)}</h2>
      {children}
    </section>
  );
}

function Facts({ visit, record, at }: ParticipantView): JSX.Element {
  const { language } = visit;
  const facts: readonly (readonly [PlainKey, Child])[] = [
    ["field.org_id", <code dir="ltr">{record.org_id}</code>],
    ["field.registration_number", <bdi>{record.registration_number}</bdi>],
    ["column.role", phrase(language, `role.${record.role}`)],
    [
      "column.status",
      <State
        is={record.org_status === "Active" ? "good" : "bad"}
        words={phrase(language, `status.${record.org_status}`)}
      />,
    ],
  ];
  return (
    <Card language={language} title="participant.facts">
      <FactList language={language} facts={facts} />
      {visit.person.organisation === undefined
        ? <Links links={[[`${at}/status`, "change.organisationStatus"]]} visit={visit} />
        : null}
    </Card>
  );
}

function FactList(
  { language, facts }: {
    readonly language: Visit["language"];
    readonly facts: readonly (readonly [PlainKey, Child])[];
  },
): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{phrase(language, name)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Statement({ visit, record, at }: ParticipantView): JSX.Element {
  const { language } = visit;
  const { software } = record;
  const issued = software.statement_issued_at;
  const status = record.software_client_status;
  return (
    <Card language={language} title="participant.statement">
      <FactList
        language={language}
        facts={[
          ["field.client_name", <bdi>{software.client_name}</bdi>],
          ["field.version", <bdi>{software.version}</bdi>],
          [
            "column.software",
            <State is={status === "Active" ? "good" : "bad"} words={phrase(language, `status.${status}`)} />,
          ],
          [
            "field.redirect_uris",
            software.redirect_uris.map((uri) => <code class="detail" dir="ltr">{uri}</code>),
          ],
        ]}
      />
      <p>
        <code dir="ltr">{record.software_client_id}</code>
      </p>
      {issued === undefined
        ? <p>{phrase(language, "participant.noStatement")}</p>
        : <p>{phrase(language, "participant.issued", { time: <Instant visit={visit} at={issued} /> })}</p>}
      <Links
        visit={visit}
        links={visit.person.organisation === undefined
          ? [[`${at}/statement`, "change.statement"], [`${at}/software/status`, "change.softwareStatus"]]
          : [[`${at}/statement`, "change.ownStatement"]]}
      />
      <Files visit={visit} at={at} hasStatement={issued !== undefined} />
    </Card>
  );
}

function Files(
  { visit, at, hasStatement }: {
    readonly visit: Visit;
    readonly at: string;
    readonly hasStatement: boolean;
  },
): JSX.Element {
  return (
    <>
      <h3>{phrase(visit.language, "participant.files")}</h3>
      <Links
        visit={visit}
        links={[
          ...(hasStatement ? [[`${at}/files/statement`, "file.statement"] as const] : []),
          [`${at}/files/keys`, "file.keys"],
          [`${at}/files/description`, "file.description"],
          [`${at}/files/authority`, "file.authority"],
        ]}
      />
    </>
  );
}

function Reports({ visit, record: { certifications }, at }: ParticipantView): JSX.Element {
  const { language } = visit;
  if (certifications.length === 0) return <p>{phrase(language, "participant.noReports")}</p>;
  return (
    <NamedTable
      name={words(language, "participant.reports")}
      heads={heads(language, [
        "column.suite",
        "column.result",
        "column.cases",
        "column.time",
        "column.certifier",
        "file.report",
      ])}
      rows={certifications.map((one) => [
        <bdi>{one.suite}</bdi>,
        <State
          is={one.passed ? "good" : "bad"}
          words={phrase(language, one.passed ? "result.passed" : "result.failed")}
        />,
        <bdi>{one.failed} / {one.cases}</bdi>,
        <Instant visit={visit} at={one.issued_at} />,
        <code dir="ltr">{one.certifier}</code>,
        <a href={`${at}/files/reports/${one.certification_id}`}>
          {phrase(language, "file.report")}
        </a>,
      ])}
    />
  );
}

function Contacts({ visit: { language }, record: { contacts } }: ParticipantView): JSX.Element {
  return (
    <NamedTable
      name={words(language, "participant.contacts")}
      heads={heads(language, ["column.contact", "column.use", "column.email", "column.phone"])}
      rows={contacts.map(({ type, name, email, phone }) => [
        <bdi>{name}</bdi>,
        phrase(language, `contact.${type}`),
        <bdi>{email}</bdi>,
        <bdi dir="ltr">{phone}</bdi>,
      ])}
    />
  );
}

function heads(language: Visit["language"], keys: readonly PlainKey[]): readonly string[] {
  return keys.map((key) => words(language, key));
}
