/**
 * Payment orders and status reports as messages of ISO 20022, for a bank whose systems read and write those: pure
 * functions. `toPain001` has an example.
 * @module
 */
export {
  type CreditTransferParties,
  fromPain001,
  toPain001,
  type TransferOrder,
} from "./iso20022/pain001.ts";
export { fromPain002, type TimedReport, toPain002 } from "./iso20022/pain002.ts";
export { UnreadableMessage } from "./iso20022/xml.ts";
