/** The prover's checks of case files and of the log find an entry, a piece of evidence or a place that is gone. */
import { operationsTools } from "support/operations_tools.ts";
import { assert, assertEquals } from "@std/assert";
import { judgeCases } from "../../../../scripts/proofs/prove/case_checks.ts";
import { type CaseId, type CaseSeen, readCases } from "../../../../scripts/proofs/prove/case_files.ts";
import type { PaymentSeen } from "../../../../scripts/proofs/prove/bank_records.ts";
import { openLogWitness } from "../../../../scripts/proofs/prove/log_witness.ts";
import type { OperationsApi } from "../../../../scripts/proofs/prove/system.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { putStatus } from "testing/back_channel.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { openPushEnvironment } from "support/orders.ts";
import { grow } from "support/retention.ts";

type Books = Parameters<typeof judgeCases>[0];
type Settled = Required<CaseId>;

const SETTLED = "AcceptedSettlementCompleted";

function operationsOf(env: Environment): OperationsApi {
  return { url: OPERATIONS_URL, tools: operationsTools(env) };
}

async function settledPayment(env: Environment): Promise<Settled> {
  const flow = await authorised(env);
  const { Data } = await good(pay(env, flow), 201);
  await good(putStatus(env, flow.bank, Data.DomesticPaymentId, SETTLED), 200);
  await grow(env);
  return { consentId: flow.consentId, paymentId: Data.DomesticPaymentId };
}

/** The answers about one payment that the TPP and the bank have. */
function booksOf({ consentId, paymentId }: Settled, Status = SETTLED): Books {
  const Initiation = { InstructedAmount: { Amount: "10.00", Currency: "EUR" } };
  const order: PaymentSeen = { DomesticPaymentId: paymentId, ConsentId: consentId, Status, Initiation };
  const bank = "BANKA";
  return {
    consents: [{ consentId, repeatedId: consentId, bank, amount: "10.00", fault: undefined, posts: [] }],
    banks: { [bank]: { orders: [order], executed: [], balances: {} } },
    tpp: {
      [bank]: { payments: new Map([[paymentId, order]]), consents: new Map([[consentId, "Consumed"]]) },
    },
  };
}

function violations(books: Books, cases: readonly CaseSeen[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(judgeCases(books, cases, []).map(({ name, violations }) => [name, violations]));
}

const VERIFIES = "every case file verifies";
const COMPLETE = "every case file is complete";
const CONTAINS = "the log contains all that was signed before";

interface Stored {
  readonly sequence?: number;
  readonly event?: string;
  readonly items?: readonly { readonly kind: string }[];
}

/** Entries that have evidence of a kind in their rows. They lose it, and stay. */
const evidenceOf =
  (kind: string) => () => ([name]: readonly string[], { items: [first] = [] }: Stored): boolean =>
    name === "audit" && first?.kind === kind;

/** Deletes what a bundle is made of, and the violation that the checks must find. */
const DELETED: Readonly<
  Record<
    string,
    readonly [
      (id: Settled) => (
        key: readonly string[],
        value: Stored,
      ) => boolean,
      string,
      RegExp,
    ]
  >
> = {
  "the payment's first entry": [
    ({ paymentId }) => ([name, subject], { sequence }) =>
      name === "audit" && subject === paymentId && sequence === 1,
    VERIFIES,
    /: entries of \S+ are missing before 2$/,
  ],
  "the payment's last entry": [
    ({ paymentId }) => ([name, subject], { event }) =>
      name === "audit" && subject === paymentId && event === `payment.${SETTLED}`,
    COMPLETE,
    /^case of consent \S+ has no entry payment\.AcceptedSettlementCompleted$/,
  ],
  "the bank's report": [
    evidenceOf("status_report"),
    COMPLETE,
    /^case of consent \S+ does not show why it is payment\.AcceptedSettlementCompleted$/,
  ],
  "the order": [
    evidenceOf("order"),
    COMPLETE,
    /^case of consent \S+ does not show why it is payment\.AcceptedSettlementInProcess$/,
  ],
  "the result of the authentication": [
    evidenceOf("sca_result"),
    COMPLETE,
    /^case of consent \S+ has no sca_result$/,
  ],
  "the places in the log": [
    () => ([name]) => name === "log_range",
    VERIFIES,
    /: entry \d of \S+ \(\S+\) is not in the signed log$/,
  ],
  "all entries": [
    () => ([name]) => name === "audit",
    VERIFIES,
    /^case \S+ has no bundle: the platform answered 404$/,
  ],
};

Deno.test("the prover reads a complete case file, and names what a store has lost of it [EV9, EV12, EN1]", async (t) => {
  await using env = await openPushEnvironment();
  const id = await settledPayment(env);
  const books = booksOf(id);
  const read = (): Promise<readonly CaseSeen[]> => readCases([operationsOf(env)], [id]);
  await t.step("nothing is lost", async () => {
    assertEquals(violations(books, await read()), { [VERIFIES]: [], [COMPLETE]: [], [CONTAINS]: [] });
  });
  await t.step("a status that was told and has no entry", async () => {
    const found = violations(booksOf(id, "AcceptedWithoutPosting"), await read())[COMPLETE];
    assertEquals(found, [`case of consent ${id.consentId} has no entry payment.AcceptedWithoutPosting`]);
  });
  await t.step("a case that was not read", () => {
    assert(
      violations(books, [])[COMPLETE]?.includes(`case of consent ${id.consentId} has no consent_request`),
    );
  });
  await t.step("the bundle of another case", async () => {
    const other = { ...id, consentId: crypto.randomUUID() };
    const [seen] = await readCases([operationsOf(env)], [other]);
    assertEquals(seen?.faults, [`case ${id.paymentId}: the bundle is of ${id.consentId}`]);
  });
  for (const [name, [isLost, check, expected]] of Object.entries(DELETED)) {
    await t.step(`${name} deleted`, async () => {
      const lost = (await env.raw.list<Stored & { sealedMembers?: string }>({ prefix: [], limit: 10_000 }))
        .filter(({ key, value }) => isLost(id)(key, value));
      assert(lost.length > 0, "nothing was deleted");
      const isEvidence = /report|order|result/.test(name);
      const deletes = lost.map(({ key, value: { sealedMembers: _, ...value } }) =>
        isEvidence ? { kind: "set", key, value } as const : { kind: "delete", key } as const
      );
      assert(await env.raw.commit({ checks: [], writes: deletes }));
      const found = violations(books, await read())[check] ?? [];
      assert(found.some((violation) => expected.test(violation)), found.join("\n"));
      const writes = lost.map(({ key, value }) => ({ kind: "set", key, value }) as const);
      assert(await env.raw.commit({ checks: [], writes }));
    });
  }
});

Deno.test("the prover's witness sees that a leaf of the log was replaced [EV8]", async () => {
  await using env = await openPushEnvironment();
  const endpoints = {
    base_url: "",
    auth_url: AUTH_URL,
    directory_url: "",
    banks_url: "",
    shop_url: "",
    registration_audience: "",
  };
  const witness = openLogWitness({ operations: [operationsOf(env)], endpoints });
  const begin = async (): Promise<void> => {
    await toBank(env);
    await grow(env);
  };
  await begin();
  await witness.look();
  await begin();
  await witness.glance();
  assertEquals(witness.testimonies.map(({ holds }) => holds), [true, true]);
  const [tile] = await env.store.list<{ readonly hashes: string }>({ prefix: ["log_tile"], limit: 1 });
  if (tile === undefined) throw new Error("the log has no tile");
  const value = { ...tile.value, hashes: `${"A".repeat(43)}${tile.value["hashes"].slice(43)}` };
  assert(await env.store.commit({ checks: [], writes: [{ kind: "set", key: tile.key, value }] }));
  await begin();
  await witness.look();
  const [, , log] = judgeCases({ consents: [], banks: {}, tpp: {} }, [], witness.testimonies);
  assertEquals([log?.name, log?.judged, log?.violations.length], [CONTAINS, 3, 1]);
  assert(log?.violations[0]?.startsWith("CONTRADICTION: the log of "), log?.violations[0]);
});
