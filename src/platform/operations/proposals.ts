/**
 * Proposes, approves and withdraws changes that need two operators (contract FE1 to FE4). Each step is one commit with an
 * entry in the history of the proposal. An approval is committed before the change is carried out.
 */
import { z } from "zod";
import { isUuid, sha256 } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { transact, type TransactDeps, type Transaction } from "../../base/store/transaction.ts";
import {
  defineProposals,
  type OpenProposals,
  PROPOSAL_MS,
  type Proposed,
  proposedMembers,
  type Proposer,
} from "../../base/store/proposals.ts";
import type { Log } from "../observed/log_events.ts";
import type { RecordAttempt } from "../guards/security/operator_audit.ts";
import { stageControlEvent } from "../guards/security/controls_store.ts";
import { isExactPath, type ProposedChange } from "../guards/security/four_eyes.ts";
import { count, flag, optional, text } from "../../base/store/record.ts";
import { OPEN_PROPOSALS_KEY, PROPOSALS } from "../config/store_keys.ts";

/**
 * - `proposed`: waits for a second operator.
 * - `approved`: is being carried out, or a process ended before it was. It can be approved again or withdrawn.
 * - `done`, `failed`, `withdrawn`: over.
 */
const PROPOSAL_STATES = ["proposed", "approved", "done", "failed", "withdrawn"] as const;
type ProposalState = typeof PROPOSAL_STATES[number];

/** Whether a proposal of this state can be approved until it expires. */
function isOpen(state: ProposalState): boolean {
  return state === "proposed" || state === "approved";
}

export interface Proposal extends Proposed, ProposedChange {
  readonly state: ProposalState;
  readonly person?: string;
  /** Whether it was approved again, after an approval whose result is not recorded: that one may have made the change. */
  readonly isRepeated?: boolean;
  /** The status of the answer to the change. */
  readonly status?: number;
  /** Why the change was rejected. */
  readonly fault?: string;
}

export const proposals = defineProposals<Proposal>({
  names: ["proposal", "open_proposals"],
  keys: [PROPOSALS, OPEN_PROPOSALS_KEY],
  what: "A change that one operator has proposed, and what another one has decided.",
  lifetime: "30 days. The histories keep who proposed and approved what.",
  schema: z.looseObject({
    ...proposedMembers,
    endpoint: text,
    path: text,
    contentType: z.enum(["application/json", "text/plain"]),
    body: text,
    reason: text,
    state: z.enum(PROPOSAL_STATES),
    isRepeated: optional(flag),
    status: optional(count),
    fault: optional(text),
  }),
  isOpen,
  conflict: "operations.conflict",
});

const rejectionSchema = z.object({ error_description: z.string() });

/** Makes the change as `operator`. */
export type CarryOut = (change: ProposedChange, operator: string) => Promise<Response>;

export interface ProposalDeps extends TransactDeps {
  readonly log: Log;
  readonly recordAttempt: RecordAttempt;
}

/** Who decides, and why. */
export interface Decision extends Proposer {
  readonly reason: string;
  /** Whether the operator has a role of the endpoint. */
  readonly mayChange: (endpoint: string) => boolean;
}

/** The state as shown. `unclear`: a repeated approval was rejected, perhaps because the one before has made the change. */
export type ShownState = ProposalState | "expired" | "unclear";

/** Returns the state that a decided proposal is shown with. */
export function resultOf({ state, isRepeated = false }: Proposal): ShownState {
  return state === "failed" && isRepeated ? "unclear" : state;
}

function isExpired(proposal: Proposal, open: OpenProposals): boolean {
  return isOpen(proposal.state) && !open.has(proposal);
}

const MAX_LISTED = 500;

/** Returns those that can be approved, and at most {@link MAX_LISTED} others, newest first. */
export async function listProposals(
  { store, clock }: TransactDeps,
): Promise<readonly { readonly proposal: Proposal; readonly state: ShownState }[]> {
  const open = await proposals.readOpen(store, clock());
  // ids are random: ended proposals must not hide the open ones
  const found = await proposals.findAll(store, open.open.map(({ id }) => id));
  const all = [...found, ...await proposals.list(store, MAX_LISTED)];
  return [...new Map(all.map((one) => [one.id, one])).values()]
    .toSorted((one, other) => other.proposedAt - one.proposedAt)
    .map((proposal) => ({ proposal, state: isExpired(proposal, open) ? "expired" : resultOf(proposal) }));
}

/** @throws {ApiError} `operations.conflict` if too many can be approved */
export async function propose(deps: ProposalDeps, change: ProposedChange): Promise<Proposal> {
  const proposedAt = deps.clock();
  const id = crypto.randomUUID();
  const digest = await sha256(change.body);
  const proposal: Proposal = {
    ...change,
    id,
    state: "proposed",
    proposedAt,
    expiresAt: proposedAt + PROPOSAL_MS,
  };
  await transact(deps, { what: "proposal" }, async (tx) => {
    await proposals.stageNew(tx, proposal);
    const reason = `body SHA-256 ${digest}, ${change.path}: ${change.reason}`;
    await stageEvent(deps, tx, id, "proposal.made", change.who, reason);
  });
  deps.log.warn("proposal.made", { proposal: id, path: change.path, by: change.who });
  return proposal;
}

/**
 * Approves and carries out the change. If the process ends in between, the proposal can be approved again: every change
 * has an effect once.
 *
 * @throws {ApiError} `operations.not_found`, `operations.forbidden`, `operations.conflict`
 */
export async function approve(
  deps: ProposalDeps,
  carryOut: CarryOut,
  id: string,
  decision: Decision,
): Promise<Proposal> {
  const approved = await decide(deps, id, decision, "approved", (proposal) => {
    proposals.requireOther(proposal, decision);
    if (!isExactPath(proposal.path)) throw conflict("Its path names another change. Withdraw it.");
  }).catch((error: unknown) => refuse(deps, id, decision, error));
  const answer = await carryOut(approved, `${approved.who} with ${decision.who}`);
  const fault = rejectionSchema.safeParse(await answer.json().catch(() => undefined)).data?.error_description;
  if (answer.status >= 500) {
    throw new ApiError("platform.unavailable", {
      detail: `the change of an approved proposal: ${answer.status}`,
      retryAfterSeconds: 5,
    });
  }
  return await finish(deps, approved, answer, fault);
}

/** Records that the approval of an existing proposal was refused (contract OP21), and throws the error. */
async function refuse(
  { log, recordAttempt }: ProposalDeps,
  id: string,
  { who: operator }: Decision,
  error: unknown,
): Promise<never> {
  if (error instanceof ApiError && isRefusal(error)) {
    log.warn("proposal.refused", { proposal: id, by: operator });
    const reason = error.parts.description ?? error.parts.detail ?? error.reason;
    await recordAttempt({ operator, subject: `proposal ${id}`, event: "proposal.refused", reason });
  }
  throw error;
}

function isRefusal({ reason }: ApiError): boolean {
  return reason === "operations.conflict" || reason === "operations.forbidden";
}

/** @throws {ApiError} `operations.not_found`, `operations.forbidden`, `operations.conflict` */
export async function withdraw(deps: ProposalDeps, id: string, decision: Decision): Promise<Proposal> {
  return await decide(deps, id, decision, "withdrawn");
}

async function decide(
  deps: ProposalDeps,
  id: string,
  { who: operator, reason, mayChange }: Decision,
  state: "approved" | "withdrawn",
  require: (proposal: Proposal) => void = () => {},
): Promise<Proposal> {
  const event = state === "approved" ? "proposal.approved" : "proposal.withdrawn";
  const decided = await transact(deps, { what: "proposal" }, async (tx) => {
    const former = isUuid(id) ? await proposals.find(tx, id) : null;
    if (former === null) throw new ApiError("operations.not_found");
    const now = deps.clock();
    if (!mayChange(former.value.endpoint)) {
      throw new ApiError("operations.forbidden", `needs a role of ${former.value.endpoint}`);
    }
    const open = await proposals.readOpen(tx, now);
    if (isExpired(former.value, open)) throw conflict("It has expired.");
    require(former.value);
    if (!isOpen(former.value.state)) throw conflict(`It is ${former.value.state}.`);
    const changed: Proposal = {
      ...former.value,
      state,
      decidedBy: operator,
      decidedAt: now,
      ...(former.value.state === "approved" ? { isRepeated: true } : {}),
    };
    proposals.stageChange(tx, former, changed, open);
    await stageEvent(deps, tx, id, event, operator, reason);
    return changed;
  });
  deps.log.warn(event, { proposal: id, path: decided.path, by: operator });
  return decided;
}

/**
 * Records the result. Of two approvals at once, one finds the change made: what was done stays done. A change that was
 * made during its withdrawal is done.
 */
async function finish(
  deps: ProposalDeps,
  { id, decidedBy, decidedAt }: Proposal,
  { ok, status }: Response,
  fault: string | undefined,
): Promise<Proposal> {
  return await transact(deps, { what: "proposal" }, async (tx) => {
    const former = await proposals.find(tx, id);
    if (former === null) throw new ApiError("operations.not_found");
    if (former.value.state === "done" || (!ok && !isOpen(former.value.state))) return former.value;
    const state = ok ? "done" : "failed";
    const changed: Proposal = {
      ...former.value,
      state,
      ...(decidedBy === undefined ? {} : { decidedBy }),
      ...(decidedAt === undefined ? {} : { decidedAt }),
      status,
      ...(fault === undefined ? {} : { fault }),
    };
    proposals.stageChange(tx, former, changed, await proposals.readOpen(tx, deps.clock()));
    await stageEvent(deps, tx, id, `proposal.${resultOf(changed)}`, "platform", fault ?? `status ${status}`);
    return changed;
  });
}

async function stageEvent(
  { clock }: ProposalDeps,
  tx: Transaction,
  id: string,
  event: string,
  actor: string,
  reason: string,
): Promise<void> {
  await stageControlEvent(tx, `proposal ${id}`, {
    at: clock(),
    event,
    actor,
    reason: reason.slice(0, 800),
  });
}

function conflict(description: string): ApiError {
  return new ApiError("operations.conflict", { description });
}
