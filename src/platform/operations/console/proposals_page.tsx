/** Changes that need two operators: who proposed what, and links to approve or withdraw. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { proposalsSchema } from "../proposal_routes.ts";
import { type Badge, Read } from "../../../console/parts.tsx";
import { ProposalsHead, ProposalsTable, type SayInHead, visible } from "../../../console/proposals_table.tsx";
import { actionAt, Changes } from "./parts.tsx";
import { phrase, words } from "./phrase.ts";
import type { Language } from "../../../pages/language.ts";
import type { Visit } from "../../../console/visit.ts";

/** Where a form leads whose change was stored as a proposal. */
export const PROPOSED_PATH = "/console/proposals?proposed=true";

type Proposal = z.infer<typeof proposalsSchema>["Data"]["Proposal"][number];

export async function proposalsPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const say: SayInHead = (part) => phrase(language, `proposals.${part}`);
  const answer = await visit.read("/operations/proposals", proposalsSchema);
  return (
    <>
      <ProposalsHead visit={visit} madeAt={PROPOSED_PATH} say={say} />
      <Read visit={visit} answer={answer}>
        {({ Data: { Proposal: found } }) =>
          found.length === 0
            ? <p class="card">{phrase(language, "proposals.none")}</p>
            : drawProposals(visit, found)}
      </Read>
    </>
  );
}

const BADGES: Readonly<Record<Proposal["State"], Badge>> = {
  proposed: "warn",
  approved: "warn",
  done: "good",
  failed: "bad",
  unclear: "bad",
  withdrawn: "neutral",
  expired: "neutral",
};

/** What a proposal changes, by the words of its form. */
function Change({ language, path }: { readonly language: Language; readonly path: string }): JSX.Element {
  const action = actionAt(path.replace(/^\/operations/, ""));
  const shown = <code dir="ltr">{path}</code>;
  return action === undefined ? shown : (
    <>
      {phrase(language, action.title)} <span class="detail">{shown}</span>
    </>
  );
}

function drawProposals(visit: Visit, found: readonly Proposal[]): JSX.Element {
  const { language } = visit;
  return (
    <ProposalsTable
      visit={visit}
      name={words(language, "proposals.title")}
      say={(column) => words(language, `column.${column}`)}
      rows={found.map((one) => ({
        what: <Change language={language} path={one.Path} />,
        body: one.Body,
        badge: BADGES[one.State],
        state: phrase(language, `proposals.state.${one.State}`),
        fault: one.Fault,
        proposedBy: one.ProposedBy,
        decidedBy: one.DecidedBy,
        reason: one.Reason,
        expiresAt: one.ExpiryDateTime,
        links: <Links visit={visit} one={one} />,
      }))}
    />
  );
}

/** Returns the proposal with this id. @throws {ApiError} `request.not_found`, `platform.unavailable` */
export async function proposalOf(visit: Visit, id: string): Promise<Proposal> {
  const answer = await visit.read("/operations/proposals", proposalsSchema);
  if (!answer.ok) throw new ApiError("platform.unavailable", answer.description);
  const found = answer.value.Data.Proposal.find(({ ProposalId }) => ProposalId === id);
  if (found === undefined) throw new ApiError("request.not_found", "no such proposal");
  return found;
}

/** The change that a second operator decides on. */
export function ProposalDetails(
  { visit: { language }, one }: { readonly visit: Visit; readonly one: Proposal },
): JSX.Element {
  return (
    <div class="proposal">
      <p>
        <Change language={language} path={one.Path} />
      </p>
      <p>
        {phrase(language, "column.state")}: {phrase(language, `proposals.state.${one.State}`)}
      </p>
      <p>
        {phrase(language, "column.by")}: <bdi>{one.ProposedBy}</bdi>
      </p>
      <p>
        {phrase(language, "column.reason")}: <bdi>{visible(one.Reason)}</bdi>
      </p>
      <pre dir="ltr" tabindex={0} role="region" aria-label={words(language, "column.proposal")}>
        {visible(one.Body)}
      </pre>
    </div>
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
