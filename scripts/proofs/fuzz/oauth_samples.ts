/** Valid requests to the token and PAR endpoints and to registration. */
import { testKey } from "../../testing/keys.ts";
import { clientToken, createConsent, dpopKey, push, requestToken } from "../../testing/flows.ts";
import { redeem } from "../../testing/authorization_flow.ts";
import { dpopProof, thumbprint } from "../../testing/jwts.ts";
import { issueCode } from "../../testing/oauth_requests.ts";
import { onboardOnly, type Participant } from "../../testing/participants.ts";
import {
  directorySigner,
  NEWCOMER,
  postRegistration,
  type RegistrationChanges,
  statementWith,
} from "../../testing/registration.ts";
import { BASE_URL, type Environment } from "../../testing/environment.ts";
import { formPart } from "./body_parts.ts";
import { bodyPlace, formPlace, type Pinned, type Sample } from "./parts.ts";
import { certificatePart } from "./request_parts.ts";
import { registrationRule, statementRule } from "./rules.ts";
import { type Attempt, record } from "./sample_request.ts";
import { membersOf, nestedPart } from "./token_parts.ts";
import {
  assertionOf,
  goodToken,
  oauthRequest,
  proofOf,
  type SampleContext,
  signingKeyOf,
  tokensOf,
} from "./environment.ts";

/** A request and the required values of its form. */
interface Planned extends Pick<Sample, "name" | "status" | "attempt" | "mayWrite"> {
  readonly who: Participant;
  readonly pinned: Pinned;
  /** `DPoP` may be omitted. */
  readonly unproven?: true;
}

/** Samples of the authorization server. */
export async function oauthSamples(context: SampleContext): Promise<readonly Sample[]> {
  const { env } = context;
  const made: Sample[] = [];
  for (const plan of [...await grants(env), await redemption(env), await pushedRequest(env)]) {
    const { who, pinned, unproven, ...rest } = plan;
    const signed = [
      await assertionOf(context, rest.attempt, who),
      await proofOf(context, rest.attempt, unproven),
    ];
    const certificate = certificatePart(who.transport.key.publicJwk.n);
    made.push({ ...rest, surface: "oauth", parts: [...signed, formPart(pinned), oauthRequest, certificate] });
  }
  return made;
}

async function grants(env: Environment): Promise<readonly Planned[]> {
  const { tpp, bankA } = env;
  const [ours, banks] = [
    await record(env, (w) => requestToken(w, tpp)),
    await record(env, (w) => requestToken(w, bankA)),
  ];
  const names = ["grant_type", "client_id", "client_assertion_type", "scope"];
  return [
    { name: "token", status: 200, who: tpp, attempt: ours, pinned: exactly(ours, names) },
    { name: "token of a bank", status: 200, who: bankA, attempt: banks, pinned: exactly(banks, names) },
  ];
}

async function redemption(env: Environment): Promise<Planned> {
  const code = await issueCode(env);
  const attempt = await record(env, (w) => redeem(w, code));
  const client = ["grant_type", "client_id", "client_assertion_type"];
  return {
    name: "code",
    status: 200,
    who: env.tpp,
    attempt,
    pinned: exactly(attempt, [...client, "code", "redirect_uri", "code_verifier"]),
    mayWrite: ["authorization_code"], // a failed redemption is counted (contract TA8)
  };
}

async function pushedRequest(env: Environment): Promise<Planned> {
  const { tpp } = env;
  const consentId = (await createConsent(env, await clientToken(env, tpp))).Data.ConsentId;
  const target = { method: "POST", url: `${BASE_URL}/BANKA/par.oauth2/v1` };
  const dpop = await dpopProof(env, await dpopKey(), target);
  const dpop_jkt = await thumbprint(await dpopKey());
  const attempt = await record(env, (w) => push(w, consentId, { form: { dpop_jkt }, headers: { dpop } }));
  const pinned = {
    ...exactly(attempt, ["client_id", "scope", "code_challenge_method", "response_type"]),
    consent_id: RegExp(`^${consentId}$`, "i"),
    redirect_uri: tpp.redirectUris,
    dpop_jkt: [dpop_jkt, undefined],
    request: [undefined],
    request_uri: [undefined],
  };
  return { name: "PAR", status: 201, who: tpp, attempt, pinned, unproven: true };
}

function exactly(attempt: Attempt, names: readonly string[]): Pinned {
  return Object.fromEntries(names.map((name) => [name, [formPlace(name).read(attempt)]]));
}

/** Registrations: of a new participant, and of a bank whose statement is newer than the one it registered with. */
export async function registrationSamples(context: SampleContext): Promise<readonly Sample[]> {
  const { env } = context;
  const newcomer = await onboardOnly(env, NEWCOMER);
  const statement = await statementWith(env.bankB, { claims: { iat: env.now / 1000 + 1 } });
  return [
    await registration(context, "registration", newcomer, {}),
    await registration(context, "registration of a bank again", env.bankB, { statement }),
  ];
}

async function registration(
  context: SampleContext,
  name: string,
  who: Participant,
  changes: RegistrationChanges,
): Promise<Sample> {
  const attempt = await record(context.env, (env) => postRegistration(env, who, changes));
  const place = bodyPlace("registration JWT");
  const directoryKey = await (await testKey(14)).privateKey("sign");
  const outer = tokensOf(context, "registration", await signingKeyOf(who), registrationRule(who));
  const inner = tokensOf(context, "statement", directoryKey, statementRule((await directorySigner()).kid));
  context.resigner.trust("statement", changes.statement ?? who.statement);
  return {
    name,
    status: 201,
    attempt,
    surface: "oauth",
    parts: [
      goodToken(context, attempt, outer, place),
      nestedPart(inner, outer, place, "software_statement"),
      oauthRequest,
    ],
    mayBeUnavailable: (sent) =>
      !isPublished(membersOf(place.read(sent) ?? "", 1)?.["software_statement"], who),
  };
}

/** Returns whether a statement's key set URLs are those that the directory publishes for this participant. */
function isPublished(statement: unknown, { statement: good }: Participant): boolean {
  const [sent, wanted] = [statement, good].map((token) => membersOf(String(token), 1));
  return ["org_jwks_endpoint", "org_jwks_revoked_endpoint"].every((name) => sent?.[name] === wanted?.[name]);
}
