/** The stores of a seeded platform, in files or in memory, and the ecosystem on them. */
import { openDenoKv } from "../../../src/base/store/deno_kv.ts";
import type { Store, Write } from "../../../src/base/store/store.ts";
import { isKept } from "../../../src/platform/process/measured_parts.ts";
import { type EmptyEnvironment, openEmptyEnvironment } from "../../testing/environment.ts";
import { testPeople } from "../../testing/participants_people.ts";

/** Real time for which a seed keeps what has expired on its own clock. */
const GRACE_MS = 600_000;

/** Names and support of an operator, as payers see them. */
const ENVIRONMENT = {
  PLATFORM_OPERATOR_NAME: "Example Payments",
  PLATFORM_SUPPORT_CONTACT: "support@payments.example",
};

/**
 * Opens the ecosystem.
 *
 * @param folder of the files; undefined for stores in memory
 */
export async function openSeeded(folder: string | undefined, start: number): Promise<EmptyEnvironment> {
  const at = (name: string): string => folder === undefined ? ":memory:" : `${folder}/${name}.kv`;
  const [store, directory, vault] = [
    lasting(await openDenoKv(at("platform"), { keeps: isKept })),
    await openDenoKv(at("directory")),
    await openDenoKv(at("data_keys")),
  ];
  return await openEmptyEnvironment({
    environment: ENVIRONMENT,
    operators: await testPeople(),
    store,
    otherStores: { directory, vault },
    start,
    identity: { name: "seeded" },
  });
}

/** Deno KV deletes by the computer's clock what has expired, so a seed of an earlier day keeps its entries for a while. */
function lasting(store: Store): Store {
  const kept = (write: Write): Write =>
    write.kind === "set" && write.expiresAt !== undefined
      ? { ...write, expiresAt: Math.max(write.expiresAt, Date.now() + GRACE_MS) as typeof write.expiresAt }
      : write;
  return { ...store, commit: (commit) => store.commit({ ...commit, writes: commit.writes.map(kept) }) };
}
