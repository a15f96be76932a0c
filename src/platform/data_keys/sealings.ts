/** The sealed members of each record that has personal data of customers. Ids, statuses, times and amounts stay readable. */
import type { Key } from "../../base/store/store.ts";
import { type CaseId, caseIdOf } from "./case_id.ts";
import type { Members, Sealing } from "./sealing_store.ts";

/** The places of evidence begin with the id of its consent or payment. */
const evidence: Sealing = {
  record: "evidence",
  caseOf: (key) => caseIdOf((key[1] ?? "").split(" ")[0] ?? ""),
  erased: { isErased: true },
  divide({ bytes, signature, salt, ...open }) {
    return { open: { ...open, bytes: "" }, sealed: present({ bytes, signature, salt }) };
  },
};

const consent: Sealing = {
  record: "consent",
  caseOf: ofOwnId,
  erased: { forgottenAt: 0 },
  divide({ request, payer, selectedAccount, ...open }) {
    const initiation = members(members(members(request)["Data"])["Initiation"]);
    const Data = { Initiation: openInitiation(initiation) };
    return {
      open: { ...open, request: { Data, Risk: {} } },
      sealed: "forgottenAt" in open ? {} : present({ request, payer, selectedAccount }),
    };
  },
};

const payment: Sealing = {
  record: "payment",
  caseOf: ofOwnId,
  erased: { erasedAt: 0 },
  divide({ initiation, debtorAccount, statusReason, ...open }) {
    return {
      open: {
        ...open,
        initiation: openInitiation(members(initiation)),
        debtorAccount: { SchemeName: "", Identification: "" },
      },
      sealed: "erasedAt" in open ? {} : present({ initiation, debtorAccount, statusReason }),
    };
  },
};

const session: Sealing = {
  record: "interaction",
  caseOf: (_key, { consentId }) => typeof consentId === "string" ? caseIdOf(consentId) : undefined,
  erased: {},
  divide({ payer, ...open }) {
    return { open, sealed: present({ payer }) };
  },
};

export const sealings: readonly Sealing[] = [evidence, consent, payment, session];

function ofOwnId(key: Key): CaseId | undefined {
  return caseIdOf(key[1] ?? "");
}

/** The amount, and whether the TPP named the account that pays: views of the database show both. */
function openInitiation({ InstructedAmount, DebtorAccount }: Members): Members {
  return present({ InstructedAmount, DebtorAccount: DebtorAccount === undefined ? undefined : {} });
}

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? value as Members : {};
}

function present(all: Members): Members {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
