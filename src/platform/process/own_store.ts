/** Opens the platform's store with the data key store beside it. */
import type { Config } from "../config/config.ts";
import { monotonicClock } from "../../base/kernel/clock.ts";
import type { CaseKeys } from "../evidence/data_keys/case_keys.ts";
import { openSealed, rejectSealedStore } from "../evidence/data_keys/sealed_store.ts";
import type { WrappingKeys } from "../evidence/data_keys/wrapping_keys.ts";
import { isKept } from "./measured_parts.ts";
import type { Store } from "../../base/store/store.ts";
import type { Owner } from "../../base/store/store_identity.ts";

/** The platform's store, and the data keys of what it seals. */
export interface OwnStore {
  readonly store: Store;
  readonly caseKeys: CaseKeys | undefined;
  /** Of the database below what seals. */
  readonly waitsForStandby: Store["waitsForStandby"];
}

/** Opens the store and the data key store. @throws {Error} in one sentence */
export async function openOwnStore(
  { config, wrapping }: OwnStoreSettings,
  openStore: OpenStore,
): Promise<OwnStore> {
  const { storeUrl, authUrl: issuer, dataKeysStore } = config;
  const store = await openStore(storeUrl, { program: "platform", issuer }, isKept);
  const { waitsForStandby } = store;
  const opened: Store[] = [store];
  try {
    if (wrapping === undefined) {
      await rejectSealedStore(store);
      return { store, caseKeys: undefined, waitsForStandby };
    }
    const vault = await openStore(dataKeysStore, { program: "data-keys", issuer });
    opened.push(vault);
    const sealed = await openSealed({ store, vault, wrapping, monotonic: monotonicClock });
    return { ...sealed, waitsForStandby };
  } catch (error) {
    for (const each of opened) await each.close();
    throw error;
  }
}

/** Opens the store that a URL names. @throws {Error} in one sentence that names the fault and the next step */
export type OpenStore = (url: string, owner: Owner, keeps?: typeof isKept) => Promise<Store>;

export interface OwnStoreSettings {
  readonly config: Config;
  /** Undefined if personal data is not sealed, in the sandbox. */
  readonly wrapping: WrappingKeys | undefined;
}
