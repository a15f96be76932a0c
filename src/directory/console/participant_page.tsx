/** One participant: what is registered, its keys, its statement, its reports, its history, and what can be changed. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, More, State } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import { phrase, type PlainKey } from "./phrase.ts";
import { History } from "./history_table.tsx";
import { Keys } from "./keys_table.tsx";
import { Done, Links, Status, Table } from "./parts.tsx";
import type { ParticipantView } from "./participant_view.ts";

function Logins({ visit, record: { logins }, at }: ParticipantView): JSX.Element {
  const { language } = visit;
  if (logins.length === 0) return <p>{phrase(language, "participant.noLogins")}</p>;
  return (
    <Table
      language={language}
      name="participant.logins"
      rows={logins}
      columns={{
        "column.contact": ({ name }) => <bdi>{name}</bdi>,
        "column.status": ({ status }) => <Status language={language} is={status} />,
        "column.from": (login) => <Instant visit={visit} at={login.issued_at} />,
        "column.until": (login) => <Instant visit={visit} at={login.expires_at} />,
        "column.changes": ({ login_id: id, status }) =>
          status === "Active" &&
          <a href={`${at}/logins/${id}/revoke`}>{phrase(language, "change.revokeLogin")}</a>,
      }}
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
    ["column.status", <Status language={language} is={record.org_status} />],
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
  return (
    <Card language={language} title="participant.statement">
      <FactList
        language={language}
        facts={[
          ["field.client_name", <bdi>{software.client_name}</bdi>],
          ["field.version", <bdi>{software.version}</bdi>],
          ["column.software", <Status language={language} is={record.software_client_status} />],
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
    <Table
      language={language}
      name="participant.reports"
      rows={certifications}
      columns={{
        "column.suite": ({ suite }) => <bdi>{suite}</bdi>,
        "column.result": ({ passed }) =>
          passed
            ? <State is="good" words={phrase(language, "result.passed")} />
            : <State is="bad" words={phrase(language, "result.failed")} />,
        "column.cases": ({ failed, cases }) => <bdi>{failed} / {cases}</bdi>,
        "column.time": (one) => <Instant visit={visit} at={one.issued_at} />,
        "column.certifier": ({ certifier }) => <code dir="ltr">{certifier}</code>,
        "file.report": visit.person.organisation === undefined
          ? ({ certification_id: id }) => (
            <a href={`${at}/files/reports/${id}`}>{phrase(language, "file.report")}</a>
          )
          : undefined,
      }}
    />
  );
}

function Contacts({ visit: { language }, record: { contacts } }: ParticipantView): JSX.Element {
  return (
    <Table
      language={language}
      name="participant.contacts"
      rows={contacts}
      columns={{
        "column.contact": ({ name }) => <bdi>{name}</bdi>,
        "column.use": ({ type }) => phrase(language, `contact.${type}`),
        "column.email": ({ email }) => <bdi>{email}</bdi>,
        "column.phone": ({ phone }) => <bdi dir="ltr">{phone}</bdi>,
      }}
    />
  );
}
