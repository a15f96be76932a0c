/** Account numbers as people read them. */

/** An account number in groups of four, as IBANs are printed. */
export function groupedIban(identification: string): string {
  return identification.replace(/(.{4})(?=.)/g, "$1 ");
}
