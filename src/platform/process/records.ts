/** Every record of the platform's store. `docs/storage.md` is generated from this list. */
import { baseRecords, spentJwtRecord, spentJwtsRecord } from "../../base/store/base_records.ts";
import { auditRecord, peopleLogRecord } from "../evidence/audit_trail.ts";
import {
  consentDeadlineRecord,
  consentErasureRecord,
  consentRecord,
} from "../core/consents/consent_store.ts";
import { caseErasureRecord } from "../evidence/data_keys/erasure_store.ts";
import { dataKeyStoreRecord } from "../evidence/data_keys/sealed_store.ts";
import { authorizationSessionRecord } from "../core/frontchannel/authorization_session_store.ts";
import { proposals } from "../operations/proposals.ts";
import { bankHealthRecord, lastPushesRecord } from "../operations/health/bank_health_store.ts";
import { unsettledRecord, unsettledSearchRecord } from "../operations/unsettled/find_unsettled.ts";
import { processRecord } from "../operations/process_store.ts";
import { funnelCaseRecord, funnelDayRecord } from "../observed/funnel/funnel_store.ts";
import { figuresRecord } from "../observed/figures/figures_store.ts";
import { logRecords } from "../evidence/evidence_log/log_records.ts";
import { claimRecord } from "../guards/idempotency/idempotent.ts";
import { accessTokenRecord } from "../core/oauth/access_token_store.ts";
import { authorizationCodeRecord } from "../core/oauth/authorization_code_store.ts";
import { pushedRequestRecord } from "../core/oauth/pushed_request_store.ts";
import { keptCopyRecord, keptPieceRecord } from "../core/participants/kept_copy_store.ts";
import {
  outboxDeadRecord,
  outboxHeldRecord,
  outboxQueueRecord,
  outboxRecord,
} from "../core/payments/order_outbox_records.ts";
import { paymentOfBankRecord, paymentRecord } from "../core/payments/payment_store.ts";
import { disputeRecord, openDisputeRecord } from "../core/disputes/dispute_store.ts";
import { storeEpochRecord } from "../operations/recovery/epoch_store.ts";
import { orderHoldRecord } from "../operations/recovery/hold_store.ts";
import {
  bankRecord,
  clientRecord,
  deletedClientRecord,
  softwareStatementRecord,
} from "../core/registration/client_records.ts";
import { keptTimeRecord } from "../operations/cases/kept_time.ts";
import {
  caseDeletionRecord,
  retentionLeftRecord,
  retentionScanRecord,
} from "../operations/cases/retention_store.ts";
import { deletedCaseRecord } from "../evidence/deleted_case_store.ts";
import { evidenceDocumentRecord, evidenceRecord } from "../evidence/evidence_store.ts";
import { controlledPartyRecord, controlsRecord } from "../guards/security/controls_store.ts";
import { listedRecord, lookupRecord } from "../guards/lists/lookup_store.ts";
import { traceOfRecord, traceRunRecord } from "../operations/traces/trace_run_store.ts";
import { traceRecord } from "../operations/traces/trace_store.ts";
import { eventRecord, finishedEventRecord, finishedNoticeRecord, noticeRecord } from "../events/event.ts";
import { noticeSpreadRecord } from "../events/spread_notices.ts";
import { notifiedExpiriesRecord } from "../events/notify_expiries.ts";
import { subscriptionRecord } from "../events/subscription_store.ts";
import { receiptKeyRecord } from "../core/receipts/receipt_keys.ts";
import { rateBucketRecord } from "../guards/security/rate_limits.ts";

export const platformRecords = [
  dataKeyStoreRecord,
  caseErasureRecord,
  clientRecord,
  deletedClientRecord,
  softwareStatementRecord,
  bankRecord,
  accessTokenRecord,
  pushedRequestRecord,
  authorizationCodeRecord,
  authorizationSessionRecord,
  consentRecord,
  consentDeadlineRecord,
  consentErasureRecord,
  paymentRecord,
  paymentOfBankRecord,
  disputeRecord,
  openDisputeRecord,
  outboxRecord,
  outboxQueueRecord,
  outboxDeadRecord,
  outboxHeldRecord,
  claimRecord,
  spentJwtRecord,
  spentJwtsRecord,
  evidenceRecord,
  evidenceDocumentRecord,
  receiptKeyRecord,
  auditRecord,
  peopleLogRecord,
  rateBucketRecord,
  keptCopyRecord,
  keptPieceRecord,
  orderHoldRecord,
  controlsRecord,
  controlledPartyRecord,
  storeEpochRecord,
  traceRecord,
  traceRunRecord,
  traceOfRecord,
  figuresRecord,
  funnelCaseRecord,
  funnelDayRecord,
  proposals.record,
  proposals.openRecord,
  processRecord,
  eventRecord,
  finishedEventRecord,
  noticeRecord,
  finishedNoticeRecord,
  noticeSpreadRecord,
  bankHealthRecord,
  lastPushesRecord,
  unsettledRecord,
  unsettledSearchRecord,
  notifiedExpiriesRecord,
  subscriptionRecord,
  lookupRecord,
  listedRecord,
  deletedCaseRecord,
  caseDeletionRecord,
  retentionLeftRecord,
  retentionScanRecord,
  keptTimeRecord,
  ...logRecords,
  ...baseRecords,
] as const;
