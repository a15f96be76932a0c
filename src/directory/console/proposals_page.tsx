/** Changes that need two administrators: who proposed what, and links to approve or reject. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import type { Language } from "../../pages/language.ts";
import { More } from "../../console/parts.tsx";
import {
  type ProposalRow,
  ProposalsHead,
  ProposalsTable,
  type SayInHead,
  visible,
} from "../../console/proposals_table.tsx";
import type { Visit } from "../../console/visit.ts";
import type { proposal, proposals } from "../http/answer_schema.ts";
import type { Proposable } from "../changes/four_eyes.ts";
import type { Difference, Field } from "./changes.ts";
import { Done, Links, Table } from "./parts.tsx";
import { phrase, type PlainKey, words } from "./phrase.ts";

export type ProposalView = z.infer<typeof proposal>;

export const PROPOSALS_PATH = "/console/proposals";
/** Where a form leads whose change was stored as a proposal. */
export const PROPOSED_PATH = `${PROPOSALS_PATH}?proposed=true`;

const TITLES: Readonly<Record<Proposable, PlainKey>> = {
  onboardParticipant: "change.onboard",
  issueStatement: "change.statement",
  issueCertificates: "change.certificates",
  issueLogin: "change.login",
  revokeKey: "change.revokeKey",
  setSoftwareStatus: "change.softwareStatus",
  setOrganisationStatus: "change.organisationStatus",
};

export function ProposalsPage(
  { visit, page }: { readonly visit: Visit; readonly page: z.infer<typeof proposals> },
): JSX.Element {
  const { language } = visit;
  const say: SayInHead = (part) => phrase(language, `proposals.${part}`);
  const rows = page.proposals.map((one): ProposalRow => ({
    what: <Change visit={visit} one={one} />,
    badge: one.state === "approved" ? "good" : one.state === "proposed" ? "warn" : "neutral",
    state: phrase(language, `proposals.state.${one.state}`),
    proposedBy: one.proposed_by,
    decidedBy: one.decided_by,
    reason: one.reason,
    expiresAt: one.expires_at,
    links: <Decisions visit={visit} one={one} />,
  }));
  return (
    <>
      <h1>{phrase(language, "proposals.title")}</h1>
      <Done visit={visit} />
      <ProposalsHead visit={visit} madeAt={PROPOSED_PATH} say={say} />
      {rows.length === 0 ? <p class="card">{phrase(language, "proposals.none")}</p> : (
        <ProposalsTable
          visit={visit}
          name={words(language, "proposals.title")}
          say={(column) => words(language, `column.${column}`)}
          rows={rows}
        />
      )}
      <More visit={visit} path={PROPOSALS_PATH} query={{ after: page.after }} />
    </>
  );
}

/** An own proposal can only be withdrawn. */
function Decisions({ visit, one }: { readonly visit: Visit; readonly one: ProposalView }): JSX.Element {
  const at = `${PROPOSALS_PATH}/${one.proposal_id}`;
  const isOpen = one.state === "proposed" || one.state === "stale";
  const isOwn = one.proposed_by === visit.person.name;
  return (
    <Links
      visit={visit}
      links={[
        ...(one.state === "proposed" && !isOwn ? [[`${at}/approve`, "change.approve"] as const] : []),
        ...(isOpen ? [[`${at}/reject`, "change.reject"] as const] : []),
      ]}
    />
  );
}

function Change({ visit, one }: { readonly visit: Visit; readonly one: ProposalView }): JSX.Element {
  return (
    <>
      {phrase(visit.language, TITLES[one.change])}
      {one.org_id === undefined ? null : (
        <span class="detail">
          <a href={`/console/participants/${one.org_id}`}>
            <code dir="ltr">{one.org_id}</code>
          </a>
        </span>
      )}
    </>
  );
}

/** Everything that an approval would do, for the administrator who decides. */
export function ProposalDetails(
  { visit, one, differences }: {
    readonly visit: Visit;
    readonly one: ProposalView;
    readonly differences: readonly Difference[];
  },
): JSX.Element {
  return (
    <div class="proposal">
      <p>
        <Change visit={visit} one={one} />
        {one.kid === undefined ? null : <code class="detail" dir="ltr">{one.kid}</code>}
      </p>
      <p>
        {phrase(visit.language, "column.by")}: <bdi>{one.proposed_by}</bdi>
      </p>
      {differences.length === 0 ? null : <Differences visit={visit} differences={differences} />}
      <pre dir="ltr" tabindex={0} role="region" aria-label={words(visit.language, "column.details")}>
        {JSON.stringify(one.body, undefined, 2).split("\n").map(visible).join("\n")}
      </pre>
    </div>
  );
}

/** What the participant has now, beside what it will have. */
function Differences(
  { visit: { language }, differences }: {
    readonly visit: Visit;
    readonly differences: readonly Difference[];
  },
): JSX.Element {
  return (
    <Table
      language={language}
      name="proposals.replaced"
      rows={differences}
      columns={{
        "proposals.replaced": ({ field: { name, choices } }) =>
          phrase(language, choices === undefined ? `field.${name}` as PlainKey : "column.state"),
        "proposals.now": ({ field, now }) => <Value language={language} field={field} value={now} />,
        "proposals.after": ({ field, after }) => <Value language={language} field={field} value={after} />,
      }}
    />
  );
}

function Value(
  { language, field: { kind, choices }, value }: {
    readonly language: Language;
    readonly field: Field;
    readonly value: string;
  },
): JSX.Element {
  if (value === "") return <>–</>;
  if (choices !== undefined) return <>{phrase(language, `${choices.of}.${value}` as PlainKey)}</>;
  if (kind === "line" || kind === "lines") return <bdi>{visible(value)}</bdi>;
  return <>{value.split("\n").map((line) => <code class="detail" dir="ltr">{visible(line)}</code>)}</>;
}
