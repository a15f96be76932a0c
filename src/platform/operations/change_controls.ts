/**
 * Changes what operators block, revoke, hold or announce. Each change is one commit with an entry in the party's history
 * that names the operator and the reason.
 */
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { stageOutageNotice } from "../events/spread_notices.ts";
import type { ControlEvent, Log } from "../observed/log_events.ts";
import { transact, type TransactDeps, type Transaction } from "../../base/store/transaction.ts";
import {
  type Block,
  type Controls,
  controlsIn,
  type CurrentControls,
  inForce,
  MAX_CONTROLS,
  type Outage,
  type OutageChange,
  readControls,
  stageControlEvent,
  stageControls,
} from "../guards/security/controls_store.ts";

export interface ChangeControlsDeps extends TransactDeps {
  readonly log: Log;
  readonly authUrl: string;
  readonly currentControls: CurrentControls;
}

/** Who changes a control, and why. */
export interface ByOperator {
  /** `operator <name>`. */
  readonly operator: string;
  readonly reason: string;
}

/** A participant: an organisation with all its software, or one software. */
export type Party = Pick<Block, "kind" | "id">;

/** Blocks a participant (Decision G5). @throws {ApiError} `operations.conflict` if it is blocked already */
export async function blockParty(deps: ChangeControlsDeps, party: Party, by: ByOperator): Promise<void> {
  await change(deps, `${party.kind} ${party.id}`, "participant.blocked", by, (controls, at) => {
    if (controls.blocks.some(isOf(party))) throw conflict("It is blocked already.");
    return { ...controls, blocks: [...controls.blocks, { ...party, at, by: by.operator }] };
  });
}

/** @throws {ApiError} `operations.conflict` if it is not blocked */
export async function unblockParty(deps: ChangeControlsDeps, party: Party, by: ByOperator): Promise<void> {
  await change(deps, `${party.kind} ${party.id}`, "participant.unblocked", by, (controls) => {
    if (!controls.blocks.some(isOf(party))) throw conflict("It is not blocked.");
    return { ...controls, blocks: controls.blocks.filter((block) => !isOf(party)(block)) };
  });
}

/** Makes every access token of the client invalid that was issued until now. An earlier revocation never becomes shorter. */
export async function revokeTokens(
  deps: ChangeControlsDeps,
  clientId: ClientId,
  by: ByOperator,
): Promise<void> {
  await change(deps, `software ${clientId}`, "participant.tokens_revoked", by, (controls, at) => {
    const { own = [], others = [] } = Object.groupBy(
      controls.revocations,
      (one) => one.clientId === clientId ? "own" : "others",
    );
    const until = Math.max(at, ...own.map((one) => one.at));
    return { ...controls, revocations: [...others, { clientId, at: until }] };
  });
}

/** Holds the bank's orders back. @throws {ApiError} `operations.conflict` if they are held already */
export async function holdBank(deps: ChangeControlsDeps, bank: BankCode, by: ByOperator): Promise<void> {
  await change(deps, `bank ${bank}`, "bank.held", by, (controls, at) => {
    if (controls.holds.some((hold) => hold.bank === bank)) throw conflict("The bank is held already.");
    return { ...controls, holds: [...controls.holds, { bank, at, by: by.operator }] };
  });
}

const NOT_HELD = "No operator holds the bank. If it is held after a restore, use deno task reconcile.";

/** @throws {ApiError} `operations.conflict` if no operator holds the bank */
export async function releaseBank(deps: ChangeControlsDeps, bank: BankCode, by: ByOperator): Promise<void> {
  await change(deps, `bank ${bank}`, "bank.released", by, (controls) => {
    if (!controls.holds.some((hold) => hold.bank === bank)) throw conflict(NOT_HELD);
    return { ...controls, holds: controls.holds.filter((hold) => hold.bank !== bank) };
  });
}

/** Announces an outage of the bank. @throws {ApiError} `operations.invalid_request` if it ends before now */
export async function planOutage(
  deps: ChangeControlsDeps,
  planned: Omit<Outage, "id" | "by">,
  by: ByOperator,
): Promise<Outage> {
  const outage: Outage = { ...planned, id: crypto.randomUUID(), by: by.operator };
  await change(deps, `bank ${outage.bank}`, "bank.outage_planned", by, (controls, at) => {
    requireFuture(outage, at);
    return { ...controls, outages: [...controls.outages, outage] };
  }, (tx, made) => stageOutageNotice(tx, deps.authUrl, { ...outage, status: "announced", ...made }));
  return outage;
}

/**
 * Changes the times and the text of an outage.
 *
 * @throws {ApiError} `operations.not_found`; `operations.invalid_request` if it ends before now
 */
export async function changeOutage(
  deps: ChangeControlsDeps,
  { bank, id, from, until, text }: Omit<Outage, "by">,
  by: ByOperator,
): Promise<Outage> {
  const outage: Outage = { bank, id, from, until, text, by: by.operator };
  await change(deps, `bank ${bank}`, "bank.outage_changed", by, (controls, at) => {
    requireFuture(outage, at);
    const { outages } = controls;
    if (!outages.some((one) => one.bank === bank && one.id === id)) {
      throw new ApiError("operations.not_found");
    }
    return { ...controls, outages: outages.map((one) => one.bank === bank && one.id === id ? outage : one) };
  }, (tx, made) => stageOutageNotice(tx, deps.authUrl, { ...outage, status: "changed", ...made }));
  return outage;
}

/** Ends an outage, or cancels it. @throws {ApiError} `operations.not_found` */
export async function cancelOutage(
  deps: ChangeControlsDeps,
  { bank, id }: Pick<Outage, "bank" | "id">,
  by: ByOperator,
): Promise<void> {
  let ended: Outage | undefined;
  await change(deps, `bank ${bank}`, "bank.outage_cancelled", by, (controls) => {
    ended = controls.outages.find((outage) => outage.bank === bank && outage.id === id);
    if (ended === undefined) throw new ApiError("operations.not_found");
    return { ...controls, outages: controls.outages.filter((outage) => outage !== ended) };
  }, (tx, made) => ended && stageOutageNotice(tx, deps.authUrl, { ...ended, status: "withdrawn", ...made }));
}

async function change(
  deps: ChangeControlsDeps,
  subject: string,
  event: ControlEvent,
  { operator, reason }: ByOperator,
  changed: (controls: Controls, now: number) => Controls,
  stage: (tx: Transaction, made: Pick<OutageChange, "at" | "position">) => void = () => {},
): Promise<void> {
  await transact(deps, { what: "operator's controls" }, async (tx) => {
    const former = await readControls(tx);
    const at = deps.clock();
    const controls = changed(inForce(controlsIn(former), at), at);
    requireRoom(controls);
    stageControls(tx, former, controls);
    const { recorded } = await stageControlEvent(tx, subject, { at, event, actor: operator, reason });
    stage(tx, { at, position: recorded });
  });
  deps.currentControls.forget();
  deps.log.warn(event, { party: subject, by: operator });
}

function requireFuture({ from, until }: Outage, now: number): void {
  if (until > Math.max(now, from)) return;
  throw new ApiError("operations.invalid_request", {
    description: "Until must be later than From, and in the future.",
  });
}

function requireRoom(controls: Controls): void {
  for (const [name, most] of Object.entries(MAX_CONTROLS) as [keyof Controls, number][]) {
    if (controls[name].length <= most) continue;
    // No operator ends a revocation: it ends with the last token that it concerns.
    const remedy = name === "revocations" ? "Block the software, or wait an hour." : "End one first.";
    throw conflict(`There are ${most} ${name}. ${remedy}`);
  }
}

function isOf({ kind, id }: Party): (block: Block) => boolean {
  return (block) => block.kind === kind && block.id === id;
}

function conflict(description: string): ApiError {
  return new ApiError("operations.conflict", { description });
}
