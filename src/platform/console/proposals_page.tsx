/** Changes that need two operators: who proposed what, and links to approve or withdraw. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { proposalsSchema } from "../operations/proposal_routes.ts";
import { Instant, Read, State } from "../../console/parts.tsx";
import { Changes, Done, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../console/visit.ts";

/** Where a form leads whose change was stored as a proposal. */
export const PROPOSED_PATH = "/console/proposals?proposed=true";

type Proposal = z.infer<typeof proposalsSchema>["Data"]["Proposal"][number];

export async function proposalsPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read("/operations/proposals", proposalsSchema);
  return (
    <>
      <h1>{phrase(language, "proposals.title")}</h1>
      {visit.address === PROPOSED_PATH
        ? <p class="note" role="status">{phrase(language, "proposals.made")}</p>
        : <Done visit={visit} />}
      <p class="lead">{phrase(language, "proposals.lead")}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Proposal: found } }) =>
          found.length === 0
            ? <p class="card">{phrase(language, "proposals.none")}</p>
            : <Proposals visit={visit} found={found} />}
      </Read>
    </>
  );
}

function Proposals(
  { visit, found }: { readonly visit: Visit; readonly found: readonly Proposal[] },
): JSX.Element {
  const { language } = visit;
  const rows = found.map((one) => [
    <>
      <code dir="ltr">{one.Path}</code>
      <code class="detail" dir="ltr">{visible(one.Body)}</code>
    </>,
    <>
      <State good={one.State === "done"} words={phrase(language, `proposals.state.${one.State}`)} />
      {one.Fault === undefined ? null : <p class="detail" lang="en" dir="ltr">{one.Fault}</p>}
    </>,
    <>
      <bdi>{one.ProposedBy}</bdi>
      {one.DecidedBy === undefined ? null : <bdi class="detail">{one.DecidedBy}</bdi>}
    </>,
    <bdi>{one.Reason}</bdi>,
    <Instant visit={visit} at={one.ExpiryDateTime} />,
    <Links visit={visit} one={one} />,
  ]);
  return (
    <section class="card">
      <Table
        language={language}
        name="proposals.title"
        heads={[
          "column.proposal",
          "column.state",
          "column.by",
          "column.reason",
          "column.until",
          "column.changes",
        ]}
        rows={rows}
      />
    </section>
  );
}

/** Shows control and format characters as escapes, so that a text cannot change the order of what is read. */
function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** An own proposal can only be withdrawn. */
function Links({ visit, one }: { readonly visit: Visit; readonly one: Proposal }): JSX.Element | null {
  const isOwn = one.ProposedBy === `operator ${visit.person.name}`;
  const isOpen = one.State === "proposed" || one.State === "approved";
  const approve = [`/proposals/${one.ProposalId}/approve`, "link.approve"] as const;
  const withdraw = [`/proposals/${one.ProposalId}/withdraw`, "link.withdraw"] as const;
  return (
    <Changes
      visit={visit}
      links={[
        ...(!isOwn && isOpen ? [approve] : []),
        ...(isOpen ? [withdraw] : []),
      ]}
    />
  );
}
