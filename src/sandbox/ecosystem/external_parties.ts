/** Starts the banks and the shop from their files and the addresses of all parts. */
import { type Banks, composeBanks, type ConnectionInfo } from "../bank/bank_app.ts";
import { loadBank } from "../bank/load_bank.ts";
import { BANK_CODES, makeOwnFile, participantFiles } from "./sandbox_files.ts";
import type { Site } from "./site.ts";
import { composeDeveloperPages } from "../developer/app.ts";
import { ownTpps } from "./own_tpps.ts";
import { composeShop } from "../shop/app.ts";
import { openTpp } from "../../client/tpp/tpp.ts";

/** The running external parties. */
export interface ExternalParties {
  banks(request: Request, info: ConnectionInfo): Promise<Response>;
  shop(request: Request): Promise<Response>;
  stop(): void;
}

/** Interval at which the banks pull orders that no push delivered. */
const PULL_EVERY_MS = 4000;

/**
 * Loads all credentials and opens the banks' ledgers.
 *
 * @param isCertified whether the banks serve the hook of their certification
 */
export async function startExternalParties(site: Site, isCertified: boolean): Promise<ExternalParties> {
  const { addresses: { authUrl, banksUrl, shopUrl }, files, clock } = site;
  const banks = await startBanks(site, isCertified);
  const { baseUrl: base_url, directoryUrl: directory_url } = site.addresses;
  const endpoints = { base_url, auth_url: authUrl, directory_url };
  const tpp = await openTpp({
    dir: files.directory,
    name: "shop",
    endpoints,
    redirectUri: `${shopUrl}/callback`,
    now: clock.now,
  });
  const log = (line: string): void => tell(site, "shop", { line });
  const shop = composeShop({ tpp, shopUrl, authUrl, banksUrl, log, receivesEvents: true });
  const developer = composeDeveloperPages({
    tpps: ownTpps(site, tpp, endpoints),
    shopUrl,
    authUrl,
    banksUrl,
    now: clock.now,
  });
  return {
    banks: banks.fetch,
    shop: (request) => developer.handles(request) ? developer.fetch(request) : shop.fetch(request),
    stop(): void {
      banks.stop();
      tpp.close();
    },
  };
}

async function startBanks(site: Site, isCertified: boolean): Promise<Banks> {
  const { addresses: { baseUrl, authUrl, banksUrl }, files, clock } = site;
  await Promise.all(BANK_CODES.map((code) => makeOwnFile(files.bankBook(code))));
  const folders = ["bank-a", "bank-b"].map((name) => participantFiles(files, name).folder);
  return await composeBanks({
    banks: await Promise.all(folders.map((folder) => loadBank(folder))),
    banksUrl,
    baseUrl,
    authUrl,
    caPem: await Deno.readTextFile(files.caCertificate),
    clock: clock.now,
    letTimePass: async (milliseconds) => void await clock.advance(milliseconds),
    log: (event, fields = {}) => tell(site, `bank.${event}`, fields),
    bookPath: files.bankBook,
    pullEveryMs: PULL_EVERY_MS,
    isCertified,
  });
}

function tell({ log, clock }: Site, event: string, fields: Readonly<Record<string, unknown>>): void {
  log.write(JSON.stringify({ at: new Date(clock.now()).toISOString(), event, ...fields }));
}
