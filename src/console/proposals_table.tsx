/** Changes that need two people: what was proposed, by whom, and what a second person has decided. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Badge, Instant, NamedTable, State } from "./parts.tsx";
import type { Visit } from "./visit.ts";

export interface ProposalRow {
  /** Names the change. */
  readonly what: Child;
  /** The body of the change. */
  readonly body?: string | undefined;
  readonly badge: Badge;
  readonly state: Child;
  /** Why the change was not made, in English. */
  readonly fault?: string | undefined;
  readonly proposedBy: string;
  readonly decidedBy?: string | undefined;
  readonly reason?: string | undefined;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly links: Child;
}

/** A console's own words for a column of {@link ProposalsTable}. */
export type SayInColumn = (
  column: "proposal" | "state" | "by" | "reason" | "until" | "changes",
) => string;

export function ProposalsTable(
  { visit, name, say, rows }: {
    readonly visit: Visit;
    readonly name: string;
    readonly say: SayInColumn;
    readonly rows: readonly ProposalRow[];
  },
): JSX.Element {
  return (
    <section class="card">
      <NamedTable
        name={name}
        rows={rows}
        columns={[
          [say("proposal"), (one) => [
            one.what,
            one.body === undefined ? null : <code class="detail" dir="ltr">{visible(one.body)}</code>,
          ]],
          [say("state"), (one) => [
            <State is={one.badge} words={one.state} />,
            one.fault === undefined ? null : <p class="detail" lang="en" dir="ltr">{one.fault}</p>,
          ]],
          [say("by"), (one) => <People one={one} />],
          [say("reason"), ({ reason }) => reason && <bdi>{reason}</bdi>],
          [say("until"), (one) => <Instant visit={visit} at={one.expiresAt} />],
          [say("changes"), (one) => one.links],
        ]}
      />
    </section>
  );
}

function People({ one: { proposedBy, decidedBy } }: { readonly one: ProposalRow }): JSX.Element {
  return (
    <>
      <bdi>{proposedBy}</bdi>
      {decidedBy === undefined ? null : (
        <span class="detail">
          <bdi>{decidedBy}</bdi>
        </span>
      )}
    </>
  );
}

/** A console's own words for a part of {@link ProposalsHead}. */
export type SayInHead = (part: "made" | "lead") => Child;

/**
 * What follows the title of the page of proposals.
 *
 * @param madeAt the address that a person comes to after a change was stored as a proposal
 */
export function ProposalsHead(
  { visit, madeAt, say }: {
    readonly visit: Visit;
    readonly madeAt: string;
    readonly say: SayInHead;
  },
): JSX.Element {
  return (
    <>
      {visit.address === madeAt ? <p class="note" role="status">{say("made")}</p> : null}
      <p class="lead">{say("lead")}</p>
    </>
  );
}

/** Shows control and format characters as escapes, so that a text cannot change the order of what is read. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
