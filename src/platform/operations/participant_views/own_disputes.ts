/** The disputes of an organisation, with what it can do next (contract OWN8). */
import { z } from "@hono/zod-openapi";
import { actionsOf, type Dispute, DISPUTE_ACTIONS, isOverdue } from "../../core/disputes/dispute.ts";
import { disputeData, representStatements } from "../../core/disputes/dispute_representation.ts";
import { statementsOf } from "../../core/disputes/read_dispute.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import type { OwnReadDeps } from "./own_reads.ts";

/** Disputes of an answer. */
export const DISPUTES_SHOWN = 50;
/** Disputes that are read, of each bank, or of each software at each bank. */
const MAX_READ = 500;

export const ownDisputeSchema = disputeData.extend({
  BankId: z.string(),
  TppId: z.string(),
  IsOverdue: z.boolean(),
  NextAction: z.array(z.enum(DISPUTE_ACTIONS)).openapi({
    description: "The steps that the organisation can take now with `POST /{BANK}/disputes/v1`.",
  }),
}).openapi("OwnDispute");

/** Returns those that have not ended first, the one that is due first before the others; then the newest. */
export async function ownDisputes(
  { disputes, listBanks, store, clock }: OwnReadDeps,
  organisation: Organisation,
): Promise<readonly Owned[]> {
  const tpps = organisation.clients.filter(({ bank }) => bank === undefined);
  const banks = tpps.length === 0 ? [] : await listBanks();
  const lists = await Promise.all([
    ...organisation.clients.flatMap(({ bank }) =>
      bank === undefined ? [] : [disputes.at(bank, undefined, MAX_READ)]
    ),
    ...banks.flatMap(({ code }) => tpps.map(({ clientId }) => disputes.at(code, clientId, MAX_READ))),
  ]);
  const shown = lists.flat().toSorted((one, other) => {
    return dueOf(one) - dueOf(other) || other.updatedAt - one.updatedAt;
  });
  const now = clock();
  const represented = await Promise.all(
    shown.slice(0, DISPUTES_SHOWN).map(async (dispute) => {
      const { bank, clientId } = dispute;
      const isTpp = tpps.some((tpp) => tpp.clientId === clientId);
      const one = {
        ...representStatements(dispute, await statementsOf(store, dispute)),
        BankId: bank,
        TppId: clientId,
        IsOverdue: isOverdue(dispute, now),
        NextAction: [...actionsOf(dispute, isTpp ? "TPP" : "Bank")],
      } satisfies z.infer<typeof ownDisputeSchema>;
      return organisation.recognise(one, dispute);
    }),
  );
  return represented.filter((one) => one !== undefined);
}

function dueOf({ dueAt }: Dispute): number {
  return dueAt ?? Number.MAX_SAFE_INTEGER;
}
