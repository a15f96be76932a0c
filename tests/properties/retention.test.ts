/**
 * Retention against a slow oracle: random lives of cases, random erasures, restores and times, with the platform's own
 * background work on its own store. After each step every case has what the oracle says, no more and no less.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type ConsentId, paymentIdOf } from "../../src/base/kernel/identifiers.ts";
import { transact, type Transaction } from "../../src/base/store/transaction.ts";
import {
  type Consent,
  moveConsent,
  openConsent,
  rejectConsent,
} from "../../src/platform/core/consents/consent.ts";
import { openConsentStore } from "../../src/platform/core/consents/consent_store.ts";
import { openPaymentStore } from "../../src/platform/core/payments/payment_store.ts";
import { PRESENT } from "../../src/platform/evidence/personal_data.ts";
import { storedPiecesOf } from "../../src/platform/evidence/read_case.ts";
import type { Environment } from "testing/environment.ts";
import { type Copy, copyOf, endHolds, restore } from "support/restored_store.ts";
import { erase } from "support/personal_case.ts";
import { elapse, grow, openRetaining } from "support/retention.ts";
import {
  allowed,
  allowedAnswers,
  DAY,
  type Extent,
  HOUR,
  LIMITS,
  type ModelCase,
} from "support/retention_oracle.ts";

const DAYS = {
  PLATFORM_KEEP_UNAUTHORISED_DAYS: `${LIMITS.unauthorised}`,
  PLATFORM_KEEP_CASES_DAYS: `${LIMITS.keep}`,
  PLATFORM_ERASE_CASES_DAYS: `${LIMITS.erase}`,
  PLATFORM_DELETE_HISTORIES_DAYS: `${LIMITS.delete}`,
};
/** Every run of the gate is the same. `TEST_ALL=1` runs more, with another seed each time, which fast-check prints. */
const RUNS = Deno.env.get("TEST_ALL") === "1"
  ? { numRuns: 150 }
  : { numRuns: 6, seed: 20_400_115, endOnFailure: true };
const WITHIN = { authorise: DAY, use: HOUR } as const;

type Step = "authorise" | "reject" | "pay" | "settle" | "fail";

/** How far a case gets before anything else happens. */
const LIVES: readonly (readonly Step[])[] = [
  [],
  ["reject"],
  ["authorise"],
  ["authorise", "pay"],
  ["authorise", "pay", "settle"],
  ["authorise", "pay", "fail"],
];

type Command =
  | { readonly do: "create"; readonly isSent: boolean; readonly steps: readonly Step[] }
  | { readonly do: Step | "erase"; readonly of: number }
  | { readonly do: "forward"; readonly hours: number }
  | { readonly do: "copy" }
  | { readonly do: "restore" };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      isSent: fc.boolean(),
      steps: fc.constantFrom(...LIVES),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom<(Step | "erase")[]>(
        "authorise",
        "pay",
        "settle",
        "reject",
        "fail",
        "erase",
        "erase",
        "erase",
      ),
      of: fc.nat(5), // one of the newest
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("forward" as const),
      hours: fc.oneof(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 5 }).map((days) => days * 24),
      ),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom<Command[]>({ do: "copy" as const }, { do: "restore" as const }) },
);

/** An hour before and an hour after each limit (1, 3, 10 and 16 days), of a case that meets it. */
const BORDERS: readonly Command[] = [
  { do: "create", isSent: false, steps: ["reject"] },
  { do: "create", isSent: true, steps: ["reject"] },
  { do: "create", isSent: true, steps: ["authorise", "pay", "settle"] },
  ...[23, 2, 46, 2, 166, 2, 142, 2].map((hours): Command => ({ do: "forward", hours })),
];

/** A case of the platform with its model. */
interface Case {
  readonly id: ConsentId;
  model: ModelCase;
  deadline: number;
}

class Life {
  cases: Case[] = [];
  #copy: { readonly stored: Copy; readonly cases: Case[] } | undefined;
  constructor(readonly env: Environment, readonly seen: Set<string>) {}

  async run(given: Command): Promise<void> {
    const { env } = this;
    env.now += 60_000;
    if (given.do === "create") await this.#create(given);
    else if (given.do === "forward") await this.#forward(given.hours);
    else if (given.do === "copy") {
      this.#copy = { stored: await copyOf(env), cases: structuredClone(this.cases) };
    } else if (given.do === "restore") await this.#restore();
    else await this.#act(given);
    await grow(env);
    await this.#compare(JSON.stringify(given));
  }

  async #act({ do: step, of }: Extract<Command, { readonly of: number }>): Promise<void> {
    const one = this.cases.at(-1 - of);
    if (one === undefined) return;
    if (step === "erase") await this.#erase(one);
    else await this.#move(one, step);
  }

  async #commit(stage: (tx: Transaction, stores: Stores) => Promise<void> | void): Promise<void> {
    const { store } = this.env;
    const deps = { store, clock: () => this.env.now };
    await transact(deps, { what: "step" }, async (tx) => await stage(tx, storesOf(this.env)));
  }

  async #create({ isSent, steps }: Extract<Command, { readonly do: "create" }>): Promise<void> {
    const { env } = this;
    const id = await env.caseKeys.newConsentId();
    const opened = openConsent(
      { id, clientId: env.tpp.clientId, bank: "BANKA", request: REQUEST } as never,
      env.now,
    );
    const consent: Consent = { ...opened, ...(isSent ? { sentToBank: true } : {}) };
    const made = { actor: "tpp", reason: "made", evidence: [EVIDENCE("consent_request")] };
    await this.#commit((tx, { consents }) => consents.stageCreation(tx, consent, made));
    const model: ModelCase = {
      status: "awaiting",
      wasAuthorised: false,
      wasSentToBank: isSent,
      newest: env.now,
      logged: env.now,
      extent: "whole",
    };
    const one = { id, model, deadline: env.now + WITHIN.authorise };
    this.cases.push(one);
    for (const step of steps) await this.#move(one, step);
  }

  async #move(one: Case, step: Step): Promise<void> {
    const { env } = this;
    const { model, id } = one;
    const from = {
      authorise: "awaiting",
      reject: "awaiting",
      pay: "authorised",
      settle: "paying",
      fail: "paying",
    }[step];
    if (model.status !== from || env.now >= one.deadline) return;
    const cause = { actor: "bank", reason: step, evidence: [EVIDENCE("decision")] };
    const paymentId = await paymentIdOf(id);
    await this.#commit(async (tx, { consents, payments }) => {
      const consent = await consents.find(tx, id);
      if (consent === null) throw new Error("no consent");
      if (step === "settle" || step === "fail") {
        const payment = await payments.find(tx, paymentId);
        if (payment === null) throw new Error("no payment");
        const status = step === "settle" ? "AcceptedSettlementCompleted" : "Rejected";
        return payments.stageChange(
          tx,
          payment,
          { ...payment.value, status, statusUpdatedAt: env.now },
          cause,
          env.now,
        );
      }
      const move = ({ authorise: "authorise", reject: "reject", pay: "consume" } as const)[step];
      const changed = move === "reject"
        ? rejectConsent(consent.value, "CUST", env.now)
        : moveConsent(consent.value, move, env.now);
      const consumed = consents.stageChange(tx, consent, changed, cause, env.now);
      if (step === "pay") {
        payments.stageCreation(tx, paymentOf(consent.value, paymentId, env.now), cause, { consumed });
      }
    });
    const status =
      ({ authorise: "authorised", reject: "rejected", pay: "paying", settle: "paid", fail: "paid" } as const)[
        step
      ];
    Object.assign(model, {
      status,
      newest: env.now,
      logged: env.now,
      wasAuthorised: model.wasAuthorised || step === "authorise",
    });
    one.deadline = step === "authorise" ? env.now + WITHIN.use : Infinity;
  }

  async #erase(one: Case): Promise<void> {
    this.#expire();
    await this.env.platform.sweepConsents();
    const expected = allowedAnswers(one.model, this.env.now);
    const { status } = await erase(this.env, one.id);
    assert(
      expected.includes(status),
      `an erasure is answered ${status} and not ${expected} for ${shown(one, this.env.now)}`,
    );
    this.seen.add(`erasure: ${status}`);
    if (status === 200) one.model.extent = "without person";
  }

  /** Time passes in hours, with the background work of each, as it does at a platform that runs. */
  async #forward(hours: number): Promise<void> {
    for (let passed = 0; passed < hours;) {
      const step = Math.min(hours - passed, 12);
      await elapse(this.env, step * HOUR);
      passed += step;
      await this.#work();
    }
  }

  async #work(): Promise<void> {
    const { platform } = this.env;
    this.#expire();
    await platform.sweepConsents();
    await grow(this.env);
    while (await platform.eraseConsents() > 0);
    await platform.retireCases();
    while (await platform.finishErasures() > 0);
    while (await platform.finishDeletions() > 0);
  }

  /** A passed deadline rejects at its own time; the log has it from now on. */
  #expire(): void {
    const { now } = this.env;
    for (const one of this.cases.filter(({ deadline }) => deadline <= now)) {
      Object.assign(one.model, { status: "rejected", newest: one.deadline, logged: now });
      one.deadline = Infinity;
    }
  }

  /** The copy takes the database's place. The data key store stays. Authorised consents are rejected (Decision G9). */
  async #restore(): Promise<void> {
    if (this.#copy === undefined) return;
    const { env } = this;
    const erased = new Set(this.cases.filter(({ model }) => model.extent !== "whole").map(({ id }) => id));
    await restore(env, this.#copy.stored);
    await endHolds(env);
    this.cases = structuredClone(this.#copy.cases);
    for (const one of this.cases) {
      if (one.model.status === "authorised" && one.deadline > env.now) {
        Object.assign(one.model, { status: "rejected", newest: env.now, logged: env.now });
        one.deadline = Infinity;
      }
      if (!erased.has(one.id) || one.model.extent !== "whole") continue;
      this.seen.add("a case erased since the copy");
      one.model.extent = "without person"; // its data key is gone
    }
    this.#copy = undefined;
    this.seen.add("restore");
    for (let days = 0; days < 60; days++) await elapse(env, 0);
  }

  async #compare(after: string): Promise<void> {
    const { now } = this.env;
    for (const one of this.cases) {
      const found = await extentOf(this.env, one.id);
      const expected = after.includes("forward") ? allowed(one.model, now) : [one.model.extent];
      assert(
        expected.includes(found),
        `after ${after} a case is ${found} and not ${expected.join(" or ")}: ${shown(one, now)}`,
      );
      if (one.model.extent !== found) {
        this.seen.add(`${one.model.status}: ${one.model.extent}, then ${found}`);
      }
      one.model.extent = found;
    }
  }
}

interface Stores {
  readonly consents: ReturnType<typeof openConsentStore>;
  readonly payments: ReturnType<typeof openPaymentStore>;
}

function storesOf({ store }: Environment): Stores {
  return {
    consents: openConsentStore(store, LIMITS.unauthorised * DAY, () => {}, () => {}),
    payments: openPaymentStore(store, () => {}, () => {}),
  };
}

const REQUEST = {
  initiation: {
    instructedAmount: { amount: "10.00", currency: "EUR" },
    creditorAccount: { schemeName: "UK.OBIE.IBAN", identification: "GB29NWBK60161331926819", name: "Ada" },
  },
  risk: {},
};
const EVIDENCE = (kind: "consent_request" | "decision") => ({
  kind,
  bytes: new TextEncoder().encode(`{"of":"Ada"}`),
});

function paymentOf({ id: consentId, clientId, bank, request }: Consent, id: string, now: number) {
  return {
    id,
    consentId,
    clientId,
    bank,
    initiation: request.initiation,
    debtorAccount: { schemeName: "UK.OBIE.IBAN", identification: "GB33BUKB20201555555555" },
    readRefundAccount: false,
    status: "AcceptedSettlementInProcess",
    charges: [],
    createdAt: now,
    statusUpdatedAt: now,
    personalData: PRESENT,
  } as never;
}

/** What the store has of a case: not only what its records say. */
async function extentOf(env: Environment, id: ConsentId): Promise<Extent> {
  const { consents, payments } = storesOf(env);
  const paymentId = await paymentIdOf(id);
  const [consent, payment] = await Promise.all([
    consents.find(env.store, id),
    payments.find(env.store, paymentId),
  ]);
  const history = await env.raw.list({ prefix: ["audit", id], limit: 1 });
  const places = [...await storedPiecesOf(env.store, id), ...await storedPiecesOf(env.store, paymentId)];
  if (consent === null) {
    assert(payment === null && history.length === 0 && places.length === 0, `${id} is deleted in part`);
    return "gone";
  }
  assert(history.length > 0, `${id} has no history`);
  const states = [consent, payment].flatMap((entry) => entry?.value.personalData.state ?? []);
  if (states.every((state) => state === "present")) {
    assert(places.length > 0, `${id} has lost its evidence`);
    return "whole";
  }
  assert(states.every((state) => state === "erased"), `${id} is erased in part`);
  return "without person";
}

function shown({ id, model }: Case, now: number): string {
  const days = (at: number): string => ((now - at) / DAY).toFixed(2);
  return `${id} ${JSON.stringify(model)}, newest ${days(model.newest)} and logged ${
    days(model.logged)
  } days ago`;
}

const SEEN = [
  "a case erased since the copy",
  ...[200, 409].map((status) => `erasure: ${status}`),
  ...["paid", "rejected"].flatMap((end) => [
    `${end}: whole, then without person`,
    `${end}: without person, then gone`,
  ]),
  "restore",
];

Deno.test("retention erases and deletes each case when the oracle says, in random lives [EN10, EN11, EN13, EN14, EN15]", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 30, maxLength: 50, size: "max" }), async (commands) => {
      await using env = await openRetaining(undefined, DAYS);
      const life = new Life(env, seen);
      await elapse(env, HOUR);
      for (const one of commands) await life.run(one);
    }),
    { ...RUNS, examples: [[[...BORDERS]]] },
  );
  assertEquals([...seen].toSorted(), SEEN, "what the lives are there for has happened");
});
