/** The records that the one process of a Deno KV file keeps in memory (`base/store/entry_cache.ts`). */
import type { Key } from "../../base/store/store.ts";
import { openFlowRecord } from "../core/consents/open_flow_store.ts";
import { consentRecord } from "../core/consents/stored_consent.ts";
import { authorizationSessionRecord } from "../core/frontchannel/authorization_session_store.ts";
import { accessTokenRecord } from "../core/oauth/access_token_store.ts";
import { authorizationCodeRecord } from "../core/oauth/authorization_code_store.ts";
import { pushedRequestRecord } from "../core/oauth/pushed_request_store.ts";
import { paymentRecord } from "../core/payments/stored_payment.ts";
import { orderHoldRecord } from "../operations/recovery/hold_store.ts";
import { bankRecord, clientRecord } from "../core/registration/client_records.ts";

const KEPT: ReadonlySet<string | undefined> = new Set(
  [
    bankRecord,
    clientRecord,
    orderHoldRecord,
    accessTokenRecord,
    consentRecord,
    pushedRequestRecord,
    authorizationSessionRecord,
    openFlowRecord,
    authorizationCodeRecord,
    paymentRecord,
  ].map(({ name }) => name),
);

/** Whether several requests of a payment read the record of this key. */
export const isKept = ([name]: Key): boolean => KEPT.has(name);
