/**
 * A bank's client of the payment initiation platform: handover, result, back channel, payment orders, events. The
 * package's entry; `openBank` has an example.
 * @module
 */
export {
  type BankConsent,
  type BankWireAccount,
  listOrders,
  type OrderPage,
  type PayerAccount,
  type PayerAccountsUpdate,
  PlatformRejected,
  pollBankEvents,
  putPayerAccounts,
  readCase,
  readConsent,
  readDispute,
  reportStatus,
  type StatusReport,
  takeDisputeStep,
} from "./bank/back_channel.ts";
export {
  type Bank,
  type BankCredentials,
  type BankOptions,
  type BankSettings,
  openBank,
  type ReplayMemory,
} from "./bank/bank.ts";
export type { BankWord } from "./bank/bank_word.ts";
export { nodeListener, type NodeRequest, type NodeResponse } from "./bank/node_listener.ts";
export { type Handover, HandoverRejected, openHandover } from "./bank/open_handover.ts";
export type { StatedOrder } from "./bank/order_statement.ts";
export { type OrderAnswer, type OrderBook, ordersHandler } from "./bank/orders_handler.ts";
export type { OrderAccount, OrderAddress, OrderedInitiation, PayingAccount } from "./bank/initiation.ts";
export { OrderRejected, type PaymentOrder } from "./bank/payment_order.ts";
export { type PulledOrders, pullOrders } from "./bank/pull_orders.ts";
export { type ResultStatusCode, resultUrl, type ScaResult } from "./bank/seal_result.ts";
export { transactionDigest } from "./bank/transaction_digest.ts";
export { ApiErrorResponse } from "./party/api_error.ts";
export type { Endpoints, OwnCredentials, ParticipantFolder } from "./party/connection.ts";
export type { DisputeSeen, DisputeStatement, DisputeStep } from "./party/dispute.ts";
export { SettingsError, UntrustedMessage } from "./party/errors.ts";
export type { MutualTlsFetch } from "./party/mutual_tls.ts";
export { loadParticipant, type Participant, type TransportIdentity } from "./party/participant.ts";
export type { SignatureProfile } from "./party/payload_signature.ts";
export type { EventPoll, PlatformEvent, PolledEvents } from "./party/platform_event.ts";
export { BANK_REASON_CODES, type BankReasonCode } from "./party/reason_codes.ts";
export { register, type RegistrationServer } from "./party/register_client.ts";
export type { SignFunction, SigningKey } from "./party/signer.ts";
