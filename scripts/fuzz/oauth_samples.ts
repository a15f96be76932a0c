/** Good requests to the token and PAR endpoints and to registration. */
import { testKey } from "../testing/keys.ts";
import { clientToken, createConsent, dpopKey, push, redeem, requestToken } from "../testing/flows.ts";
import { dpopProof, thumbprint } from "../testing/jwts.ts";
import { issueCode } from "../testing/oauth_requests.ts";
import { onboardOnly, type Participant } from "../testing/participants.ts";
import {
  directorySigner,
  NEWCOMER,
  postRegistration,
  type RegistrationChanges,
  statementWith,
} from "../testing/registration.ts";
import { BASE_URL, type World } from "../testing/environment.ts";
import { formPart } from "./body_parts.ts";
import { bodyPlace, formPlace, type Pinned, type Specimen } from "./parts.ts";
import { certificatePart } from "./request_parts.ts";
import { registrationRule, statementRule } from "./rules.ts";
import { record, type Shot } from "./sample_request.ts";
import { membersOf, nestedPart } from "./token_parts.ts";
import {
  assertionOf,
  goodToken,
  oauthRequest,
  proofOf,
  signingKeyOf,
  tokensOf,
  type Workshop,
} from "./environment.ts";

/** A request and what its form must say to be taken. */
interface Planned extends Pick<Specimen, "name" | "status" | "shot" | "mayWrite"> {
  readonly who: Participant;
  readonly pinned: Pinned;
  /** `DPoP` may be left out. */
  readonly unproven?: true;
}

/** Those of the authorization server. */
export async function oauthSpecimens(workshop: Workshop): Promise<readonly Specimen[]> {
  const { world } = workshop;
  const made: Specimen[] = [];
  for (const plan of [...await grants(world), await redemption(world), await pushedRequest(world)]) {
    const { who, pinned, unproven, ...rest } = plan;
    const signed = [
      await assertionOf(workshop, rest.shot, who),
      await proofOf(workshop, rest.shot, unproven),
    ];
    const certificate = certificatePart(who.transport.key.publicJwk.n);
    made.push({ ...rest, surface: "oauth", parts: [...signed, formPart(pinned), oauthRequest, certificate] });
  }
  return made;
}

async function grants(world: World): Promise<readonly Planned[]> {
  const { tpp, bankA } = world;
  const [ours, banks] = [
    await record(world, (w) => requestToken(w, tpp)),
    await record(world, (w) => requestToken(w, bankA)),
  ];
  const names = ["grant_type", "client_id", "client_assertion_type", "scope"];
  return [
    { name: "token", status: 200, who: tpp, shot: ours, pinned: exactly(ours, names) },
    { name: "token of a bank", status: 200, who: bankA, shot: banks, pinned: exactly(banks, names) },
  ];
}

async function redemption(world: World): Promise<Planned> {
  const code = await issueCode(world);
  const shot = await record(world, (w) => redeem(w, code));
  const client = ["grant_type", "client_id", "client_assertion_type"];
  return {
    name: "code",
    status: 200,
    who: world.tpp,
    shot,
    pinned: exactly(shot, [...client, "code", "redirect_uri", "code_verifier"]),
    mayWrite: ["authorization_code"], // a wrong redemption is counted (checklist TA8)
  };
}

async function pushedRequest(world: World): Promise<Planned> {
  const { tpp } = world;
  const consentId = (await createConsent(world, await clientToken(world, tpp))).Data.ConsentId;
  const target = { method: "POST", url: `${BASE_URL}/BANKA/par.oauth2/v1` };
  const dpop = await dpopProof(world, await dpopKey(), target);
  const dpop_jkt = await thumbprint(await dpopKey());
  const shot = await record(world, (w) => push(w, consentId, { form: { dpop_jkt }, headers: { dpop } }));
  const pinned = {
    ...exactly(shot, ["client_id", "scope", "code_challenge_method", "response_type"]),
    consent_id: RegExp(`^${consentId}$`, "i"),
    redirect_uri: tpp.redirectUris,
    dpop_jkt: [dpop_jkt, undefined],
    request: [undefined],
    request_uri: [undefined],
  };
  return { name: "PAR", status: 201, who: tpp, shot, pinned, unproven: true };
}

function exactly(shot: Shot, names: readonly string[]): Pinned {
  return Object.fromEntries(names.map((name) => [name, [formPlace(name).read(shot)]]));
}

/** Registrations: of somebody new, and of a bank whose statement is newer than the one it registered with. */
export async function registrationSpecimens(workshop: Workshop): Promise<readonly Specimen[]> {
  const { world } = workshop;
  const newcomer = await onboardOnly(world, NEWCOMER);
  const statement = await statementWith(world.bankB, { claims: { iat: world.now / 1000 + 1 } });
  return [
    await registration(workshop, "registration", newcomer, {}),
    await registration(workshop, "registration of a bank again", world.bankB, { statement }),
  ];
}

async function registration(
  workshop: Workshop,
  name: string,
  who: Participant,
  changes: RegistrationChanges,
): Promise<Specimen> {
  const shot = await record(workshop.world, (world) => postRegistration(world, who, changes));
  const place = bodyPlace("registration JWT");
  const directoryKey = await (await testKey(14)).privateKey("sign");
  const outer = tokensOf(workshop, "registration", await signingKeyOf(who), registrationRule(who));
  const inner = tokensOf(workshop, "statement", directoryKey, statementRule((await directorySigner()).kid));
  workshop.notary.trust("statement", changes.statement ?? who.statement);
  return {
    name,
    status: 201,
    shot,
    surface: "oauth",
    parts: [
      goodToken(workshop, shot, outer, place),
      nestedPart(inner, outer, place, "software_statement"),
      oauthRequest,
    ],
    mayBeUnavailable: (sent) =>
      !isPublished(membersOf(place.read(sent) ?? "", 1)?.["software_statement"], who),
  };
}

/** Whether a statement's key sets are where the directory publishes this participant's. */
function isPublished(statement: unknown, { statement: good }: Participant): boolean {
  const [sent, wanted] = [statement, good].map((token) => membersOf(String(token), 1));
  return ["org_jwks_endpoint", "org_jwks_revoked_endpoint"].every((name) => sent?.[name] === wanted?.[name]);
}
