/** Every server module of the conformance suite's plans has tests with its cases, or a reason why not. */
import { assertEquals } from "@std/assert";
import { namesInSource } from "../../scripts/upkeep/requirements/names.ts";
import { listFiles, readSource } from "../../scripts/upkeep/sources/source_files.ts";
import { stepsOf } from "support/steps.ts";

/**
 * The server modules of the OpenID conformance suite's plans for the FAPI 2.0 Security Profile, and which tests have the
 * cases of those that no test names, or the reason why a module cannot apply. Data only.
 */

/** Modules for the grant_management variant of both plans. */
const GRANT_MANAGEMENT_MODULES = [
  "GrantManagementHappyFlow",
  "GrantManagementMerge",
  "GrantManagementReplace",
  "GrantManagementEnsureInvalidGrantIdFails",
  "GrantManagementEnsureQueryNonExistentGrantFails",
  "GrantManagementEnsureQueryAfterRevokeFails",
  "GrantManagementEnsureWrongClientCannotQueryGrant",
  "GrantManagementEnsureWrongClientCannotRevokeGrant",
] as const;

/** `fapi2-security-profile-final-test-plan`, in its order, without the prefix `FAPI2SPFinal`. */
const SECURITY_PROFILE_PLAN = [
  "DiscoveryEndpointVerification",
  "HappyFlow",
  "UserRejectsAuthentication",
  "EnsureAuthorizationRequestWithoutStateSuccess",
  "EnsureAuthorizationRequestWithoutNonceSuccess",
  "EnsureAuthorizationRequestWith64CharNonceSuccess",
  "EnsureOtherScopeOrderSucceeds",
  "TestClaimsParameterIdentityClaims",
  "TestEssentialAcrScaClaim",
  "AccessTokenTypeHeaderCaseSensitivity",
  "CheckDpopProofNbfExp",
  "EnsureDpopProofWithIat10SecondsBeforeSucceeds",
  "EnsureDpopProofWithIat10SecondsAfterSucceeds",
  "EnsureMismatchedDpopJktFails",
  "EnsureTokenEndpointFailsWithMismatchedDpopProofJkt",
  "EnsureTokenEndpointFailsWithMismatchedDpopJkt",
  "EnsureDpopProofAtParEndpointBindingSuccess",
  "EnsureDpopAuthCodeBindingSuccess",
  "EnsureDifferentNonceInsideAndOutsideRequestObject",
  "EnsureDifferentStateInsideAndOutsideRequestObject",
  "EnsureAuthorizationRequestWithLongNonce",
  "EnsureAuthorizationRequestWithLongState",
  "StateOnlyOutsideRequestObjectNotUsed",
  "EnsureRequestObjectWithoutRedirectUriFails",
  "EnsureRegisteredRedirectUri",
  "TolerateUnregisteredRedirectUri",
  "EnsureUnsignedAuthorizationRequestWithoutUsingParFails",
  "EnsureRedirectUriInAuthorizationRequest",
  "EnsureResponseTypeCodeIdTokenFails",
  "AustraliaConnectIdEnsureInvalidPurposeFails",
  "EnsureResponseTypeTokenFails",
  "EnsureClientIdInTokenEndpoint",
  "EnsureHolderOfKeyRequired",
  "EnsureAuthorizationCodeIsBoundToClient",
  "AttemptReuseAuthorizationCodeAfterOneSecond",
  "AttemptToUseExpiredAuthCode",
  "EnsureSignedClientAssertionWithRS256Fails",
  "EnsureClientAssertionInTokenEndpoint",
  "EnsureClientAssertionWithExpIs5MinutesInPastFails",
  "EnsureClientAssertionWithWrongAudFails",
  "EnsureClientAssertionWithNoSubFails",
  "EnsureInvalidClientAssertionsFail",
  "DpopNegativeTests",
  "RefreshToken",
  "CdrEnsureSharingDurationZeroGivesNoRefreshToken",
  "CdrEnsureNegativeSharingDurationFails",
  "CdrRefreshTokenIntrospectionExpiry",
  "CdrArrangementAmendmentRevokesOldTokens",
  "CdrEnsureUnrecognisedArrangementIdFails",
  "BrazilEnsureBadPaymentSignatureFails",
  "AustraliaConnectIdTestClaimsParameterIdTokenIdentityClaims",
  "EnsureServerHandlesNonMatchingIntentId",
  "PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion",
  "PARAttemptReuseRequestUri",
  "PARAttemptToUseExpiredRequestUri",
  "PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted",
  "PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails",
  "PAREnsureRequestUriIsBoundToClient",
  "PARRejectRequestUriInParAuthorizationFormParams",
  "PARRejectInvalidHttpVerb",
  "PAREnsurePKCERequired",
  "PAREnsurePKCECodeVerifierRequired",
  "PARIncorrectPKCECodeVerifierRejected",
  "PAREnsurePlainPKCERejected",
  "ParWithoutDuplicateParameters",
  "PAREndpointAsArrayAudienceFails",
  "PAREndpointAsAudienceFails",
  "PARTokenEndpointAsAudienceFails",
  ...GRANT_MANAGEMENT_MODULES,
] as const;

/** Modules that the message-signing plan has besides: signed request objects. */
const SIGNED_REQUEST_MODULES = [
  "EnsureServerAcceptsRequestObjectWithMultipleAud",
  "EnsureRequestObjectWithNbf8SecondsInTheFutureIsAccepted",
  "EnsureRequestObjectWithoutExpFails",
  "EnsureRequestObjectWithoutNbfFails",
  "EnsureExpiredRequestObjectFails",
  "EnsureRequestObjectWithBadAudFails",
  "EnsureRequestObjectWithExpOver60Fails",
  "EnsureRequestObjectWithNbfOver60Fails",
  "EnsureSignedRequestObjectWithRS256Fails",
  "EnsureRequestObjectSignatureAlgorithmIsNotNone",
  "EnsureRequestObjectWithInvalidSignatureFails",
  "EnsureMatchingKeyInAuthorizationRequest",
  "EnsureUnsignedRequestAtParEndpointFails",
  "PARRejectRequestUriInParAuthorizationRequest",
] as const;

/** `fapi2-security-profile-final-brazil-dcr-test-plan`, without the prefix `FAPI2SPFinalBrazil`. */
const REGISTRATION_PLAN = [
  "DCRHappyFlow",
  "DCRHappyFlowVariant",
  "DCRHappyFlowVariant2",
  "DCRClientDeletion",
  "DCRInvalidRegistrationAccessToken",
  "DCRInvalidSoftwareStatementSignature",
  "DCRNoSoftwareStatement",
  "DCRNoMTLS",
  "DCRBadMTLS",
  "DCRUpdateClientConfig",
  "DCRUpdateClientConfigBadJwksUri",
  "DCRUpdateClientConfigInvalidJwksByValue",
  "DCRUpdateClientConfigInvalidRedirectUri",
  "DCRNoRedirectUri",
  "DCRInvalidRedirectUri",
  "DCRInvalidJwksUri",
  "DCRInvalidJwksByValue",
] as const;

type Module =
  | typeof SECURITY_PROFILE_PLAN[number]
  | typeof SIGNED_REQUEST_MODULES[number]
  | typeof REGISTRATION_PLAN[number];

const CONNECT_ID = "ConnectID Australia only: `purpose` and identity claims of its own";
const CDR = "the Australian CDR profile only: sharing arrangements and refresh tokens";
const GRANT_MANAGEMENT = "the grant_management variant only: the metadata names no such endpoint";
const MANAGEMENT =
  "RFC 7592 management is not offered: a newer statement updates a client (Decision B6; contract DC-N23)";

const SIGNED_REQUESTS =
  "signed request objects (FAPI 2.0 Message Signing) are not offered: PAR rejects `request` (PA3)";

/** The modules that no test names: ids that tests name in their place, or why the module cannot apply. */
const STANDINGS: Readonly<Partial<Record<Module, readonly string[] | string>>> = {
  DiscoveryEndpointVerification: ["MD1", "MD2", "MD3", "MD4", "MD5", "MD-N7"],
  EnsureAuthorizationRequestWithoutStateSuccess: ["PA-N14"],
  EnsureOtherScopeOrderSucceeds: ["TC3"],
  CheckDpopProofNbfExp: ["DP-N19"],
  EnsureDpopProofWithIat10SecondsBeforeSucceeds: ["DP-N12"],
  EnsureDpopProofWithIat10SecondsAfterSucceeds: ["DP-N12"],
  EnsureDifferentNonceInsideAndOutsideRequestObject: ["PA-N15", "AZ1"],
  EnsureDifferentStateInsideAndOutsideRequestObject: ["AZ-N10"],
  EnsureAuthorizationRequestWithLongState: ["PA-N13"],
  StateOnlyOutsideRequestObjectNotUsed: ["AZ1"],
  EnsureRequestObjectWithoutRedirectUriFails: ["PA-N6", "AZ3"],
  EnsureRegisteredRedirectUri: ["PA-N7"],
  TolerateUnregisteredRedirectUri: ["PA-N7"],
  EnsureUnsignedAuthorizationRequestWithoutUsingParFails: ["AZ-N1"],
  EnsureRedirectUriInAuthorizationRequest: ["PA-N6"],
  EnsureResponseTypeCodeIdTokenFails: ["PA-N5"],
  AustraliaConnectIdEnsureInvalidPurposeFails: CONNECT_ID,
  EnsureResponseTypeTokenFails: ["PA-N5"],
  EnsureClientIdInTokenEndpoint: ["CA-N8"],
  EnsureHolderOfKeyRequired: ["TA-N14", "CA-N24", "DC-N18"],
  EnsureAuthorizationCodeIsBoundToClient: ["TA-N7"],
  AttemptReuseAuthorizationCodeAfterOneSecond: ["TA-N5"],
  AttemptToUseExpiredAuthCode: ["TA-N4"],
  EnsureSignedClientAssertionWithRS256Fails: ["CA-N5"],
  EnsureClientAssertionInTokenEndpoint: ["CA-N1"],
  EnsureClientAssertionWithExpIs5MinutesInPastFails: ["CA-N12"],
  EnsureClientAssertionWithWrongAudFails: ["CA-N11"],
  EnsureClientAssertionWithNoSubFails: ["CA-N9"],
  EnsureInvalidClientAssertionsFail: ["CA-N6", "CA-N9", "CA-N10", "CA-N11", "CA-N12", "CA13"],
  DpopNegativeTests: [
    ...["DP-N1", "DP-N2", "DP-N3", "DP-N4", "DP-N5", "DP-N6", "DP-N7", "DP-N8", "DP-N9", "DP-N10", "DP-N11"],
    ...["DP-N13", "DP-N14", "DP-N16", "DP-N17", "RG-N2"],
  ],
  RefreshToken: ["TC-N11"],
  CdrEnsureSharingDurationZeroGivesNoRefreshToken: CDR,
  CdrEnsureNegativeSharingDurationFails: CDR,
  CdrRefreshTokenIntrospectionExpiry: CDR,
  CdrArrangementAmendmentRevokesOldTokens: CDR,
  CdrEnsureUnrecognisedArrangementIdFails: CDR,
  BrazilEnsureBadPaymentSignatureFails: ["RP-N3", "RP-N4", "JWS-14"],
  AustraliaConnectIdTestClaimsParameterIdTokenIdentityClaims: CONNECT_ID,
  PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion: ["AZ-N7"],
  PARAttemptReuseRequestUri: ["AZ-N6"],
  PARAttemptToUseExpiredRequestUri: ["AZ-N3"],
  PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted: ["CA-N14"],
  PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails: ["CA-N15"],
  PAREnsureRequestUriIsBoundToClient: ["AZ-N4"],
  PARRejectRequestUriInParAuthorizationFormParams: ["PA-N2"],
  PARRejectInvalidHttpVerb: ["PA-N11"],
  PAREnsurePKCECodeVerifierRequired: ["TA-N9"],
  PARIncorrectPKCECodeVerifierRejected: ["TA-N10"],
  ParWithoutDuplicateParameters: ["AZ-N8"],
  PAREndpointAsArrayAudienceFails: ["CA-N11"],
  PAREndpointAsAudienceFails: ["CA-N11"],
  PARTokenEndpointAsAudienceFails: ["CA-N11"],
  ...leftOut(GRANT_MANAGEMENT_MODULES, GRANT_MANAGEMENT),
  ...leftOut(SIGNED_REQUEST_MODULES, SIGNED_REQUESTS),
  DCRHappyFlow: ["DC12"],
  DCRHappyFlowVariant: ["DC12", "DC13"],
  DCRHappyFlowVariant2: ["DC12", "DC13"],
  DCRClientDeletion: MANAGEMENT,
  DCRInvalidRegistrationAccessToken: MANAGEMENT,
  DCRInvalidSoftwareStatementSignature: ["DC-N1", "DC-N4"],
  DCRNoSoftwareStatement: ["DC-N2"],
  DCRNoMTLS: ["DC-N18"],
  DCRBadMTLS: ["DC-N18"],
  DCRUpdateClientConfig: ["FAPI-D17", "DC-N23"],
  DCRUpdateClientConfigBadJwksUri: ["DC-N20"],
  DCRUpdateClientConfigInvalidJwksByValue: ["DC13"],
  DCRUpdateClientConfigInvalidRedirectUri: ["DC-N11"],
  DCRNoRedirectUri: ["DC-N12"],
  DCRInvalidRedirectUri: ["DC-N11", "DC-N12"],
  DCRInvalidJwksUri: ["DC-N20"],
  DCRInvalidJwksByValue: ["DC13"],
};

function leftOut<Name extends Module>(
  modules: readonly Name[],
  because: string,
): Readonly<Record<Name, string>> {
  return Object.fromEntries(modules.map((name) => [name, because])) as Record<Name, string>;
}

const PLANNED = [...SECURITY_PROFILE_PLAN, ...SIGNED_REQUEST_MODULES, ...REGISTRATION_PLAN];

Deno.test("Each module is named by a test, or has ids that tests name, or a reason to be left out", async (t) => {
  assertEquals(new Set(PLANNED).size, PLANNED.length);
  const named = new Set(namesInSource(testFiles()).flatMap(({ ids }) => ids));
  await stepsOf(t, PLANNED, (name) => name, (name) => {
    const standing = STANDINGS[name] ?? [name];
    assertEquals(standing.length > 0, true);
    if (typeof standing !== "string") assertEquals(standing.filter((id) => !named.has(id)), []);
  });
});

Deno.test("No test names a module that is in no plan", () => {
  const modules = new Set<string>(PLANNED);
  const named = namesInSource(testFiles().filter(({ path }) => path.startsWith("tests/conformance/")))
    .flatMap(({ ids }) => ids).filter((id) => /^[A-Z][a-z]|^PAR[A-Z]|^DCR/.test(id));
  assertEquals(named.filter((name) => !modules.has(name)), []);
});

/** Files of tests that run; the tools that look for names have examples in theirs. */
function testFiles(): ReturnType<typeof readSource>[] {
  return listFiles("tests", [".ts", ".tsx"]).filter((path) =>
    path !== "tests/conformance/requirements.test.ts"
  )
    .map(readSource);
}
