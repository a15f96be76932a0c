/** Starts the banks and the shop from their files and the addresses of all parts. */
import { z } from "zod";
import { type Banks, composeBanks, type ConnectionInfo } from "../bank/bank_app.ts";
import { loadBank } from "../bank/load_bank.ts";
import { BANK_CODES, makeOwnFile, participantFiles, readIfAny } from "./sandbox_files.ts";
import type { Site } from "./site.ts";
import { composeDeveloperPages } from "../developer/app.ts";
import type { TppSource } from "../developer/signers.ts";
import { composeShop } from "../shop/app.ts";
import { openTpp, type Tpp } from "../../client/tpp/tpp.ts";
import type { Endpoints } from "../../client/party/connection.ts";
import { register } from "../../client/party/register_client.ts";
import { onboard, participantKeys } from "./onboarding.ts";
import type { ParticipantPlan } from "./participants_plan.ts";

/** The running external parties. */
interface ExternalParties {
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

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const description = z.object({ role: z.string(), redirect_uris: z.array(z.string()).min(1) });

/**
 * The TPPs of a sandbox that its developer pages sign for: the shop, and those whose folders are beside the shop's, as
 * `deno task participant onboard` or the pages themselves write them.
 */
function ownTpps(site: Site, shop: Tpp, endpoints: Endpoints): TppSource {
  const { files, addresses: { shopUrl, registrationAudience: audience }, clock } = site;
  const callback = `${shopUrl}/callback`;
  const redirectsOf = async (name: string): Promise<readonly string[]> => {
    const text = await readIfAny(participantFiles(files, name).description);
    const { success, data } = description.safeParse(JSON.parse(text ?? "null"));
    return success && data.role === "PISP" ? data.redirect_uris : [];
  };
  const making = new Map<string, Promise<void>>();
  return {
    async names() {
      const own: string[] = [];
      for await (const { name } of Deno.readDir(files.participants)) {
        if (name !== "shop" && NAME.test(name) && (await redirectsOf(name)).length > 0) own.push(name);
      }
      return ["shop", ...own.toSorted()];
    },
    async open(name) {
      if (name === "shop") return shop;
      const redirects = await redirectsOf(name);
      const redirectUri = redirects.find((one) => one === callback) ?? redirects[0] ?? "";
      const tpp = await openTpp({ dir: files.directory, name, endpoints, redirectUri, now: clock.now });
      // It is registered already, or it is not: then the first request is rejected, and its trace says why.
      await register({ ...tpp, audience }, tpp.participant, "PISP").catch(() => {});
      return tpp;
    },
    async make(name) {
      if (!NAME.test(name)) {
        throw new Error("The name is not one. Expected up to 31 small letters, digits and hyphens.");
      }
      if (await readIfAny(participantFiles(files, name).description) !== undefined) {
        throw new Error(`There is a participant named ${name} already. Choose it, or take another name.`);
      }
      const made = making.get(name) ?? onboardNew(site, name); // a double click makes one
      making.set(name, made);
      await made.finally(() => making.delete(name));
    },
  };
}

async function onboardNew({ files, secrets, addresses }: Site, name: string): Promise<void> {
  const { directoryUrl, shopUrl } = addresses;
  const plan = planOf(name, shopUrl);
  const keys = await participantKeys(files, plan);
  await onboard({ directoryUrl, adminToken: secrets.directoryAdminToken }, files, plan, keys);
}

function planOf(name: string, shopUrl: string): ParticipantPlan {
  return {
    name,
    orgName: `Company ${name}`,
    registrationNumber: `SANDBOX-${name}`,
    role: "PISP",
    description: "A TPP of the sandbox's developer",
    homeUrl: shopUrl,
    logoUrl: `${shopUrl}/assets/shop.svg`,
    redirectUris: [`${shopUrl}/callback`, "http://localhost:9000/callback"],
    keys: ["signing", "transport"],
  };
}
