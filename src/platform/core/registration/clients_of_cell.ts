/** The clients as one cell has them. The banks of other cells do not exist there. */
import { cellOf } from "../../config/cells.ts";
import type { Config } from "../../config/config.ts";
import type { Store } from "../../../base/store/store.ts";
import type { BankClient } from "./client.ts";
import type { ClientStore } from "./client_store.ts";

export interface CellClients {
  /** Registered clients, updated with the directory's newest statements. */
  readonly clients: ClientStore;
  /** Finds a bank of any cell. */
  readonly findAnyBank: ClientStore["findBank"];
  /** Lists the banks of this cell. */
  readonly listBanks: () => Promise<readonly BankClient[]>;
}

/** Banks that a list has at most. */
const MAX_BANKS = 1000;

export function clientsOfCell(
  { cell, cells }: Pick<Config, "cell" | "cells">,
  store: Store,
  clients: ClientStore,
): CellClients {
  const own = cellOf(cell, cells);
  const { findBank: findAnyBank } = clients;
  const findBank: typeof findAnyBank = async (from, code) =>
    own?.serves(code) === true ? await findAnyBank(from, code) : null;
  const listBanks = async (): Promise<readonly BankClient[]> =>
    (await clients.listBanks(store, MAX_BANKS)).filter(({ code }) => own?.serves(code) === true);
  return { clients: { ...clients, findBank }, findAnyBank, listBanks };
}
