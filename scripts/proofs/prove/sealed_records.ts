/** Whether personal data is encrypted in the platform's store, as a thief of the database reads it. */
import type { Entry, Store } from "../../../src/base/store/store.ts";
import { caseIdOf } from "../../../src/platform/evidence/data_keys/case_keys.ts";
import { personalDataMember } from "../../../src/platform/evidence/personal_data.ts";
import { SEALED } from "../../../src/platform/evidence/data_keys/sealing_store.ts";

/** The records of cases that have personal data. */
export interface SealedRecords {
  readonly count: number;
  /** Keys of those whose personal data is not encrypted. */
  readonly readable: readonly string[];
}

const RECORDS = ["consent", "payment", "evidence", "audit"];
const PAGE = 500;

/** Reads the store without its data keys. */
export async function readSealedRecords(store: Store): Promise<SealedRecords> {
  const readable: string[] = [];
  let count = 0;
  for (const name of RECORDS) {
    for (let page: Entry<unknown>[] = [], isFirst = true; isFirst || page.length === PAGE; isFirst = false) {
      const after = page.at(-1)?.key;
      page = await store.list({ prefix: [name], ...(after === undefined ? {} : { after }), limit: PAGE });
      const ofCases = page.filter(({ key }) => caseIdOf((key[1] ?? "").split(" ")[0] ?? "") !== undefined);
      count += ofCases.length;
      readable.push(...ofCases.filter(({ value }) => !isSealed(value)).map(({ key }) => key.join("/")));
    }
  }
  return { count, readable };
}

function isSealed(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    (Object.hasOwn(value, SEALED) || isErased(value) || isWithoutEvidence(value));
}

/** Of a history entry. Its other members stay readable. */
function isWithoutEvidence(value: object): boolean {
  return "sequence" in value && "salt" in value && !("body" in value);
}

function isErased(value: object): boolean {
  const state = "personalData" in value ? personalDataMember.safeParse(value.personalData).data : undefined;
  return state?.state === "erased";
}
