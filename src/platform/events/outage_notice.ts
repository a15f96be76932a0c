/** The notice of a change of a planned outage (contract EVT18). */
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { OutageChange } from "../guards/security/controls_store.ts";
import type { Transaction } from "../../base/store/transaction.ts";
import { stageNoticeToAll } from "./notice_spread_store.ts";

/** Stages that TPPs are told of the outage, in the commit that changes it. */
export function stageOutageNotice(
  tx: Transaction,
  authUrl: string,
  { id, bank, position, status, at, from, until, text }: OutageChange,
): void {
  stageNoticeToAll(tx, {
    bank,
    id,
    position,
    notice: {
      type: `outage-${status}`,
      status,
      at,
      about: "planned-outage",
      link: `${authUrl}/.well-known/oauth-authorization-server/${bank}`,
      details: { from: wireDateTime(from), until: wireDateTime(until), text },
    },
  });
}
