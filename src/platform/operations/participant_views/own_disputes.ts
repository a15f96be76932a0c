/** The disputes of an organisation, with what it can do next (contract OWN8). */
import { actionsOf, type Dispute } from "../../core/disputes/dispute.ts";
import { statementsOf } from "../../core/disputes/read_dispute.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import type { OwnReadDeps } from "./own_reads.ts";
import { representOwnDispute } from "./own_representation.ts";

/** Disputes of an answer. */
export const DISPUTES_SHOWN = 50;
/** Disputes that are read, of each bank, or of each software at each bank. */
const MAX_READ = 500;

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
      const isTpp = tpps.some(({ clientId }) => clientId === dispute.clientId);
      const one = representOwnDispute(dispute, {
        statements: await statementsOf(store, dispute),
        actions: actionsOf(dispute, isTpp ? "TPP" : "Bank"),
        now,
      });
      return organisation.recognise(one, dispute);
    }),
  );
  return represented.filter((one) => one !== undefined);
}

function dueOf({ dueAt }: Dispute): number {
  return dueAt ?? Number.MAX_SAFE_INTEGER;
}
