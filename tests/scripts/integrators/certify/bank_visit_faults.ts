/** Faults in what a bank does with its customers. */
import type { BankFault } from "./planted.ts";

/** Faults in what the bank does with customers. */
export const VISIT_FAULTS: readonly BankFault[] = [
  {
    name: "returns the digest of the handover, whatever it showed",
    found: "BANK-J06",
    changes: [[
      "...outcome }",
      "...outcome, transaction_digest: (visit.handover as Json).transaction_digest }",
    ]],
  },
  {
    name: "reports accounts for an implicit consent",
    found: "BANK-A01",
    changes: [[
      'return given ? goBack(visit, "success")',
      `const Data = { BankId: me.org_id, ConsentId: visit.handover.ref_id, Sub: alice.sub, DebtorAccount: [given] };
  const sent = given && callBackChannel("PUT", \`back-channel-auth/v1/\${Data.ConsentId}\`, JSON.stringify({ Data }));
  return given ? sent.catch(() => undefined).then(() => goBack(visit, "success"))`,
    ]],
  },
  {
    name: "reports a balance that it does not have",
    found: "BANK-A02",
    changes: [[
      "report.map(({ cents, ...own }) => ({ ...own, Balance: (cents / 100).toFixed(2)",
      "report.map(({ cents, ...own }) => ({ ...own, Balance: (cents / 10).toFixed(2)",
    ]],
  },
  {
    name: "reports another account than the one that was chosen",
    found: "BANK-A03",
    changes: [['goBack(visit, "success", chosen)', 'goBack(visit, "success", accounts.slice(0, 1))']],
  },
  {
    name: "approves a payment from another customer's account",
    found: "BANK-A04",
    changes: [["if (chosen.length === 0)", "if (!given && chosen.length === 0)"]],
  },
  {
    name: "returns a refusal with a status_code of its own",
    found: "BANK-W01",
    changes: [[
      '=== "refuse") return goBack(visit, "failure")',
      '=== "refuse") return goBack(visit, "refused")',
    ]],
  },
  {
    name: "shows a page without a way back when a visit times out",
    found: "BANK-W02",
    changes: [[
      'if (now() >= visit.ends) visit.back ??= goBack(visit, "failure");',
      'if (now() >= visit.ends) throw new Error("too late");',
    ]],
  },
  {
    name: "takes a second decision",
    found: "BANK-W03",
    changes: [
      ["({ handover, back }: Visit)", "({ handover, back, decided }: Json)"],
      ["consent_id && back === undefined", "consent_id && (back === undefined || decided)"],
      ['if (decision === "timeout")', 'visit.decided = true;\n  if (decision === "timeout")'],
      [
        "visit.back ??= decide(visit, new URLSearchParams(entry))",
        "visit.back = decide(visit, new URLSearchParams(entry)) ?? visit.back",
      ],
    ],
  },
  {
    name: "shows a page without a way back if a consent cannot be read",
    found: "BANK-W04",
    changes: [[
      "back-channel-auth/v1/${handover.ref_id}`).catch(() => undefined)",
      "back-channel-auth/v1/${handover.ref_id}`).catch((error) => { visits.delete(path); throw error; })",
    ]],
  },
  {
    name: "returns success although the accounts were not reported",
    found: "BANK-W05",
    changes: [[
      "if (await put.then(() => false, () => true)) status",
      "if (await put.then(() => false, () => false)) status",
    ]],
  },
  {
    name: "does not lead back a customer who loads the page again",
    found: "BANK-W07",
    changes: [[
      "if (visit.back !== undefined) return to(await visit.back);\n  return body",
      "if (visit.back !== undefined && !visit.gone) {\n    visit.gone = true;\n    return to(await visit.back);\n  }\n  return body",
    ]],
  },
];
