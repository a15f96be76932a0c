/** A TPP that makes one payment and does not give up: calls repeated until they are answered, the payment posted several times. */
import type { ConsentFact, PostFact } from "../prove/payment.ts";
import type { PlannedPost } from "../prove/plan.ts";
import type {
  Consent,
  CreatedConsent,
  Payment,
  PushedRequest,
  ResourceError,
} from "../../testing/answers.ts";
import { type Answer, type Line, persistently } from "./calls.ts";
import { type Ending, visitPlatform } from "./customer.ts";
import { digestOf } from "./jwts.ts";
import { type Party, TPPS } from "./parties.ts";
import type { SimulatedPayment } from "./plan.ts";
import { subscribe } from "./receiver.ts";
import { formRequest, resourceRequest } from "./requests.ts";
import type { Token } from "./simulation.ts";
import { callResource, tokenOf } from "./tokens.ts";

interface Flow {
  readonly line: Line;
  readonly plan: SimulatedPayment;
  readonly who: Party;
}

const ACCOUNT: Readonly<Record<string, string>> = {
  BANKA: "GB33BUKB20201555555555",
  BANKB: "DE89370400440532013000",
};
const MAX_VISITS = 4;
/** An authorised consent is usable for 3600 s; who comes later than this may be rejected. */
const SURELY_USABLE_MS = 3_400_000;

/** Makes the payment; what was seen of its consent. */
export async function makePayment(line: Line, plan: SimulatedPayment): Promise<ConsentFact> {
  const { scheduler } = line.simulation;
  await scheduler.sleep(plan.startsAfter);
  const who = TPPS[plan.tpp];
  if (who === undefined) throw new Error(`no TPP ${plan.tpp}`);
  const flow: Flow = { line, plan, who };
  await subscribe(line, who, plan);
  const key = `${plan.name}-consent`;
  const [consentId, repeatedId] = await Promise.all([createConsent(flow, key), createConsent(flow, key)]);
  const fact = { consentId, repeatedId, bank: plan.bank, amount: plan.amount, fault: undefined };
  const startedAt = scheduler.now();
  const token = await authorise(flow, consentId);
  if (token === undefined) return { ...fact, posts: [] };
  await scheduler.sleep(plan.paysAfter);
  const posts = await Promise.all(plan.posts.map((post) => postPayment(flow, token, consentId, post)));
  await read(flow, `domestic-payment-consents/v1/${consentId}`, `consent ${consentId}`);
  const wasInTime = scheduler.now() - startedAt < SURELY_USABLE_MS && !line.simulation.isClockWrong();
  const settled = posts.filter((post) => post !== undefined);
  const won = settled.some(({ paymentId }) => paymentId !== undefined);
  // A token that ended may have ended before the post that pays, or before the repetition of the one that has paid.
  const mustHaveWon = wasInTime && settled.length === posts.length;
  return { ...fact, posts: won || mustHaveWon ? settled.filter((post) => wasInTime || !isLate(post)) : [] };
}

/**
 * After a restore the TPP does not know what became of its consent and tries to pay it once more. What it is answered
 * depends on what the copy holds; that the bank pays once does not.
 */
export async function payAgain(
  line: Line,
  plan: SimulatedPayment,
  { consentId }: ConsentFact,
): Promise<void> {
  const who = TPPS[plan.tpp];
  if (who === undefined) throw new Error(`no TPP ${plan.tpp}`);
  const flow: Flow = { line, plan: { ...plan, customer: { ...plan.customer, refuses: false } }, who };
  try {
    await subscribe(line, who, plan); // the copy may be without it
    const token = await authorise(flow, consentId);
    if (token === undefined) return;
    await postPayment(flow, token, consentId, { key: 99, mismatch: false, afterMs: 0 });
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error; // the copy does not know the consent
  }
}

/** A rejection that a passed deadline explains. */
function isLate({ rejected }: PostFact): boolean {
  return rejected !== undefined;
}

function initiationOf({ bank, implicit, amount, name }: SimulatedPayment): object {
  return {
    InstructionIdentification: `INSTR-${name}`,
    EndToEndIdentification: `E2E-${name}`,
    InstructedAmount: { Amount: amount, Currency: "EUR" },
    ...(implicit ? { DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: ACCOUNT[bank] } } : {}),
    CreditorAccount: {
      SchemeName: "UK.OBIE.IBAN",
      Identification: "FR1420041010050500013M02606",
      Name: "ACME Inc",
    },
  };
}

async function createConsent({ line, plan, who }: Flow, idempotencyKey: string): Promise<string> {
  const { simulation } = line;
  const path = `/${plan.bank}/domestic-payment-consents/v1`;
  const body = { Data: { Initiation: initiationOf(plan) }, Risk: {} };
  const answer = await callResource(line, { who, method: "POST", path, body, idempotencyKey });
  if (answer.status !== 201) throw new Unexpected(`POST of a consent: ${answer.status} ${answer.text}`);
  const { Data: { ConsentId, Status } } = JSON.parse(answer.text) as CreatedConsent;
  simulation.watch.observed(`consent ${ConsentId}`, Status, answer.asked, answer.told);
  simulation.watch.made(`${who.orgId} ${plan.bank} ${idempotencyKey}`, JSON.stringify(body), ConsentId);
  return ConsentId;
}

/** An answer that no fault explains. */
export class Unexpected extends Error {}

/** The payment's token, or undefined if this consent gets none. */
async function authorise(flow: Flow, consentId: string): Promise<CodeToken | undefined> {
  const { line, plan, who } = flow;
  for (let number = 0; number < MAX_VISITS; number++) {
    const verifier = digestOf(`${plan.name} ${number} ${consentId}`);
    const requestUri = await push(flow, consentId, verifier);
    if (requestUri === undefined) return undefined;
    const query = new URLSearchParams({ client_id: who.clientId, request_uri: requestUri });
    const link = `/${plan.bank}/authorization.oauth2?${query}`;
    const ending = await visitPlatform(line, plan, who.redirectUri, link);
    judgeEnding(flow, link, ending);
    const code = ending.at === "tpp" ? ending.parameters.get("code") : null;
    const token = code === null ? undefined : await redeem(flow, code, verifier);
    if (token !== undefined) return token;
    const status = await read(flow, `domestic-payment-consents/v1/${consentId}`, `consent ${consentId}`);
    if (status !== "AwaitingAuthorisation") return undefined;
  }
  return undefined;
}

/** A customer ends at the TPP with the request's state and issuer, or on a page that leads on. */
function judgeEnding({ line: { simulation }, plan }: Flow, link: string, ending: Ending): void {
  if (ending.at === "page") {
    simulation.note(`customer ${plan.name} ends on "${ending.heading}"`);
    // Links lead to TPPs that the directory calls active; while it does not answer, no TPP is known to be. Who opens a
    // link that another browser has opened before is told nothing of its TPP.
    const isOpenedByOther = simulation.forgedPaths.has(link);
    if (!ending.hasNextUrl && !simulation.missedDirectory && !isOpenedByOther) {
      simulation.violated("every customer is led on", `the page "${ending.heading}" leads nowhere`);
    }
  }
  if (ending.at !== "tpp") return;
  const { parameters } = ending;
  simulation.note(`customer ${plan.name} ends at the TPP: ${parameters.get("error") ?? "code"}`);
  if (parameters.get("state") !== plan.name || !parameters.has("iss")) {
    simulation.violated("every customer is led on", `the redirect to the TPP has ${parameters}`);
  }
}

async function push(
  { line, plan, who }: Flow,
  consentId: string,
  verifier: string,
): Promise<string | undefined> {
  const form = {
    response_type: "code",
    redirect_uri: who.redirectUri,
    code_challenge: digestOf(verifier),
    code_challenge_method: "S256",
    consent_id: consentId,
    scope: "payments",
    state: plan.name,
  };
  const answer = await persistently(line, () => formRequest(line.simulation, who, plan.bank, "par", form));
  return answer.status === 201 ? (JSON.parse(answer.text) as PushedRequest).request_uri : undefined;
}

/** A token of a code, which a late copy of a former try may revoke: it is a second use of the code (RFC 6749 §4.1.2). */
interface CodeToken extends Token {
  readonly isRevocable: boolean;
}

async function redeem(
  { line, plan, who }: Flow,
  code: string,
  verifier: string,
): Promise<CodeToken | undefined> {
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: who.redirectUri,
    code_verifier: verifier,
  };
  let tries = 0;
  const answer = await persistently(line, () => {
    tries++;
    return formRequest(line.simulation, who, plan.bank, "token", form);
  });
  if (answer.status !== 200) return undefined;
  return { ...tokenOf(line.simulation, answer.text), isRevocable: tries > 1 };
}

/** Posts until it is settled; undefined if the token ended before that. */
async function postPayment(
  { line, plan, who }: Flow,
  token: CodeToken,
  consentId: string,
  { key, mismatch, afterMs, dropAfterMs }: PlannedPost,
): Promise<PostFact | undefined> {
  const { simulation } = line;
  await simulation.scheduler.sleep(afterMs);
  const path = `/${plan.bank}/domestic-payments/v1`;
  const amount = mismatch ? (Number(plan.amount) + 0.01).toFixed(2) : plan.amount;
  const body = { Data: { ConsentId: consentId, Initiation: initiationOf({ ...plan, amount }) }, Risk: {} };
  const idempotencyKey = `${plan.name}-${key}`;
  let tries = 0;
  const answer = await persistently(line, (attempt) => {
    tries++;
    const timeoutMs = attempt === 0 && dropAfterMs !== undefined ? { timeoutMs: dropAfterMs } : {};
    return resourceRequest(simulation, {
      who,
      token,
      method: "POST",
      path,
      body,
      idempotencyKey,
      ...timeoutMs,
    });
  });
  const mayHaveEnded = token.isRevocable || token.mayEndEarly ||
    simulation.scheduler.now() > token.expiresAt - 60_000;
  if (answer.status === 401 && mayHaveEnded) return undefined;
  const fact = { key, mismatch, tries, dropped: dropAfterMs !== undefined };
  if (answer.status !== 201) return { ...fact, rejected: { status: answer.status, codes: codesOf(answer) } };
  const { Data: { DomesticPaymentId: paymentId, Status } } = JSON.parse(answer.text) as Payment;
  simulation.watch.observed(`payment ${paymentId}`, Status, answer.asked, answer.told);
  simulation.watch.observed(`consent ${consentId}`, "Consumed", answer.asked, answer.told);
  simulation.watch.made(`${who.orgId} ${plan.bank} ${idempotencyKey}`, JSON.stringify(body), paymentId);
  return { ...fact, paymentId };
}

function codesOf({ text }: Answer): readonly string[] {
  try {
    return (JSON.parse(text) as ResourceError).Errors.map(({ ErrorCode }) => ErrorCode);
  } catch {
    return [];
  }
}

/** The status of a resource as the TPP reads it. */
async function read({ line, plan, who }: Flow, below: string, subject: string): Promise<string | undefined> {
  const answer = await callResource(line, { who, method: "GET", path: `/${plan.bank}/${below}` });
  if (answer.status !== 200) throw new Unexpected(`GET of ${subject}: ${answer.status} ${answer.text}`);
  const { Data: { Status } } = JSON.parse(answer.text) as Consent | Payment;
  line.simulation.watch.observed(subject, Status, answer.asked, answer.told);
  return Status;
}
