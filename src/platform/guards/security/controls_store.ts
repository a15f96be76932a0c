/** Stores the controls that operators have set, and the place of the newest entry in each controlled party's history. */
import { z } from "zod";
import { defineRecord } from "../../../base/store/record.ts";
import { bankCode, clientId, instant, text } from "../../../base/store/record_fields.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { check, type Transaction } from "../../../base/store/transaction.ts";
import { type AuditEvent, record, type Recorded, recordedMembers } from "../../evidence/audit_trail.ts";
import { controlledPartyKey, CONTROLS_KEY } from "../../config/store_keys.ts";
import { type Controls, NO_CONTROLS } from "./controls.ts";

export const controlsRecord = defineRecord<Controls>({
  name: "operator_controls",
  keyParts: [],
  what: "What operators have blocked, revoked, held or announced.",
  schema: z.looseObject({
    blocks: z.array(
      z.looseObject({ kind: z.enum(["organisation", "software"]), id: text, at: instant, by: text }),
    ),
    revocations: z.array(z.looseObject({ clientId, at: instant })),
    holds: z.array(z.looseObject({ bank: bankCode, at: instant, by: text })),
    outages: z.array(
      z.looseObject({ id: text, bank: bankCode, from: instant, until: instant, text, by: text }),
    ),
  }),
  version: 1,
  lifetime: "Kept. Its entries: until an operator ends them, or their time has passed.",
  personalData: "pseudonymous",
  retention: "protocol",
});

export const controlledPartyRecord = defineRecord<Recorded>({
  name: "controlled_party",
  keyParts: ["subject of its history"],
  what:
    "The place of the newest entry in a history without another record: of a party that operators have controlled, of an operator, or of what retention has deleted.",
  schema: z.looseObject(recordedMembers),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "register",
});

export interface ControlsStore {
  read(from: Reader): Promise<Entry<Controls> | null>;
  /** Stages the changed controls. Of parallel changes only one commits. */
  stageChange(tx: Transaction, former: Entry<Controls> | null, changed: Controls): void;
  /** Stages an entry in the history of `subject`. Returns its place in the history. */
  stageEvent(tx: Transaction, subject: string, event: AuditEvent): Promise<Required<Recorded>>;
}

export function openControlsStore(): ControlsStore {
  return {
    read: (from) => controlsRecord.get(from, CONTROLS_KEY),
    stageChange(tx, former, changed) {
      check(tx, CONTROLS_KEY, former?.version ?? null);
      controlsRecord.set(tx, CONTROLS_KEY, { ...former?.value, ...changed });
    },
    async stageEvent(tx, subject, event) {
      const key = controlledPartyKey(subject);
      const former = await controlledPartyRecord.get(tx, key);
      check(tx, key, former?.version ?? null);
      const recorded = record(tx, subject, former?.value ?? null, event);
      controlledPartyRecord.set(tx, key, recorded);
      return recorded;
    },
  };
}

/** Returns the controls of an entry. */
export function controlsIn(entry: Entry<Controls> | null): Controls {
  return entry?.value ?? NO_CONTROLS;
}
