/**
 * The codes of reasons: why a consent, a payment or an authorization did not succeed (contract RSN1). The list is closed.
 * Codes of four characters are of ISO 20022 (ExternalStatusReason1Code), with its meaning. The others are the platform's
 * own, for what no ISO code says. A code names no person, so it is not sealed.
 */

/** Who can act, so that the payment succeeds. */
export type ReasonActor = "payer" | "tpp" | "bank" | "operator";

/**
 * Whether the payment may succeed if the TPP tries again: `same` with the same data, `changed` with what the meaning
 * names changed, `never` not.
 */
export type ReasonRetry = "same" | "changed" | "never";

export interface Reason {
  readonly actor: ReasonActor;
  readonly retry: ReasonRetry;
  readonly meaning: string;
  /** What the TPP may show to the payer: the place of the text in {@link PAYER_TEXTS}. */
  readonly show: keyof typeof PAYER_TEXTS;
}

/** What a TPP may show to a payer, by language. It says no more than a payer may know. */
export const PAYER_TEXTS = {
  account: {
    en: "The account cannot be used for this payment. Choose another account.",
    es: "La cuenta no puede usarse para este pago. Elija otra cuenta.",
    fr: "Ce compte ne peut pas servir à ce paiement. Choisissez un autre compte.",
    ar: "لا يمكن استخدام هذا الحساب لهذه الدفعة. اختر حسابًا آخر.",
  },
  payee: {
    en: "The payee’s account cannot receive this payment. You have not paid.",
    es: "La cuenta del beneficiario no puede recibir este pago. No ha pagado.",
    fr: "Le compte du bénéficiaire ne peut pas recevoir ce paiement. Vous n’avez pas payé.",
    ar: "لا يمكن لحساب المستفيد استلام هذه الدفعة. لم يتم الدفع.",
  },
  amount: {
    en: "Your bank does not allow a payment of this amount. You have not paid.",
    es: "Su banco no permite un pago de este importe. No ha pagado.",
    fr: "Votre banque n’autorise pas un paiement de ce montant. Vous n’avez pas payé.",
    ar: "لا يسمح مصرفك بدفع هذا المبلغ. لم يتم الدفع.",
  },
  funds: {
    en: "There is not enough money in the account. Choose another account, or try again later.",
    es: "No hay saldo suficiente en la cuenta. Elija otra cuenta o inténtelo más tarde.",
    fr: "Le solde du compte est insuffisant. Choisissez un autre compte ou réessayez plus tard.",
    ar: "الرصيد في الحساب غير كافٍ. اختر حسابًا آخر أو حاول لاحقًا.",
  },
  cancelled: {
    en: "You cancelled the payment. You have not paid.",
    es: "Ha cancelado el pago. No ha pagado.",
    fr: "Vous avez annulé le paiement. Vous n’avez pas payé.",
    ar: "لقد ألغيت الدفعة. لم يتم الدفع.",
  },
  time: {
    en: "The time to confirm the payment has passed. You have not paid. You can start again.",
    es: "El plazo para confirmar el pago ha terminado. No ha pagado. Puede empezar de nuevo.",
    fr: "Le délai pour confirmer le paiement est dépassé. Vous n’avez pas payé. Vous pouvez recommencer.",
    ar: "انتهت مهلة تأكيد الدفعة. لم يتم الدفع. يمكنك البدء من جديد.",
  },
  bank: {
    en: "Your bank rejected the payment. You have not paid. Ask your bank for the reason.",
    es: "Su banco ha rechazado el pago. No ha pagado. Pregunte el motivo a su banco.",
    fr: "Votre banque a refusé le paiement. Vous n’avez pas payé. Demandez-en la raison à votre banque.",
    ar: "رفض مصرفك الدفعة. لم يتم الدفع. اسأل مصرفك عن السبب.",
  },
  later: {
    en: "The payment is not possible at the moment. You have not paid. Try again later.",
    es: "El pago no es posible en este momento. No ha pagado. Inténtelo más tarde.",
    fr: "Le paiement n’est pas possible en ce moment. Vous n’avez pas payé. Réessayez plus tard.",
    ar: "الدفع غير ممكن في الوقت الحالي. لم يتم الدفع. حاول لاحقًا.",
  },
  again: {
    en: "Something went wrong. You have not paid. You can start again.",
    es: "Se ha producido un error. No ha pagado. Puede empezar de nuevo.",
    fr: "Une erreur s’est produite. Vous n’avez pas payé. Vous pouvez recommencer.",
    ar: "حدث خطأ ما. لم يتم الدفع. يمكنك البدء من جديد.",
  },
  other: {
    en: "This payment cannot be made here. You have not paid. Pay in another way.",
    es: "Este pago no puede hacerse aquí. No ha pagado. Pague de otra forma.",
    fr: "Ce paiement ne peut pas être effectué ici. Vous n’avez pas payé. Payez autrement.",
    ar: "لا يمكن إجراء هذه الدفعة هنا. لم يتم الدفع. ادفع بطريقة أخرى.",
  },
} as const;

function reason(actor: ReasonActor, retry: ReasonRetry, show: Reason["show"], meaning: string): Reason {
  return { actor, retry, meaning, show };
}

/** The codes of ISO 20022. A bank may report each of them. */
const ISO_REASONS = {
  AB05: reason("bank", "same", "later", "The payee’s bank did not answer in time."),
  AB08: reason("bank", "same", "later", "The payee’s bank is offline."),
  AC01: reason("payer", "changed", "account", "The account number is wrong or missing."),
  AC03: reason("tpp", "changed", "payee", "The payee’s account number is wrong or missing."),
  AC04: reason("payer", "changed", "account", "The account is closed."),
  AC06: reason("payer", "changed", "account", "The account is blocked."),
  AC07: reason("tpp", "changed", "payee", "The payee’s account is closed."),
  AC13: reason("payer", "changed", "account", "The payer’s account has a type that cannot be debited."),
  AG01: reason("payer", "changed", "account", "Payments of this kind are forbidden on this account."),
  AM02: reason("tpp", "changed", "amount", "The amount is larger than allowed."),
  AM03: reason("payer", "changed", "account", "The amount has a currency that the account does not allow."),
  AM04: reason("payer", "same", "funds", "The funds are insufficient."),
  AM05: reason("tpp", "never", "bank", "The payment is a duplicate of an earlier one."),
  AM12: reason("tpp", "changed", "amount", "The amount is invalid."),
  AM14: reason("payer", "changed", "amount", "The amount exceeds a limit agreed between bank and payer."),
  BE01: reason("tpp", "changed", "payee", "The name of the payee does not match the account."),
  CUST: reason("payer", "same", "cancelled", "The payer rejected or cancelled."),
  DS02: reason("payer", "same", "cancelled", "An authorised user cancelled the order at the bank."),
  DS04: reason("bank", "never", "bank", "The bank rejected the order because of its content."),
  DS24: reason(
    "payer",
    "same",
    "time",
    "The time for the authorisation has passed. The consent has expired.",
  ),
  ED05: reason("bank", "same", "later", "The settlement failed."),
  FF05: reason("tpp", "changed", "other", "The payment scheme (local instrument) is invalid or missing."),
  FR01: reason("bank", "never", "bank", "The bank suspects fraud."),
  MS03: reason("bank", "same", "bank", "The bank rejected and specified no reason."),
  NARR: reason("bank", "same", "bank", "The bank rejected. The reason is in its text."),
  NOAS: reason("payer", "same", "time", "The payer did not answer the bank."),
  RC04: reason("tpp", "changed", "payee", "The payee’s bank is wrong or missing."),
  RR04: reason("bank", "never", "bank", "A regulation forbids the payment."),
  TM01: reason("bank", "same", "later", "The order came after the bank’s cut-off time."),
} as const satisfies Record<string, Reason>;

/** The platform’s own codes. No other party may report them. */
const OWN_REASONS = {
  BANK_NOT_ACTIVE: reason("bank", "same", "later", "The bank is suspended or blocked for now."),
  BANK_RESULT_UNUSABLE: reason("bank", "same", "again", "The bank’s result could not be used."),
  BANK_UNAVAILABLE: reason("bank", "same", "later", "The bank cannot be reached at the moment."),
  BANK_WITHDRAWN: reason("bank", "never", "other", "The bank has left the platform."),
  CONSENT_DECIDED: reason(
    "tpp",
    "changed",
    "again",
    "The consent does not await authorisation. Create a new one.",
  ),
  CONSENT_NOT_USED: reason(
    "tpp",
    "same",
    "time",
    "The authorised consent was not used in time. It has expired.",
  ),
  CONSENT_VOIDED: reason("tpp", "same", "again", "A restore of the platform’s database voided the consent."),
  LINK_OPENED_TOO_OFTEN: reason(
    "tpp",
    "same",
    "again",
    "The request_uri was opened too often. Push a new request.",
  ),
  ORDER_CLOSED: reason(
    "operator",
    "same",
    "later",
    "An operator closed the order, which the bank never answered.",
  ),
  PLATFORM_UNAVAILABLE: reason("operator", "same", "later", "The platform cannot do it at the moment."),
  SESSION_EXPIRED: reason(
    "payer",
    "same",
    "time",
    "The payer took too long. The consent still awaits authorisation.",
  ),
  TPP_NOT_ACTIVE: reason("tpp", "same", "later", "The TPP is suspended or blocked for now."),
  TPP_WITHDRAWN: reason("tpp", "never", "other", "The TPP has left the platform."),
} as const satisfies Record<string, Reason>;

export const REASONS = { ...ISO_REASONS, ...OWN_REASONS };

export type ReasonCode = keyof typeof REASONS;

/** A code that a bank may report. */
export type BankReasonCode = keyof typeof ISO_REASONS;

export const REASON_CODES = Object.keys(REASONS) as readonly ReasonCode[] as [ReasonCode, ...ReasonCode[]];
export const BANK_REASON_CODES = Object.keys(ISO_REASONS) as readonly BankReasonCode[] as [
  BankReasonCode,
  ...BankReasonCode[],
];

/** Returns the code that a bank reported, or undefined if it is not one that a bank may report. */
export function asBankReasonCode(value: unknown): BankReasonCode | undefined {
  return BANK_REASON_CODES.find((code) => code === value);
}

/**
 * Returns the code of a rejection by the bank: its own, or the general one of ISO 20022, with or without a text.
 *
 * @param reported what the bank reported, which may be no code of the list
 */
export function bankReason(reported: unknown, text: string | undefined): BankReasonCode {
  return asBankReasonCode(reported) ?? (text === undefined || text === "" ? "MS03" : "NARR");
}
