/** The browser host: customers, metadata, health and documentation. */
import { browserHeaders } from "../../base/http/host_middleware.ts";
import { asClientId } from "../../base/kernel/identifiers.ts";
import { openBrowserBinding } from "../core/frontchannel/browser_binding.ts";
import { openDecryptionLimit } from "../core/frontchannel/decryption_limit.ts";
import { frontchannelRoutes } from "../core/frontchannel/routes.ts";
import { backTo } from "../core/frontchannel/tpp_redirect.ts";
import { discoveryRoutes } from "../core/oauth/discovery_routes.ts";
import { receiptPageRoutes } from "../core/receipts/page_routes.ts";
import { ownSignerOf } from "../evidence/evidence_store.ts";
import type { FindTpp } from "../guards/http/error_routes.ts";
import { bankRoutes } from "../operations/health/bank_routes.ts";
import { serviceLevelRoutes } from "../operations/reports/service_level_routes.ts";
import { traced } from "./api_host.ts";
import { type Host, hostMiddleware, isForMachines, openHost } from "./host.ts";
import { type PublicPageDeps, publicPageRoutes } from "./public_pages.ts";
import type { SharedParts } from "./shared_parts.ts";

/** What the pages of this host show of the process and its other hosts. */
export type OpenPages = Pick<PublicPageDeps, "readiness" | "isServing" | "openApi" | "docs">;

export function browserHost(shared: SharedParts, pages: OpenPages): Host {
  const { admission, clock, config, delivery, findAnyBank: findBank, ownKeyRing } = shared;
  const deps = {
    ...config,
    ...shared,
    ...pages,
    findTpp: tppFinder(shared),
    ownSigner: () => ownSignerOf(ownKeyRing),
    decrypters: ownKeyRing.decrypters,
    takeDecryption: openDecryptionLimit(clock),
    binding: openBrowserBinding(config.authUrl.startsWith("https:")),
    isBankFailing: delivery.circuit.isOpen,
  };
  const endpoints = [
    ...publicPageRoutes(deps),
    ...receiptPageRoutes({ ...deps, keys: ownKeyRing }),
    ...serviceLevelRoutes(deps),
    ...bankRoutes(deps),
    ...discoveryRoutes({ ...deps, keys: ownKeyRing, findBank }),
    ...frontchannelRoutes(deps),
  ];
  const around = hostMiddleware(shared, browserHeaders, { admission }, traced(shared));
  return openHost({ ...deps, around }, endpoints, (path) => isForMachines(path) ? "oauth" : "browser");
}

/** Links lead only to active TPPs, because anyone can make up this address. */
function tppFinder({ clients, standingOf, store }: SharedParts): FindTpp {
  return async (text) => {
    const id = asClientId(text);
    const client = id === undefined ? null : await clients.find(store, id);
    const standing = client === null ? undefined : await standingOf(client).catch(() => undefined);
    return standing === "active" ? backTo(client).tpp : undefined;
  };
}
