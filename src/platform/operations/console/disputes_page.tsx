/** Disputes that have not ended, and the statements of one for its decision. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import type { Language } from "../../../pages/language.ts";
import { Instant, type PartProps, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { disputeForDecisionSchema, openDisputesSchema } from "../disputes/dispute_routes.ts";
import { type Names, readNames } from "./names.ts";
import { CaseLink, Changes, First, TableCard } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";

/** Disputes that the page shows (contract OP33). */
const SHOWN = 100;

export async function disputesPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read("/operations/disputes", openDisputesSchema);
  const names = await readNames(
    visit,
    answer.ok ? answer.value.Data.Dispute.map(({ BankId }) => BankId) : [],
  );
  return (
    <>
      <p class="lead">{phrase(language, "disputes.lead")}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Dispute: disputes } }) => (
          <>
            {drawDisputes(visit, disputes.slice(0, SHOWN), names)}
            <First
              language={language}
              shown={SHOWN}
              count={disputes.length}
              command="deno task ops disputes"
            />
          </>
        )}
      </Read>
    </>
  );
}

type Dispute = z.infer<typeof openDisputesSchema>["Data"]["Dispute"][number];

function drawDisputes(visit: Visit, disputes: readonly Dispute[], names: Names): JSX.Element {
  const { language } = visit;
  return (
    <TableCard
      language={language}
      name="disputes.title"
      none="disputes.none"
      rows={disputes}
      columns={{
        "column.payment": (one) => <CaseLink visit={visit} id={one.DomesticPaymentId} />,
        "column.openedBy": (one) => <Opener language={language} one={one} names={names} />,
        "column.status": (one) => <DisputeState language={language} one={one} />,
        "column.until": ({ DueDateTime: at }) => at && <Instant visit={visit} at={at} />,
        "column.changes": (one) => <Decide visit={visit} one={one} />,
      }}
    />
  );
}

function Decide({ visit, one }: PartProps<Dispute>): JSX.Element {
  const path = `/disputes/${one.DomesticPaymentId}/decision`;
  return <Changes visit={visit} links={[[path, "link.decideDispute"]]} />;
}

interface DisputeProps {
  readonly language: Language;
  readonly one: Dispute;
}

/** The party that opened a dispute. */
export function Opener(
  { language, one: { OpenedBy, BankId, TppId, Tpp }, names }: DisputeProps & { readonly names?: Names },
): JSX.Element {
  return (
    <>
      {phrase(language, `disputes.${OpenedBy}`)}{" "}
      <bdi class="detail">{OpenedBy === "Bank" ? names?.get(BankId) ?? BankId : Tpp ?? TppId}</bdi>
    </>
  );
}

/** Where a dispute stands, or how it ended. */
export function DisputeState({ language, one }: DisputeProps): JSX.Element {
  return <State is={one.IsOverdue ? "warn" : "neutral"} words={phrase(language, disputeWords(one))} />;
}

function disputeWords({ Status, Outcome }: Dispute): PlainKey {
  if (Status === "Open") return "disputes.open";
  if (Status === "Answered") return "disputes.answered";
  return Outcome === undefined ? "disputes.withdrawn" : `disputes.${Outcome}`;
}

/** What the parties have stated, for the form of the decision. */
export async function disputeDetails(visit: Visit, paymentId: string): Promise<JSX.Element> {
  const { language } = visit;
  const path = `/operations/disputes/${encodeURIComponent(paymentId)}`;
  return (
    <>
      {visit.may("GET /console/cases/{id}")
        ? (
          <p>
            <a href={`/console/cases/${paymentId}`}>{phrase(language, "case.title")}</a>
          </p>
        )
        : null}
      <Read visit={visit} answer={await visit.read(path, disputeForDecisionSchema)}>
        {({ Data: { Statement: said } }) => (
          <dl class="facts">
            {said.map(({ By, DateTime, Statement }) => (
              <div>
                <dt>
                  {phrase(language, `disputes.${By}`)} <Instant visit={visit} at={DateTime} />
                </dt>
                <dd dir="auto">{Statement ?? phrase(language, "disputes.erased")}</dd>
              </div>
            ))}
          </dl>
        )}
      </Read>
    </>
  );
}
