/**
 * Faults planted into the platform to see the simulation find them: a changed copy of one source file, which an import
 * map puts in its place in another process. The platform's own files stay as they are.
 */
import { writeReplacing } from "support/replaced_module.ts";
import { type FaultPlan, planRun } from "../../scripts/proofs/simulate/plan.ts";

const ROOT = new URL("../../", import.meta.url);

/** A change of one source file; every text must occur exactly once. */
export interface Plant {
  readonly name: string;
  readonly file: string;
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** From here on the simulation finds it soon. After a change of the platform it may take more seeds. */
  readonly firstSeed: number;
  /** The checks that it breaks: another seed may break another one first. */
  readonly breaks: RegExp;
  /** Only runs with such a fault are tried. */
  readonly among?: FaultPlan["kind"];
}

export const PLANTS: readonly Plant[] = [
  {
    name: "consent and payment in two commits",
    file: "src/platform/core/payments/create_payment.ts",
    changes: [
      ["{ type RequestState,", "{ commitIfUnchanged, type RequestState,"],
      [
        "    const position = consents.stageChange(tx, entry, consumed, used, payment.createdAt);",
        `    const cause = { actor: "plant", reason: \`payment \${id}\` };
    const isFirst = await commitIfUnchanged(deps, (first) => {
      consents.stageChange(first, entry, consumed, cause, deps.clock());
    });
    if (!isFirst) throw new ApiError("platform.unavailable");
    const position = payment.createdAt;`,
      ],
    ],
    firstSeed: 1,
    breaks: /a consumed consent has its payment/,
  },
  {
    name: "a replay record written before verification",
    file: "src/platform/guards/security/client_authentication.ts",
    changes: [
      ["type UnverifiedJws }", "type UnverifiedJws, unverifiedClaims }"],
      [
        "  const assertion = await verifyIdentified(identified, {\n",
        `  const early = unverifiedClaims(identified.jws);
  const claimed = early.ok ? String(early.value["jti"]) : "";
  replayRecords.pending.push({
    key: spentJwtKey("assertion", caller.clientId, claimed),
    expiresAt: deps.clock() + 120_000,
    rejection: "client.not_authenticated",
  });
  const assertion = await verifyIdentified(identified, {
`,
      ],
      [
        '  replayRecords.pending.push({\n    key: spentJwtKey("assertion", caller.clientId, jti),',
        '  void ({\n    key: spentJwtKey("assertion", caller.clientId, jti),',
      ],
    ],
    firstSeed: 1,
    breaks: /a token is used up by its owner alone/,
  },
  {
    name: "a lease that is not checked",
    file: "src/platform/core/payments/lease_orders.ts",
    changes: [
      ["return isDue(dueAt, now) && memory", "return dueAt > 0 && now > 0 && memory"],
      ['import { isDue } from "../../events/delivery/retry_delays.ts";\n', ""],
    ],
    firstSeed: 443,
    breaks: /one push at a time/,
  },
  {
    name: "dueAt compared with the wrong sign",
    file: "src/platform/events/delivery/retry_delays.ts",
    changes: [[
      "return dueAt <= now || dueAt > latestDueAt(now);",
      "return dueAt >= now || dueAt > latestDueAt(now);",
    ]],
    firstSeed: 1,
    breaks:
      /one push at a time|nothing is left on the way|the bank executed each order exactly once|every run ends|every change of status reaches its TPP/,
  },
  {
    name: "a payment id that is random",
    file: "src/base/kernel/identifiers.ts",
    changes: [[
      "await sha256Bytes(new TextEncoder().encode(PAYMENT_LABEL + consent))",
      "await sha256Bytes(new TextEncoder().encode(PAYMENT_LABEL + consent + crypto.randomUUID()))",
    ]],
    firstSeed: 160,
    breaks: /one payment a consent/,
  },
  {
    name: "an event in another commit than its change",
    file: "src/platform/events/event_store.ts",
    changes: [
      [
        "import { causeOf, check, remove, type Transaction }",
        "import { causeOf, check, commitIfUnchanged, remove, type Transaction }",
      ],
      [
        "      eventRecord.set(tx, keyOf(change, change), event, stagedAt + keepMs);\n",
        `      tx.onCommit.push(() =>
        void commitIfUnchanged({ store, clock }, (later) => {
          eventRecord.set(later, keyOf(change, change), event, stagedAt + keepMs);
        }).catch(() => {})
      );
`,
      ],
    ],
    firstSeed: 2,
    breaks: /a change of status has its event/,
  },
  {
    name: "an event acknowledged before its push",
    file: "src/platform/events/deliver_events.ts",
    changes: [[
      "    const token = await signEvent(",
      "    await recordTaken(deps, event);\n    const token = await signEvent(",
    ]],
    firstSeed: 5,
    breaks: /every change of status reaches its TPP|events are pushed in order/,
  },
  {
    name: "an event whose lease is not checked",
    file: "src/platform/events/deliver_events.ts",
    changes: [["      if (waitOf(deps, event, entry.value) !== undefined) return [];\n", ""]],
    firstSeed: 10,
    breaks: /one push of an event at a time/,
  },
  {
    name: "a redelivery with a new jti",
    file: "src/platform/events/sign_event.ts",
    changes: [[
      "jti: jtiOf(place),",
      "jti: jtiOf({ ...place, position: place.position + (event.push?.failures ?? 0) }),",
    ]],
    firstSeed: 5,
    breaks: /no event is invented/,
  },
  {
    name: "an event pushed before an earlier one of its payment",
    file: "src/platform/events/deliver_events.ts",
    changes: [["const isFirst = !blocked.has(resource) && !taken.has(resource);", "const isFirst = true;"]],
    firstSeed: 9,
    breaks: /events are pushed in order/,
  },
  {
    name: "evidence lost from the row of its entry",
    file: "src/platform/evidence/audit_trail.ts",
    changes: [["{ ...entry, ...stored });", "entry);"]],
    firstSeed: 1,
    breaks: /every entry has its evidence/,
  },
  {
    name: "a leaf left behind by a process that died",
    file: "src/platform/evidence/evidence_log/log_store.ts",
    changes: [
      ["LogStore {\n  return {\n", "LogStore {\n  const openedAt = Date.now();\n  return {\n"],
      [
        "waiting: (mutations) => waiting(store, mutations),",
        `async waiting(mutations) {
      const found = await waiting(store, mutations);
      return { ...found, leaves: found.leaves.filter(({ at }) => at >= openedAt - 10_000) };
    },`,
      ],
    ],
    firstSeed: 1,
    breaks: /the evidence log has every entry once/,
  },
  {
    name: "a place of the log given twice",
    file: "src/platform/evidence/evidence_log/log_store.ts",
    changes: [[
      "logHeadRecord.replace(tx, logHeadKey, former, head); // the start",
      "logHeadRecord.set(tx, logHeadKey, head); // the start",
    ]],
    firstSeed: 25,
    breaks: /the evidence log has every entry once/,
  },
  {
    name: "a link that leads nowhere, also if an attacker opens others",
    file: "src/platform/core/frontchannel/start_authorization.ts",
    changes: [[
      "if (!isUsable) throw unusableRequest(",
      "if (isUsable) throw incompleteLink(command);\n  throw unusableRequest(",
    ]],
    firstSeed: 1,
    among: "forger",
    breaks: /every customer is led on/,
  },
];

/** In one thread. */
const SEEDS_AT_ONCE = 50;
/** Each plant breaks a check in at least 1 % of its seeds, so that a change of the platform hides none of them. */
const MAX_ROUNDS = 20;

/** Returns the seeds to try, first those that are likely to find the plant. */
export function seedsToTry(
  { firstSeed, among }: Plant,
): readonly { readonly first: number; readonly seeds: number }[] {
  if (among === undefined) {
    return Array.from(
      { length: MAX_ROUNDS },
      (_, round) => ({ first: firstSeed + round * SEEDS_AT_ONCE, seeds: SEEDS_AT_ONCE }),
    );
  }
  return Array.from(
    { length: MAX_ROUNDS * SEEDS_AT_ONCE },
    (_, index) => ({ first: firstSeed + index, seeds: 1 }),
  )
    .filter(({ first }) => planRun(first).faults.some(({ kind }) => kind === among)).slice(0, MAX_ROUNDS);
}

/** Writes the changed file and a Deno configuration that uses it into a folder; the configuration's path. */
export async function writePlant(folder: string, { file, changes }: Plant): Promise<string> {
  const original = new URL(file, ROOT);
  let text = await Deno.readTextFile(original);
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
    text = text.replace(from, () => to);
  }
  const planted = new URL(`file://${folder}/${file.split("/").at(-1)}`);
  const absolute = text.replaceAll(
    /from "(\.[^"]*)"/g,
    (_, path) => `from "${new URL(path, original).href}"`,
  );
  await Deno.writeTextFile(planted, absolute);
  return await writeReplacing(folder, original, planted);
}
