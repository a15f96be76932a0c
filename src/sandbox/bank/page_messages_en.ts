/**
 * The banks' customer messages in English. This catalogue defines all messages and their placeholders; another
 * catalogue that lacks one does not compile.
 */

/** `{name}` is filled by `phrase`. */
export const MESSAGES_EN = {
  "frame.banks": "Sandbox banks",
  "frame.sandbox": "Sandbox",
  "frame.notReal": "This is a simulated bank. No real money moves.",
  "frame.language": "Language",
  "frame.skip": "Skip to the main content",
  "frame.error": "Error: {title}",

  "login.title": "Sign in",
  "login.asks": "{tpp} asks for a payment from your account. Sign in to see and authorise it.",
  "login.username": "User name",
  "login.password": "Password",
  "login.hint": "Sandbox customer: {username}, password {password}",
  "login.continue": "Continue",
  "login.cancel": "Cancel",

  "code.confirmTitle": "Confirm that it is you",
  "code.authoriseTitle": "Authorise the payment",
  "code.accountNext": "You choose the account to pay from on the next page.",
  "code.label": "One-time code",
  "code.hint": "In the sandbox the code is always {code}",
  "code.confirm": "Confirm",
  "code.authorise": "Authorise",
  "code.refuse": "Refuse",

  "consent.title": "Authorise the payment",
  "consent.payFrom": "Pay from",
  "consent.balance": "Balance {amount}",
  "consent.otherCurrency": "Not in {currency}: the payment would be rejected.",
  "consent.insufficientFunds": "Not enough money: the payment would be rejected.",

  "payment.title": "Payment",
  "payment.amount": "Amount",
  "payment.payee": "To, as written by {tpp} and not checked",
  "payment.unnamed": "Unnamed payee",
  "payment.payeeAccount": "Payee’s account",
  "payment.debtorAccount": "From your account",
  "payment.reference": "Reference, as written by {tpp}",
  "payment.askedBy": "Asked for by",

  "complaint.wrong_credentials": "User name or password is wrong.",
  "complaint.wrong_code": "The code is wrong.",
  "complaint.no_account": "Choose the account to pay from.",
  "tries.one": "1 try is left.",
  "tries.two": "2 tries are left.",
  "tries.other": "{count} tries are left.",

  "problem.not_found.title": "Page not found",
  "problem.not_found.text": "There is nothing at this address.",
  "problem.toBanks": "See the banks of this sandbox",
  "problem.unavailable.title": "Try again in a moment",
  "problem.unavailable.text":
    "The bank cannot go on right now. This page has not moved any money. Reload the page, or go back to the shop.",
  "problem.link.title": "This link cannot be used",
  "problem.link.text":
    "This link is not valid, or it has been used before. Nothing is paid by opening it. Go back to the shop and start again.",
  "problem.over.title": "Your visit is over",
  "problem.over.text":
    "This visit has ended, or was started in another browser. Go back to the shop to see what became of your payment.",
  "problem.form.title": "Please start again",
  "problem.form.text": "This form does not belong to your visit, so nothing was done. No money has moved.",

  "list.title": "Banks",
  "home.title": "About {bank}",
  "home.known": "A bank of the sandbox, known to the platform as {code}.",
  "home.ownScreen": "This bank shows its own consent screen.",
  "home.platformScreen": "This bank leaves the consent screen to the platform.",
  "home.secrets":
    "Customers arrive here from a shop, by way of the platform. Every password is {password} and every one-time code is {code}.",
  "home.username": "User name {username}",
  "home.ledger": "Executed payment orders and balances (JSON)",
  "faults.title": "When it goes wrong",
  "faults.text":
    "A payment over one of these amounts makes this bank go wrong, every time. For any other payment, POST {body} as JSON to {path}.",

  "account.current": "Current account",
  "account.savings": "Savings account",
  "account.sterling": "Sterling account",
} as const;

/** The name of a message. */
export type MessageKey = keyof typeof MESSAGES_EN;
/** A whole catalogue: every message there is. */
export type Messages = Readonly<Record<MessageKey, string>>;
