/** The bodies of answers of the operations API, from the schemas that its OpenAPI document publishes. */
import type { z } from "zod";
import type { eventDeliveriesSchema } from "../../src/platform/events/operations_routes.ts";
import type {
  controlsSchema,
  plannedOutageSchema,
} from "../../src/platform/operations/control_representation.ts";
import type { alarmsSchema } from "../../src/platform/operations/alarm_routes.ts";
import type { bankStatesSchema } from "../../src/platform/operations/bank_state_routes.ts";
import type { endingsSchema } from "../../src/platform/operations/ending_routes.ts";
import type { historySchema, peopleTodaySchema } from "../../src/platform/operations/history_routes.ts";
import type { keysSchema } from "../../src/platform/operations/key_routes.ts";
import type { participantDetailSchema } from "../../src/platform/operations/participant_detail_routes.ts";
import type { participantsSchema } from "../../src/platform/operations/participant_routes.ts";
import type { lastHourSchema } from "../../src/platform/operations/last_hour_representation.ts";
import type { processesSchema } from "../../src/platform/operations/process_routes.ts";
import type { proposalsSchema } from "../../src/platform/operations/proposal_routes.ts";
import type { ownOrderSchema } from "../../src/platform/operations/participant_views/own_representation.ts";
import type { openOrdersSchema } from "../../src/platform/core/payments/open_order_representation.ts";
import type { orderHoldsSchema } from "../../src/platform/operations/recovery/operations_routes.ts";
import type { reportsSchema } from "../../src/platform/operations/reports/report_representation.ts";
import type { amountSchema, searchSchema } from "../../src/platform/operations/search/routes.ts";

/** The body of a rejected request. */
export interface OperationError {
  readonly error: string;
  readonly error_description: string;
}
export type Controls = z.infer<typeof controlsSchema>;
export type Alarms = z.infer<typeof alarmsSchema>;
export type BankStates = z.infer<typeof bankStatesSchema>;
export type Endings = z.infer<typeof endingsSchema>;
export type PeopleToday = z.infer<typeof peopleTodaySchema>;
export type Entries = z.infer<typeof historySchema>;
export type Erased = { readonly Data: { readonly ConsentId: string } };
export type EventDeliveries = z.infer<typeof eventDeliveriesSchema>;
export type Found = z.infer<typeof searchSchema>;
export type FoundByAmount = z.infer<typeof amountSchema>;
export type OrderHold = z.infer<typeof orderHoldsSchema>["Data"]["OrderHold"][number];
export type OwnOrder = z.infer<typeof ownOrderSchema>;
export type Participants = z.infer<typeof participantsSchema>;
export type ParticipantDetail = z.infer<typeof participantDetailSchema>;
export type PlannedOutage = z.infer<typeof plannedOutageSchema>;
export type PlatformKeyList = z.infer<typeof keysSchema>;
export type Processes = z.infer<typeof processesSchema>;
export type Proposals = z.infer<typeof proposalsSchema>;
export type Reports = z.infer<typeof reportsSchema>;
/** Orders that are held. */
export interface HeldOrders {
  readonly PaymentOrder: Extract<OpenOrders["Data"]["PaymentOrder"][number], { State: "held" }>[];
  readonly After?: string;
}
export type OpenOrders = z.infer<typeof openOrdersSchema>;

export type LastHour = z.infer<typeof lastHourSchema>;
