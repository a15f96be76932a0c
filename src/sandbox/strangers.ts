/** The banks and the shop, started from nothing but their files and everybody's addresses. */
import type { Addresses } from "./addresses.ts";
import { composeBanks, type ConnectionInfo } from "./bank/bank_app.ts";
import { loadBank } from "./bank/load_bank.ts";
import { participantFiles, type SandboxFiles } from "./sandbox_files.ts";
import { composeShop } from "./tpp/shop_app.ts";
import { openTpp } from "./tpp/tpp.ts";

/** The running strangers. */
export interface Strangers {
  banks(request: Request, info: ConnectionInfo): Promise<Response>;
  shop(request: Request): Promise<Response>;
  stop(): void;
}

/**
 * Loads everybody's credentials; nothing is sent yet.
 * @param log one line for the operator, without secrets
 */
export async function startStrangers(
  addresses: Addresses,
  files: SandboxFiles,
  log: (line: string) => void,
): Promise<Strangers> {
  const { baseUrl, authUrl, directoryUrl, banksUrl, shopUrl } = addresses;
  const banks = composeBanks({
    banks: await Promise.all(
      ["bank-a", "bank-b"].map((name) => loadBank(participantFiles(files, name).folder)),
    ),
    banksUrl,
    baseUrl,
    authUrl,
    caPem: await Deno.readTextFile(files.caCertificate),
    clock: Date.now,
    log: (event, fields = {}) =>
      log(JSON.stringify({ at: new Date().toISOString(), event: `bank.${event}`, ...fields })),
  });
  const tpp = await openTpp({
    dir: files.directory,
    name: "shop",
    endpoints: { base_url: baseUrl, auth_url: authUrl, directory_url: directoryUrl },
    redirectUri: `${shopUrl}/callback`,
  });
  const shop = composeShop({
    tpp,
    shopUrl,
    authUrl,
    banksUrl,
    log: (line) => log(JSON.stringify({ at: new Date().toISOString(), event: "shop", line })),
  });
  return {
    banks: banks.fetch,
    shop: shop.fetch,
    stop(): void {
      banks.stop();
      tpp.close();
    },
  };
}
