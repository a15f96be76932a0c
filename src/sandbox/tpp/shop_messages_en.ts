/**
 * The shop's words to customers in English, and by that the list of all messages and of their placeholders: a message
 * that another catalogue lacks does not compile.
 */

/** `{name}` is filled by `phrase`. */
export const MESSAGES_EN = {
  "frame.sandbox": "Sandbox.",
  "frame.notReal": "This shop is a demonstration: no real money, no real goods.",
  "frame.byBank": "Paid by bank: you confirm at your own bank, the shop never sees your password.",
  "frame.language": "Language",
  "frame.skip": "Skip to the main content",

  "goods.title": "Menu",
  "goods.accounts": "Leave the account empty to choose it later, or name it here. Accounts in this sandbox:",
  "goods.bank": "Your bank",
  "goods.account": "Your account, as IBAN (optional)",
  "goods.pay": "Pay {price} {what} by bank",
  "goods.payFor": "for {good}",
  "goods.notIban": "This is not an IBAN: please check it for a typing error, or leave it empty.",
  "good.breakfast.name": "Breakfast",
  "good.breakfast.text": "Espresso, croissant, orange juice.",
  "good.lunch.name": "Lunch of the day",
  "good.lunch.text": "Soup, quiche and a glass of wine.",
  "good.dinner.name": "Dinner for two",
  "good.dinner.text": "Tasting menu in five courses.",
  "bank.BANKA.hint": "you choose the account on the platform’s page",
  "bank.BANKB.hint": "you choose the account at your bank",

  "order.order": "Order",
  "order.status": "Payment status",
  "order.number": "Order number",
  "order.consent": "Consent",
  "order.payment": "Payment",
  "order.since": "Status since",
  "order.continue": "Continue at your bank",
  "order.again": "Look again",
  "order.messages": "Messages behind this payment (for developers)",
  "order.back": "Back to the menu",
  "order.detail": "What the shop was told:",

  "outcome.waiting.title": "One moment",
  "outcome.waiting.text": "The payment is being made.",
  "outcome.at_bank.title": "Waiting for your bank",
  "outcome.at_bank.text": "You have not confirmed the payment yet. No money has moved.",
  "outcome.denied.title": "Payment not made",
  "outcome.denied.text": "You or your bank refused the payment. No money has moved.",
  "outcome.refused.title": "Payment not made",
  "outcome.refused.text": "The authorization at your bank did not succeed. No money has moved.",
  "outcome.failed.title": "Payment not made",
  "outcome.failed.text": "Something went wrong before the payment could be made. No money has moved.",
  "outcome.unknown.title": "We do not know yet",
  "outcome.unknown.text":
    "The payment was sent and its result is not known. Please look at your account before you pay again.",
  "outcome.Pending.title": "Payment pending",
  "outcome.Pending.text": "Your bank has still to accept it.",
  "outcome.Rejected.title": "Payment rejected",
  "outcome.Rejected.text": "Your bank rejected the payment.",
  "outcome.AcceptedSettlementInProcess.title": "Thank you",
  "outcome.AcceptedSettlementInProcess.text": "Your bank has accepted the payment and is carrying it out.",
  "outcome.AcceptedSettlementCompleted.title": "Thank you",
  "outcome.AcceptedSettlementCompleted.text": "Your account has been debited.",
  "outcome.AcceptedWithoutPosting.title": "Thank you",
  "outcome.AcceptedWithoutPosting.text": "The payment has arrived and will be booked on our account.",
  "outcome.AcceptedCreditSettlementCompleted.title": "Thank you",
  "outcome.AcceptedCreditSettlementCompleted.text": "The money has arrived on our account.",
  "outcome.other.title": "Payment made",
  "outcome.other.text": "Your bank is dealing with it.",
  "status.inProgress": "In progress",
  "status.notPaid": "Not paid",
  "status.unknown": "Unknown",

  "notice.failed.title": "Something went wrong",
  "notice.failed.text": "The shop could not answer. Please try again.",
  "notice.origin.title": "Not allowed",
  "notice.origin.text": "Orders can only be made from the shop’s own pages.",
  "notice.choice.title": "Not on the menu",
  "notice.choice.text": "Please choose a dish and a bank from the menu.",
  "notice.stray.title": "Nothing to finish here",
  "notice.stray.text":
    "This return does not belong to an order of this browser. Nothing has been paid by opening it. If you ordered in another browser, please continue there.",
  "notice.not_found.title": "Not found",
  "notice.not_found.text": "There is no such page, or it belongs to another browser.",
  "notice.too_long.title": "Too long",
  "notice.too_long.text": "This form carries more than an order can.",
} as const;

/** The name of a message. */
export type MessageKey = keyof typeof MESSAGES_EN;
/** A whole catalogue: every message there is. */
export type Messages = Readonly<Record<MessageKey, string>>;
