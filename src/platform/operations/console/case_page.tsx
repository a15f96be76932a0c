/** The case of a consent and its payment: its timeline in words. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { EventName } from "./history_page.tsx";
import { Instant, Read } from "../../../console/parts.tsx";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

const bundleSchema = z.looseObject({
  entries: z.array(z.looseObject({
    record: z.looseObject({
      at: z.number(),
      event: z.string(),
      actor: z.string(),
      subject: z.string(),
      reason: z.string().optional(),
      interactionId: z.string().optional(),
      items: z.array(z.looseObject({ kind: z.string() })).optional(),
    }),
    bodies: z.array(z.unknown()),
  })),
});
type CaseEntry = z.infer<typeof bundleSchema>["entries"][number];

export async function casePage(visit: Visit, id: string): Promise<JSX.Element> {
  const { language } = visit;
  const answer = await visit.read(`/operations/cases/${encodeURIComponent(id)}`, bundleSchema);
  return (
    <>
      <h1>{phrase(language, "case.title")}</h1>
      <p class="subject">
        <code dir="ltr">{id}</code>
      </p>
      <Read visit={visit} answer={answer}>
        {({ entries }) => (
          <>
            <p class="lead">{phrase(language, "case.lead")}</p>
            <ol class="timeline card">
              {entries.map((entry) => <Step visit={visit} entry={entry} />)}
            </ol>
          </>
        )}
      </Read>
    </>
  );
}

interface StepProps {
  readonly visit: Visit;
  readonly entry: CaseEntry;
}

function Step({ visit, entry }: StepProps): JSX.Element {
  const { language } = visit;
  const { at, event, actor, reason, interactionId } = entry.record;
  return (
    <li>
      <Instant visit={visit} at={new Date(at).toISOString()} />
      <p>
        <EventName visit={visit} event={event} />
      </p>
      <dl>
        <Fact name={phrase(language, "column.by")}>
          <bdi>{actor}</bdi>
        </Fact>
        {reason === undefined ? null : (
          <Fact name={phrase(language, "column.reason")}>
            <span dir="auto">{reason}</span>
          </Fact>
        )}
        <Evidence visit={visit} entry={entry} />
        {interactionId === undefined ? null : (
          <Fact name={phrase(language, "case.request")}>
            <code dir="ltr">{interactionId}</code>
          </Fact>
        )}
      </dl>
    </li>
  );
}

function Evidence({ visit: { language }, entry: { record, bodies } }: StepProps): JSX.Element | null {
  const { items = [] } = record;
  if (items.length === 0) return null;
  return (
    <Fact name={phrase(language, "case.evidence")}>
      {items.map(({ kind }, index) => (
        <span class="piece">
          <code dir="ltr">{kind}</code>
          {bodies[index] === null ? [" ", phrase(language, "case.deleted")] : null}
        </span>
      ))}
    </Fact>
  );
}
