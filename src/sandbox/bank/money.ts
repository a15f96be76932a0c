/** Amounts as whole minor units, for currencies with two fraction digits (all that the sandbox has). */

const wireAmount = /^(0|[1-9]\d{0,12})\.(\d{2})$/;

/** `"10.50"` as 1050, or undefined if the text is not an amount with two fraction digits. */
export function minorUnits(amount: string): number | undefined {
  const [, whole, fraction] = wireAmount.exec(amount) ?? [];
  return whole === undefined || fraction === undefined ? undefined : Number(whole + fraction);
}

/** 1050 as `"10.50"`. */
export function wireAmountOf(units: number): string {
  const digits = String(Math.abs(units)).padStart(3, "0");
  return `${units < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
