/** The disputes of an organisation, with what it can do next (contract OWN8). */
import { actionsOf, type Dispute } from "../../core/disputes/dispute.ts";
import { listDisputes, listOpenDisputes } from "../../core/disputes/dispute_store.ts";
import { statementsOf } from "../../core/disputes/read_dispute.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import type { OwnReadDeps } from "./own_reads.ts";
import { representOwnDispute } from "./own_representation.ts";

/** Disputes of an answer. */
export const DISPUTES_SHOWN = 50;

/** Returns those that have not ended first, the one that is due first before the others; then the newest. */
export async function ownDisputes(
  { listBanks, store, clock, clients }: OwnReadDeps,
  organisation: Organisation,
): Promise<readonly Owned[]> {
  const tpps = organisation.clients.filter(({ bank }) => bank === undefined);
  const open = await listOpenDisputes(store, DISPUTES_SHOWN, (one) => organisation.owns(one));
  const shown = open.length < DISPUTES_SHOWN
    ? [...open, ...await endedDisputes({ store, listBanks }, organisation)]
    : open;
  const now = clock();
  const listed = shown.slice(0, DISPUTES_SHOWN);
  const names = await clients.namesOf(store, listed.map(({ clientId }) => clientId));
  const represented = await Promise.all(
    listed.map(async (dispute) => {
      const isTpp = tpps.some(({ clientId }) => clientId === dispute.clientId);
      const one = representOwnDispute(dispute, {
        statements: await statementsOf(store, dispute),
        actions: actionsOf(dispute, isTpp ? "TPP" : "Bank"),
        now,
        names,
      });
      return organisation.recognise(one, dispute);
    }),
  );
  return represented.filter((one) => one !== undefined);
}

/** Returns the disputes that have ended, the newest first. */
async function endedDisputes(
  { store, listBanks }: Pick<OwnReadDeps, "store" | "listBanks">,
  { clients }: Organisation,
): Promise<readonly Dispute[]> {
  const tpps = clients.filter(({ bank }) => bank === undefined);
  const banks = tpps.length === 0 ? [] : await listBanks();
  const lists = await Promise.all([
    ...clients.flatMap(({ bank }) => bank === undefined ? [] : [listDisputes(store, bank)]),
    ...banks.flatMap(({ code }) => tpps.map(({ clientId }) => listDisputes(store, code, clientId))),
  ]);
  return lists.flat().filter(({ dueAt }) => dueAt === undefined)
    .toSorted((one, other) => other.updatedAt - one.updatedAt);
}
