/** Disputes that have not ended, and the statements of one for its decision. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { disputeForDecisionSchema, openDisputesSchema } from "../disputes/dispute_routes.ts";
import { CaseLink } from "./case_head.tsx";
import { Changes, Done, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

export async function disputesPage(visit: Visit): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read("/operations/disputes", openDisputesSchema);
  return (
    <>
      <h1>{phrase(language, "disputes.title")}</h1>
      <Done visit={visit} />
      <p class="lead">{phrase(language, "disputes.lead")}</p>
      <Read visit={visit} answer={answer}>
        {({ Data: { Dispute: disputes } }) =>
          disputes.length === 0 ? <p class="card">{phrase(language, "disputes.none")}</p> : (
            <Table
              language={language}
              name="disputes.title"
              heads={["column.payment", "column.openedBy", "column.status", "column.until", "column.changes"]}
              rows={disputes.map((one) => [
                <CaseLink visit={visit} id={one.DomesticPaymentId} />,
                <>
                  {phrase(language, `disputes.${one.OpenedBy}`)}{" "}
                  <bdi class="detail">{one.OpenedBy === "Bank" ? one.BankId : one.TppId}</bdi>
                </>,
                <State
                  is={one.IsOverdue ? "warn" : "neutral"}
                  words={phrase(language, one.Status === "Open" ? "disputes.open" : "disputes.answered")}
                />,
                one.DueDateTime === undefined ? null : <Instant visit={visit} at={one.DueDateTime} />,
                <Changes
                  visit={visit}
                  links={[[`/disputes/${one.DomesticPaymentId}/decision`, "link.decideDispute"]]}
                />,
              ])}
            />
          )}
      </Read>
    </>
  );
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
