/** The notice of a change of a planned outage (contract EVT18). */
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { OutageChange } from "../guards/security/controls_store.ts";
import type { NoticeToAll } from "./notice_spread_store.ts";

export function outageNotice(
  authUrl: string,
  { id, bank, position, status, at, from, until, text }: OutageChange,
): NoticeToAll {
  return {
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
  };
}
