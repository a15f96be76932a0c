/** The banks and TPPs of a seeded store. */
import type { EmptyEnvironment } from "../../testing/environment.ts";
import { makePrivateJwk, POOL_SIZE } from "../../testing/generate_keys.ts";
import { asTestKey, type TestKey, testKey } from "../../testing/keys.ts";
import { onboard, type Participant } from "../../testing/participants.ts";

const BANKS = [
  ["ALPIN", "Alpine Savings Bank"],
  ["BALTC", "Baltic Commercial Bank AB"],
  ["CASTL", "Castle & Moor Building Society"],
  ["DANUB", "Danube Kreditbank AG"],
  ["EMERL", "Emerald Isle Credit Union"],
  ["FJORD", "Fjord Sparebank"],
  ["GALIC", "Banco de Galicia y Bolívar, S.A."],
  ["HELVT", "Helvetia Kantonalbank"],
  ["IBERC", "Ibérica Caja Rural"],
  ["JUTLN", "Jutland Andelskasse"],
  ["KOROS", "Körös-Maros Takarékbank Zrt."],
  ["LOIRE", "Crédit Coopératif de la Loire"],
] as const;

const TRADES = ["Books", "Bikes", "Travel", "Energy", "Groceries", "Tickets", "Wallet", "Insurance"] as const;
const HOUSES = ["Northwind", "Bluebird", "Österlund & Söhne", "La Moderna", "Fairweather"] as const;

/** Banks that are pushed to; the others fetch their orders. */
const PUSHED_TO = 8;
/** The key of the pool with which all tokens are bound. */
const DPOP_KEY = 9;

export interface Parties {
  readonly banks: readonly Participant[];
  readonly tpps: readonly Participant[];
}

/** Whether the bank is pushed to. */
export function isPushedTo({ banks }: Parties, bank: Participant): boolean {
  return banks.indexOf(bank) < PUSHED_TO;
}

/** Onboards so many. Every third bank has the consent screen itself. */
export async function onboardParties(
  env: EmptyEnvironment,
  count: { readonly banks: number; readonly tpps: number },
): Promise<Parties> {
  let made = 0;
  const newKeys = async (): Promise<[TestKey, TestKey]> => [await newKey(made++), await newKey(made++)];
  const banks: Participant[] = [];
  for (const [at, [orgId, name]] of BANKS.slice(0, count.banks).entries()) {
    const host = `https://${orgId.toLowerCase()}.example`;
    banks.push(
      await onboard(env, {
        name,
        orgId,
        role: "ASPSP",
        keys: await newKeys(),
        redirectUris: [`${host}/sca`],
        consentManagedByBank: at % 3 === 2,
        ...(at < PUSHED_TO ? { paymentOrdersUri: `${host}/payment-orders` } : {}),
      }),
    );
  }
  const names = HOUSES.flatMap((house) => TRADES.map((trade) => `${house} ${trade}`));
  const tpps: Participant[] = [];
  for (const name of names.slice(0, count.tpps)) {
    const host = `https://${name.normalize("NFD").toLowerCase().replaceAll(/[^a-z]+/g, "")}.example`;
    tpps.push(
      await onboard(env, { name, role: "PISP", keys: await newKeys(), redirectUris: [`${host}/callback`] }),
    );
  }
  return { banks, tpps };
}

/** A key that no other party has: of the pool while it lasts, because a new one takes 230 ms. */
async function newKey(index: number): Promise<TestKey> {
  const number = index < DPOP_KEY ? index : index + 1;
  return number < POOL_SIZE ? await testKey(number) : asTestKey(await makePrivateJwk(2048));
}

/** On a busy computer the platform rejects what takes longer than `ATTEMPT_WITHIN_MS`, with 503 and without a write. */
export const MOST_TRIES = 5;

/**
 * The browser sends a request again, as its person does after the page "not available".
 */
async function persistently(env: EmptyEnvironment, request: Request): Promise<Response> {
  for (let tries = 1;; tries++) {
    const answer = await env.browser(request.clone());
    const seconds = Number(answer.headers.get("retry-after"));
    if (answer.status !== 503 || seconds === 0 || tries === MOST_TRIES) return answer;
    await answer.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

type Seen = EmptyEnvironment & {
  readonly tpp: Participant;
  readonly bankA: Participant;
  readonly bankB: Participant;
};

/**
 * The environment with a TPP and a bank as its parties.
 *
 * @param before runs before each of their requests
 */
export function seenBy(
  env: EmptyEnvironment,
  { tpp, bank }: { readonly tpp: Participant; readonly bank: Participant },
  before: () => void = () => {},
): Seen {
  const own = {
    tpp,
    bankA: bank,
    bankB: bank,
    api: (request: Request, as?: Participant): Promise<Response> => (before(), env.api(request, as)),
    browser: (request: Request): Promise<Response> => (before(), persistently(env, request)),
  };
  return new Proxy(env, { get: (target, name) => Reflect.get(name in own ? own : target, name) }) as Seen;
}
