/** The database that every run begins with: the platform has started once and every participant has registered. */
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { composePlatform } from "../../../src/platform/process/compose.ts";
import { seeded } from "../prove/random.ts";
import { directStore, openDatabase, type Snapshot } from "./database.ts";
import { directoryAnswer } from "./directory.ts";
import { useRuntime } from "./globals.ts";
import { API, CONFIG, PARTIES, PROXY_SECRET, registrationOf, START } from "./parties.ts";
import { openScheduler } from "./scheduler.ts";

/** Registers everybody; the globals must be installed. */
export async function prepareBase(): Promise<Snapshot> {
  useRuntime({
    scheduler: openScheduler(START),
    random: seeded(0, "base"),
    nextPass: () => () => {},
    uncaught: (reason) => {
      throw reason;
    },
  });
  const database = openDatabase();
  const clock = (): number => START;
  const fetchDirectory = (input: string | URL | Request): Promise<Response> => {
    const { status, body, headers } = directoryAnswer(new URL(String(input)).pathname, START, null);
    return Promise.resolve(new Response(body, { status, headers: headers ?? {} }));
  };
  const { api } = await composePlatform({
    config: CONFIG,
    store: directStore(database),
    clock,
    monotonic: clock,
    fetch: fetchDirectory as typeof fetch,
    log: () => {},
    keys: await openKeyRing(CONFIG.keys, clock),
  });
  for (const who of PARTIES) {
    const response = await api.fetch(
      new Request(`${API}/register/v1`, {
        method: "POST",
        body: registrationOf(who, START),
        headers: {
          "content-type": "application/jose",
          "x-proxy-secret": PROXY_SECRET,
          "client-cert": `:${who.transport.certificate}:`,
        },
      }),
    );
    if (response.status !== 201) {
      throw new Error(`registration of ${who.name}: ${response.status} ${await response.text()}`);
    }
  }
  return database.snapshot();
}
