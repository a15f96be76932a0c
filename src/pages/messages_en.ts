/**
 * The platform's customer messages in English. This catalogue defines all messages and their placeholders; another
 * catalogue that lacks one does not compile. Plain words, whole sentences, no protocol terms.
 */

/** `{name}` is filled by `phrase`. */
export const MESSAGES_EN = {
  "layout.product": "Payment approval",
  "layout.skip": "Skip to the main content",
  "layout.language": "Language",
  "layout.sandbox": "Sandbox: no real money moves here.",
  "layout.backTo": "Back to {tpp}",
  "layout.help": "Need help? {contact}",

  "consent.title": "Do you want to make this payment?",
  "consent.asks": "{tpp} is asking {bank} to make this payment for you.",
  "consent.payment": "The payment",
  "consent.amount": "You pay",
  "consent.written": "Written by {tpp}, not checked:",
  "consent.payee": "To, as written by {tpp} and not checked",
  "consent.payeeAccount": "Into the account",
  "consent.reference": "Reference",
  "consent.message": "Message",
  "consent.bank": "From your bank",
  "consent.more": "More about this payment",
  "consent.who": "Who is asking",
  "consent.legalName": "Legal name",
  "consent.role": "Role",
  "consent.registeredSince": "Registered since",
  "consent.registrationNumber": "Company registration number",
  "consent.clientId": "Identifier in the directory",
  "consent.verified":
    "We checked these details in the directory of registered payment companies. The company cannot change them itself.",
  "consent.accounts": "Pay from which account?",
  "consent.yourAccounts": "Your accounts",
  "consent.accountEnding": "Ending in {ending}",
  "consent.balance": "Balance {amount}",
  "consent.balanceUnknown": "Balance not known",
  "consent.cannotPay": "This account cannot be used for this payment.",
  "consent.insufficientFunds":
    "The balance of this account is lower than the amount. Your bank may reject the payment.",
  "consent.otherCurrency":
    "This account is in another currency ({accountCurrency}) than the payment ({paymentCurrency}).",
  "consent.noneCanPay": "None of your accounts can be used for this payment, so it cannot be made.",
  "consent.next": "What happens next",
  "consent.nothingYet": "Nothing is paid until you accept.",
  "consent.ifAccept":
    "If you accept, you go back to {tpp}. It can then make this one payment of {amount}, once.",
  "consent.ifRefuse": "If you refuse, nothing is paid and you go back to {tpp}.",
  "consent.timeLeft": "You have {duration} to decide, until {time}. After that, nothing is paid.",
  "consent.accept": "Accept and pay {amount}",
  "consent.refuse": "Refuse and pay nothing",

  "role.PISP": "Payment initiation service provider",
  "role.ASPSP": "Bank",

  "scheme.IBAN": "IBAN",
  "scheme.BBAN": "Account number",
  "scheme.SortCodeAccountNumber": "Sort code and account number",
  "scheme.PAN": "Card number",
  "scheme.cardEnding": "ending in {ending}",
  "scheme.Paym": "Mobile number",
  "scheme.Wallet": "Wallet",

  "error.happened": "What happened",
  "error.money": "Has any money moved?",
  "error.noMoney": "No. This page has not moved any money.",
  "error.nothingAgain":
    "Not by opening this page. If you paid before, the shop or app you came from shows it.",
  "error.todo": "What you can do",
  "error.wayBack": "Back to the shop or app",
  "error.help": "If you ask for help, please give this number:",

  "error.link_unusable.title": "This link cannot be used",
  "error.link_unusable.happened": "The link is too old, was already used, or is not complete.",
  "error.link_unusable.todo":
    "Go back to the shop or app you came from. If your payment is not shown there, start it again.",
  "error.finished.title": "This payment request has ended",
  "error.finished.happened":
    "The payment was accepted or refused before, or the time to decide ran out. It cannot be decided here any more.",
  "error.finished.todo": "Go back to the shop or app you came from to see whether the payment was made.",
  "error.accepted.title": "This payment was already accepted",
  "error.accepted.happened":
    "The payment was accepted before, for example in another tab or window. What you chose here has changed nothing.",
  "error.accepted.todo":
    "Go back to the shop or app you came from to see whether the payment was made. If you do not want it, ask the shop, the app or your bank for help.",
  "error.refused.title": "This payment was already refused",
  "error.refused.happened":
    "The payment was refused before, for example in another tab or window, or by your bank. What you chose here has changed nothing.",
  "error.refused.todo":
    "If you want to pay after all, start the payment again in the shop or app you came from.",
  "error.other_browser.title": "Please continue in the browser you started in",
  "error.other_browser.happened":
    "This payment was started in another browser or on another device. To protect you, it can only be finished there.",
  "error.other_browser.todo":
    "Open the browser in which you started the payment and finish it there, or start it again in the shop or app. Cookies must be allowed.",
  "error.not_authentic.title": "The answer from your bank could not be confirmed",
  "error.not_authentic.happened":
    "We could not make sure that this answer really comes from your bank, so we did not use it.",
  "error.not_authentic.todo":
    "Go back to the shop or app you came from. If your payment is not shown there, start it again. If this happens again, contact your bank.",
  "error.not_found.title": "There is nothing at this address",
  "error.not_found.happened": "The address is wrong, or the page is no longer there.",
  "error.not_found.todo": "Check the address, or go back to the shop or app you came from.",
  "error.wrong_method.title": "This address cannot be used like this",
  "error.wrong_method.happened":
    "Your browser sent something that this page does not take, or opened it in a way it is not made for.",
  "error.wrong_method.todo":
    "Go back to the shop or app you came from. If your payment is not shown there, start it again.",
  "error.unavailable.title": "Something is not working on our side",
  "error.unavailable.happened": "We could not finish this step. It is not your fault.",
  "error.unavailable.todo":
    "Please wait a minute and try again. If it still does not work, start the payment again in the shop or app you came from.",
  "error.too_large.title": "Too much was sent at once",
  "error.too_large.happened": "Your browser sent more than this page can take, so it was not read.",
  "error.too_large.todo": "Go back to the shop or app you came from and start the payment again.",
} as const;

/** The name of a message. */
export type MessageKey = keyof typeof MESSAGES_EN;
/** A whole catalogue: every message there is. */
export type Messages = Readonly<Record<MessageKey, string>>;
