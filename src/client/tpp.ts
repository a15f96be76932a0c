/**
 * A third-party provider's client of the payment initiation platform: consent, authorization, payment, events. The
 * package's entry; `beginPayment` has an example.
 * @module
 */
export { AuthorizationResponseError, OperationProcessingError, ResponseBodyError } from "oauth4webapi";
export { SettingsError, UntrustedMessage } from "./party/errors.ts";
export type { SignFunction, SigningKey } from "./party/signer.ts";
export { ApiErrorResponse } from "./party/api_error.ts";
export { type AccessToken, grantClientToken, type PendingAuthorization } from "./tpp/authorization.ts";
export { listBanks, type OfferedBank } from "./tpp/banks.ts";
export type { Endpoints, OwnCredentials, ParticipantFolder } from "./party/connection.ts";
export type { DisputeSeen, DisputeStatement, DisputeStep } from "./party/dispute.ts";
export { readCase, readDispute, takeDisputeStep } from "./tpp/disputes.ts";
export { awaitReturn } from "./tpp/customers_return.ts";
export {
  confirmFunds,
  type ConsentSeen,
  createConsent,
  createPayment,
  findPayment,
  type PaymentSeen,
  readConsent,
  readPayment,
} from "./tpp/domestic_payments.ts";
export { pollEvents, subscribeToEvents, type TppEvent, verifyEvent } from "./tpp/events.ts";
export type { EventPoll, PlatformEvent, PolledEvents } from "./party/platform_event.ts";
export { describeFailure } from "./tpp/failure.ts";
export type { Fetch, HttpRequest } from "./party/http_request.ts";
export {
  listConsents,
  type ListedConsent,
  type ListedPayment,
  type ListPage,
  listPayments,
  type ListQuery,
} from "./tpp/lists.ts";
export { emptyMessageLog, type MessageLog } from "./tpp/message_log.ts";
export type { MutualTlsFetch } from "./party/mutual_tls.ts";
export {
  type Credentials,
  loadParticipant,
  type Participant,
  type TransportIdentity,
} from "./party/participant.ts";
export type { SignatureProfile } from "./party/payload_signature.ts";
export { openFlow, type PaymentFlow } from "./tpp/payment_journey.ts";
export {
  type Initiation,
  isIban,
  type PaymentRequest,
  paymentRequest,
  type Purchase,
  type Risk,
  type WireAccount,
} from "./tpp/payment_request.ts";
export { type Persistence, persistently } from "./tpp/persistent.ts";
export { register, type RegistrationRole, type RegistrationServer } from "./party/register_client.ts";
export {
  beginPayment,
  type BegunPayment,
  finishPayment,
  type PaymentEnd,
  PaymentUnknown,
  submitPayment,
} from "./tpp/take_payment.ts";
export { openTpp, type ProofKeys, type Tpp, type TppOptions, type TppSettings } from "./tpp/tpp.ts";
