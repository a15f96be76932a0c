/** Faults in what a bank does with orders. */
import {
  type BankFault,
  BROKEN_SIGNATURE,
  ENCRYPTION_KEY,
  NONE,
  PUBLIC_KEY,
  STRANGER,
  TAKE,
  taking,
  unless,
} from "./planted.ts";

/** Faults in what the bank does with orders. */
export const ORDER_FAULTS: readonly BankFault[] = [
  {
    name: "debits another account than the order's",
    found: "BANK-O01",
    changes: [[
      "accounts.find((own) => own.Identification === DebtorAccount.Identification)",
      "DebtorAccount && accounts[0]",
    ]],
  },
  {
    name: "rejects the same order when it comes again",
    found: "BANK-O02",
    changes: [[
      `const { Data } = ${TAKE};`,
      `if (visits.has(jws)) throw new Error("used before");\n  visits.set(jws, {handover: {}});\n  const { Data } = ${TAKE};`,
    ]],
  },
  {
    name: "executes an order again that comes at the same moment",
    found: "BANK-O03",
    changes: [[
      "const isNew = !orders.has(id);",
      "const isNew = !orders.has(id);\n  await new Promise((done) => setTimeout(done, 500));",
    ]],
  },
  {
    name: "rejects an order that comes late",
    found: "BANK-O05",
    changes: [[
      "const isNew = !orders.has(id);",
      'const isNew = !orders.has(id);\n  if (isNew && Date.now() - Date.parse(Data.CreationDateTime) > 2500) throw new Error("too late");',
    ]],
  },
  {
    name: "answers a repeated order with its present status",
    found: "BANK-O06",
    changes: [[
      "(): Promise<unknown> =>\n    callBackChannel(",
      '(): Promise<unknown> =>\n    orders.set(id, "AcceptedSettlementCompleted") && callBackChannel(',
    ]],
  },
  {
    name: "executes a known order with another amount",
    found: "BANK-O07",
    changes: [
      ["!orders.has(id)", "!orders.has(id + Amount)"],
      ["orders.get(id) ??", "orders.get(id + Amount) ??"],
      ["orders.set(id, Status)", "orders.set(id + Amount, Status)"],
    ],
  },
  {
    name: "pays what the account does not have",
    found: "BANK-O08",
    changes: [[" && cents <= payer.cents", ""]],
  },
  { name: "takes an order without a signature", found: "BANK-O10", changes: taking(NONE) },
  {
    name: "takes an order that was changed after it was signed",
    found: "BANK-O11",
    changes: [[TAKE, TAKE + BROKEN_SIGNATURE.replace("JWT)", "jws)")]],
  },
  { name: "takes the key from the order itself", found: "BANK-O12", changes: taking(STRANGER) },
  {
    name: "takes an encryption key for an order's signature",
    found: "BANK-O13",
    changes: taking(ENCRYPTION_KEY),
  },
  { name: "takes the public key as a secret for orders", found: "BANK-O14", changes: taking(PUBLIC_KEY) },
  {
    name: "takes an order for another bank",
    found: "BANK-O15",
    changes: [[TAKE, TAKE + unless('error.claim === "aud"')]],
  },
  {
    name: "takes an order of another issuer",
    found: "BANK-O16",
    changes: [[TAKE, TAKE + unless('error.claim === "iss"')]],
  },
  {
    name: "takes an expired order",
    found: "BANK-O17",
    changes: [[TAKE, TAKE + unless('error.code === "ERR_JWT_EXPIRED"')]],
  },
  {
    name: "answers a handover as an order",
    found: "BANK-O18",
    changes: [[
      `const { Data } = ${TAKE};`,
      `const { Data } = ${TAKE};\n  if (Data === undefined) return Response.json({ Status: "Rejected" });`,
    ]],
  },
  {
    name: "reports without a signature",
    found: "BANK-S01",
    changes: [[
      '    headers.set("x-jws-signature",',
      '    if (!path.startsWith("back-channel-payments")) headers.set("x-jws-signature",',
    ]],
  },
  {
    name: "reports a status that cannot follow",
    found: "BANK-S02",
    changes: [['Status: "AcceptedSettlementCompleted"', 'Status: "AcceptedCreditSettlementCompleted"']],
  },
  {
    name: "does not repeat a report whose answer was lost",
    found: "BANK-S03",
    changes: [[
      ".catch(() => waitMs < 600_000 && settle(id, StatusUpdateDateTime, waitMs * 2))",
      ".catch(() => undefined)",
    ]],
  },
];
