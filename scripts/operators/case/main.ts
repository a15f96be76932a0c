/** `deno task case`: reads the evidence of a payment, and verifies a bundle offline (docs/operations/disputes.md). */
import { decodeJwt } from "jose";
import { z } from "zod";
import { isUuid } from "../../../src/base/kernel/identifiers.ts";
import { type Options, runProgram, UsageError, wordsAndOptions } from "../../command_line/run.ts";
import { type ApiTools, getOperation } from "../operations_api/client.ts";
import { operatorEnvironment } from "../operations_api/environment.ts";
import { type Bundle, type BundleEntry, bundleSchema, statementSchema } from "./bundle_schema.ts";
import { contradictionsIn, type Verified } from "./compare.ts";
import { contradictionsWith, openToken, tokenIn } from "./compare_token.ts";
import { verifyBundle } from "./verify_bundle.ts";
import { newFindings } from "./verify_parts.ts";
import { safely, verify, VERIFY_OPTIONS, verifyArguments, verifyFiles } from "./verify.ts";
import { isDeletion } from "./verify_deletion.ts";
import type { PaymentStatus } from "../../../src/platform/core/payments/payment.ts";

const USAGE = `deno task case <id> [--json | --screen] [--bundle FILE] [--url URL]
deno task case verify <FILE> ${VERIFY_OPTIONS}
deno task case compare <FILE> <FILE>
  compare: prints how a bundle contradicts a later bundle, or a receipt or event of before, and exits with 1 if it does.
  Prints what happened, in words. The id is that of a payment or a consent, an interaction id (the number on an error
  page, while its trace is kept), an end-to-end id or an idempotency key. --screen: prints the customer's decision and what the screen showed. --json: prints
  the bundle. --bundle: writes it to a file, which verify checks without the platform. --platform, --tpp, --bank: SHA-256
  (base64url) of the certificates that are this party's or its authority's. --revoked: a key set of revoked keys, from the
  directory.
  PLATFORM_OPS_TOKEN (an operator's token), PLATFORM_OPERATIONS_HOST and PLATFORM_OPERATIONS_PORT are
  read from the environment or .env.`;

const VERIFY = { names: ["platform", "tpp", "bank", "revoked"], switches: [] } as const;
const OPTIONS = { names: ["bundle", "url"], switches: ["json", "screen"] } as const;

/** Dependencies of the command. */
export interface CaseTools extends ApiTools {
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  readonly writeText: (path: string, text: string) => Promise<void>;
  readonly print: (line: string) => void;
}

/** Runs one command line; false if a bundle does not hold. @throws {UsageError} and errors in one sentence */
export async function caseCommand(args: readonly string[], tools: CaseTools): Promise<boolean> {
  const [first, ...rest] = args;
  if (first === "verify") {
    const { words, given: options } = wordsAndOptions(rest, VERIFY);
    const named = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const given = verifyArguments([...words, ...named]);
    if (given === undefined) throw new UsageError(USAGE);
    return await verifyFiles(given, tools.readBytes, tools.print);
  }
  if (first === "compare") return await compare(rest, tools);
  const { words: [id, ...more], given } = wordsAndOptions(args, OPTIONS);
  const { bundle: file, url, json, screen } = given as Options<"bundle" | "url", "json" | "screen">;
  if (id === undefined || more.length > 0) throw new UsageError(USAGE);
  const text = await bundleText(tools, url, id);
  if (file !== undefined) await tools.writeText(file, text);
  if (json) tools.print(text.trimEnd());
  else if (isDeletion(JSON.parse(text))) {
    return await verify(new TextEncoder().encode(text), {}, tools.print);
  } else (screen ? decisionsIn(text) : readable(text)).forEach(safely(tools.print));
  return true;
}

/** Compares a bundle with another one, a receipt or an event. All must verify. Returns false if they contradict each other. */
async function compare(paths: readonly string[], { readBytes, print }: CaseTools): Promise<boolean> {
  const [one, other, ...more] = paths;
  if (one === undefined || other === undefined || more.length > 0) throw new UsageError(USAGE);
  const files = [await readBytes(one), await readBytes(other)].toSorted((first) => tokenIn(first) ? 1 : -1);
  const [first, second] = files;
  if (first === undefined || second === undefined) throw new UsageError(USAGE);
  const token = tokenIn(second);
  const bundle = await verifiedIn(first);
  const found = token === undefined
    ? [...contradictionsIn([bundle, await verifiedIn(second)])]
    : [...contradictionsWith(bundle, await openToken(token, bundle.keys))];
  const show = safely(print);
  for (const contradiction of found) show(`CONTRADICTION: ${contradiction}`);
  if (found.length === 0) {
    show(
      token === undefined
        ? "ok: both bundles tell the same history"
        : "ok: the bundle has what the other file says",
    );
  }
  return found.length === 0;
}

async function verifiedIn(bytes: Uint8Array): Promise<Verified> {
  const findings = newFindings();
  for await (const fault of verifyBundle(bytes, findings)) {
    throw new Error(`a bundle does not hold: ${fault}`);
  }
  const { bundle, statement, pieces, signers } = findings;
  if (bundle === undefined || statement === undefined) throw new Error("a file is a proof of deletion");
  const used = [...signers.values()].flatMap(({ party, key }) => party === "platform" ? key : []);
  return { bundle, statement, pieces, keys: [...bundle.keys, ...used] };
}

/** Returns the bundle of a payment or consent, or of the only case that another id leads to. @throws {Error} without one */
async function bundleText(tools: ApiTools, url: string | undefined, id: string): Promise<string> {
  if (isUuid(id)) {
    const direct = await getOperation(tools, url, `/cases/${id}`);
    if (direct.ok) return direct.text;
  }
  const { json } = await getOperation(tools, url, `/search?${new URLSearchParams({ q: id })}`);
  const [only, ...more] = foundSchema.parse(json).Data.Case.map(({ ConsentId }) => ConsentId);
  if (only === undefined) throw new Error(`no consent or payment has the id ${id}`);
  if (more.length > 0) throw new Error(`${id} leads to several consents: ${[only, ...more].join(", ")}`);
  const { ok, text } = await getOperation(tools, url, `/cases/${only}`);
  if (!ok) throw new Error(`no consent or payment has the id ${only}`);
  return text;
}

const foundSchema = z.looseObject({
  Data: z.looseObject({ Case: z.array(z.looseObject({ ConsentId: z.string() })) }),
});

function readable(text: string): readonly string[] {
  const bundle = bundleSchema.parse(JSON.parse(text));
  const { consent, payment, consent_entries } = statementSchema.parse(decodeJwt(bundle.statement));
  return [
    `consent ${consent}, payment ${payment}`,
    ...(consent_entries > 0 ? [] : ["the consent was lost with a restore of the database"]),
    ...timelineOf(bundle, consent),
  ];
}

/** Returns the customer's decision on the platform's screen and the content of that screen, with the hash in the entry. */
function decisionsIn(text: string): readonly string[] {
  const found = bundleSchema.parse(JSON.parse(text)).entries.flatMap(({ record, bodies }) =>
    (record.items ?? []).flatMap(({ kind }, index) => {
      const body = bodies[index];
      if (kind !== "decision") return [];
      if (!body) return ["the customer's decision and what the screen showed were erased"];
      const bytes = Uint8Array.fromBase64(body.bytes, { alphabet: "base64url" });
      const decision: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return [`page SHA-256 ${record.page?.sha256}`, ...JSON.stringify(decision, null, 2).split("\n")];
    })
  );
  return found.length > 0 ? found : ["the customer decided at the bank, or has not decided"];
}

/** Gives up every permission but reading first: a bundle is verified from its bytes alone. */
async function readOffline(path: string): Promise<Uint8Array> {
  for (const name of ["net", "write", "env"] as const) await Deno.permissions.revoke({ name });
  return await Deno.readFile(path);
}

/** Every status that a payment can have. */
const PAYMENT_WORDS: Readonly<Record<`payment.${PaymentStatus}`, string>> = {
  "payment.Pending": "the payment was created and waits for the bank",
  "payment.AcceptedSettlementInProcess": "the payment is in process",
  "payment.AcceptedSettlementCompleted": "the bank reported that the payment was settled",
  "payment.AcceptedWithoutPosting": "the bank accepted the payment without posting it",
  "payment.AcceptedCreditSettlementCompleted": "the bank reported that the payee was credited",
  "payment.Rejected": "the payment was rejected",
};

/** An event that is not here is printed by its name. */
const WORDS: Readonly<Record<string, string>> = {
  "consent.AwaitingAuthorisation": "the consent waits for the customer",
  "consent.authorization_requested": "the TPP pushed the authorization request",
  "consent.customer_sent_to_bank": "the customer was sent to the bank",
  "consent.customer_authenticated": "the bank reported that it authenticated the customer",
  "consent.customer_late": "the customer came too late",
  "consent.Authorized": "the customer authorised the consent",
  "consent.Rejected": "the consent was rejected",
  "consent.code_issued": "the TPP got the authorization code",
  "consent.token_issued": "the TPP got an access token",
  "consent.Consumed": "the consent was used for its payment",
  "consent.personal_data_deleted": "the data of a consent never authorised was deleted",
  "consent.erased": "the personal data of the consent was erased",
  "consent.evidence_deleted": "the evidence of the consent was erased",
  "payment.erased": "the personal data of the payment was erased",
  "payment.evidence_deleted": "the evidence of the payment was erased",
  ...PAYMENT_WORDS,
  "payment_order.delivered": "the bank accepted the order",
  "payment_order.outcome_unknown": "the bank may have the order: a push had no clear answer",
  "payment_order.dead": "the platform gave the order up",
  "payment_order.redriven": "an operator had the order tried again",
  "payment_order.held": "the order was held",
  "payment_order.resumed": "the order was no longer held",
};

const EVENT_COLUMNS = 52;

/** Returns one line for each entry: time, subject and number, event, actor, reason, evidence, request. */
function timelineOf({ entries }: Bundle, consent: string): readonly string[] {
  return entries.map((entry) => lineOf(entry, consent));
}

function lineOf({ record, bodies }: BundleEntry, consent: string): string {
  const { at, event, actor, reason, interactionId, items = [], subject, sequence } = record;
  const evidence = items.map(({ kind }, index) => bodies[index] === null ? `${kind} (deleted)` : kind);
  const details = [
    ...(reason === undefined ? [] : [reason]),
    ...(evidence.length === 0 ? [] : [`evidence: ${evidence.join(", ")}`]),
    ...(interactionId === undefined ? [] : [`request ${interactionId}`]),
  ];
  const place = `${subject === consent ? "consent" : "payment"} ${sequence ?? "–"}`;
  const words = WORDS[event] ?? event;
  return [
    new Date(at).toISOString(),
    place.padEnd(10),
    words.padEnd(EVENT_COLUMNS),
    [`by ${actor}`, ...details].join("; "),
  ].join("  ");
}

if (import.meta.main) {
  await runProgram(USAGE, async (args, print) =>
    await caseCommand(args, {
      environment: await operatorEnvironment(args),
      readBytes: readOffline,
      writeText: (path, text) => Deno.writeTextFile(path, text, { createNew: true, mode: 0o600 }),
      fetch,
      print,
    }));
}
