/**
 * Cells: groups of processes with a database of their own. Every consent, payment, token and JWT belongs to one bank,
 * and each bank to one cell, so nothing crosses cells but the registrations, which the home cell replicates to the
 * others. A process answers for its cell's banks alone, so that a request that a proxy sends to the wrong cell changes
 * nothing there.
 */
import { asBankCode, type BankCode } from "../../base/kernel/identifiers.ts";

/** The cell of the banks that no other cell has. Only it registers clients. */
export const HOME_CELL = "home";

/** The banks of each cell but the home cell. */
export type Cells = ReadonlyMap<string, readonly BankCode[]>;

export interface Cell {
  /** Whether the bank belongs to this cell. */
  serves(bank: BankCode): boolean;
}

const CELL_NAME = /^[a-z][a-z0-9]{0,15}$/;

/** Reads `eu=BANKB,BANKC;us=BANKD`. Returns undefined if it is malformed or a bank or cell stands in it twice. */
export function readCells(text: string): Cells | undefined {
  const cells = new Map<string, BankCode[]>();
  const seen = new Set<BankCode>();
  for (const part of text.split(";").map((one) => one.trim()).filter((one) => one !== "")) {
    const [name = "", list = "", ...rest] = part.split("=").map((one) => one.trim());
    const banks = list.split(",").map((code) => asBankCode(code.trim()));
    if (!CELL_NAME.test(name) || name === HOME_CELL || cells.has(name) || rest.length > 0) return undefined;
    for (const bank of banks) {
      if (bank === undefined || seen.has(bank)) return undefined;
      seen.add(bank);
    }
    cells.set(name, banks.filter((bank) => bank !== undefined));
  }
  return cells;
}

/** Returns the cell of this name, or undefined if there is none. */
export function cellOf(name: string, cells: Cells): Cell | undefined {
  const own = cells.get(name);
  if (own !== undefined) return { serves: (bank) => own.includes(bank) };
  if (name !== HOME_CELL) return undefined;
  const others = new Set([...cells.values()].flat());
  return { serves: (bank) => !others.has(bank) };
}
