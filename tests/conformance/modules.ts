/**
 * The server modules of the OpenID conformance suite's plans for the FAPI 2.0 Security Profile, and what
 * stands for each of them here: ids that tests bear in brackets, or the reason why a module cannot apply. Data only.
 */

/** Ids in the names of tests, or why there are none. */
export type Standing = { readonly ids: readonly string[] } | { readonly leftOut: string };

/** Modules for the grant_management variant of both plans. */
export const GRANT_MANAGEMENT_MODULES = [
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
export const SECURITY_PROFILE_PLAN = [
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
export const SIGNED_REQUEST_MODULES = [
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
export const REGISTRATION_PLAN = [
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

/** The requirements and tests for each module. */
export const STANDINGS: Readonly<Record<Module, Standing>> = {
  DiscoveryEndpointVerification: { ids: ["MD1", "MD2", "MD3", "MD4", "MD5", "MD-N7"] },
  HappyFlow: { ids: ["HappyFlow", "AUT-01", "TA-N18", "AZ-N9", "RG-N4", "DP-N18"] },
  UserRejectsAuthentication: { ids: ["UserRejectsAuthentication", "AZ-N13"] },
  EnsureAuthorizationRequestWithoutStateSuccess: {
    ids: ["EnsureAuthorizationRequestWithoutStateSuccess", "PA-N14"],
  },
  EnsureAuthorizationRequestWithoutNonceSuccess: { ids: ["EnsureAuthorizationRequestWithoutNonceSuccess"] },
  EnsureAuthorizationRequestWith64CharNonceSuccess: {
    ids: ["EnsureAuthorizationRequestWith64CharNonceSuccess", "PA-N15"],
  },
  EnsureOtherScopeOrderSucceeds: { ids: ["TC3"] },
  TestClaimsParameterIdentityClaims: { ids: ["TestClaimsParameterIdentityClaims"] },
  TestEssentialAcrScaClaim: { ids: ["TestEssentialAcrScaClaim"] },
  AccessTokenTypeHeaderCaseSensitivity: { ids: ["AccessTokenTypeHeaderCaseSensitivity", "RG-N7"] },
  CheckDpopProofNbfExp: { ids: ["CheckDpopProofNbfExp", "DP-N19"] },
  EnsureDpopProofWithIat10SecondsBeforeSucceeds: {
    ids: ["EnsureDpopProofWithIat10SecondsBeforeSucceeds", "DP-N12"],
  },
  EnsureDpopProofWithIat10SecondsAfterSucceeds: {
    ids: ["EnsureDpopProofWithIat10SecondsAfterSucceeds", "DP-N12"],
  },
  EnsureMismatchedDpopJktFails: { ids: ["EnsureMismatchedDpopJktFails", "PA-N10"] },
  EnsureTokenEndpointFailsWithMismatchedDpopProofJkt: {
    ids: ["EnsureTokenEndpointFailsWithMismatchedDpopProofJkt", "TA-N13"],
  },
  EnsureTokenEndpointFailsWithMismatchedDpopJkt: {
    ids: ["EnsureTokenEndpointFailsWithMismatchedDpopJkt", "TA-N12"],
  },
  EnsureDpopProofAtParEndpointBindingSuccess: { ids: ["EnsureDpopProofAtParEndpointBindingSuccess"] },
  EnsureDpopAuthCodeBindingSuccess: { ids: ["EnsureDpopAuthCodeBindingSuccess", "TA-N18"] },
  EnsureDifferentNonceInsideAndOutsideRequestObject: {
    ids: ["EnsureDifferentNonceInsideAndOutsideRequestObject"],
  },
  EnsureDifferentStateInsideAndOutsideRequestObject: {
    ids: ["EnsureDifferentStateInsideAndOutsideRequestObject", "AZ-N10"],
  },
  EnsureAuthorizationRequestWithLongNonce: { ids: ["EnsureAuthorizationRequestWithLongNonce"] },
  EnsureAuthorizationRequestWithLongState: { ids: ["EnsureAuthorizationRequestWithLongState", "PA-N13"] },
  StateOnlyOutsideRequestObjectNotUsed: { ids: ["StateOnlyOutsideRequestObjectNotUsed", "AZ1"] },
  EnsureRequestObjectWithoutRedirectUriFails: { ids: ["EnsureRequestObjectWithoutRedirectUriFails"] },
  EnsureRegisteredRedirectUri: { ids: ["EnsureRegisteredRedirectUri", "PA-N7"] },
  TolerateUnregisteredRedirectUri: { ids: ["TolerateUnregisteredRedirectUri", "PA-N7"] },
  EnsureUnsignedAuthorizationRequestWithoutUsingParFails: {
    ids: ["EnsureUnsignedAuthorizationRequestWithoutUsingParFails", "AZ-N1"],
  },
  EnsureRedirectUriInAuthorizationRequest: { ids: ["EnsureRedirectUriInAuthorizationRequest", "PA-N6"] },
  EnsureResponseTypeCodeIdTokenFails: { ids: ["EnsureResponseTypeCodeIdTokenFails", "PA-N5"] },
  AustraliaConnectIdEnsureInvalidPurposeFails: { leftOut: CONNECT_ID },
  EnsureResponseTypeTokenFails: { ids: ["EnsureResponseTypeTokenFails", "PA-N5"] },
  EnsureClientIdInTokenEndpoint: { ids: ["EnsureClientIdInTokenEndpoint", "CA-N8"] },
  EnsureHolderOfKeyRequired: { ids: ["EnsureHolderOfKeyRequired", "TA-N14", "CA-N24", "DC-N18"] },
  EnsureAuthorizationCodeIsBoundToClient: { ids: ["EnsureAuthorizationCodeIsBoundToClient", "TA-N7"] },
  AttemptReuseAuthorizationCodeAfterOneSecond: {
    ids: ["AttemptReuseAuthorizationCodeAfterOneSecond", "TA-N5"],
  },
  AttemptToUseExpiredAuthCode: { ids: ["AttemptToUseExpiredAuthCode", "TA-N4"] },
  EnsureSignedClientAssertionWithRS256Fails: { ids: ["EnsureSignedClientAssertionWithRS256Fails", "CA-N5"] },
  EnsureClientAssertionInTokenEndpoint: { ids: ["EnsureClientAssertionInTokenEndpoint", "CA-N1"] },
  EnsureClientAssertionWithExpIs5MinutesInPastFails: {
    ids: ["EnsureClientAssertionWithExpIs5MinutesInPastFails", "CA-N12"],
  },
  EnsureClientAssertionWithWrongAudFails: { ids: ["EnsureClientAssertionWithWrongAudFails", "CA-N11"] },
  EnsureClientAssertionWithNoSubFails: { ids: ["EnsureClientAssertionWithNoSubFails", "CA-N9"] },
  EnsureInvalidClientAssertionsFail: { ids: ["EnsureInvalidClientAssertionsFail"] },
  DpopNegativeTests: {
    ids: [
      "DpopNegativeTests",
      ...["DP-N1", "DP-N2", "DP-N3", "DP-N4", "DP-N5", "DP-N6", "DP-N7", "DP-N8", "DP-N9", "DP-N10"],
      ...["DP-N11", "DP-N13", "DP-N14", "DP-N16", "DP-N17", "RG-N2"],
    ],
  },
  RefreshToken: { ids: ["RefreshToken", "TC-N11"] },
  CdrEnsureSharingDurationZeroGivesNoRefreshToken: { leftOut: CDR },
  CdrEnsureNegativeSharingDurationFails: { leftOut: CDR },
  CdrRefreshTokenIntrospectionExpiry: { leftOut: CDR },
  CdrArrangementAmendmentRevokesOldTokens: { leftOut: CDR },
  CdrEnsureUnrecognisedArrangementIdFails: { leftOut: CDR },
  BrazilEnsureBadPaymentSignatureFails: { ids: ["RP-N3", "RP-N4", "JWS-14"] },
  AustraliaConnectIdTestClaimsParameterIdTokenIdentityClaims: { leftOut: CONNECT_ID },
  EnsureServerHandlesNonMatchingIntentId: { ids: ["EnsureServerHandlesNonMatchingIntentId", "PA-N9"] },
  PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion: {
    ids: ["PAREnsureServerAcceptsReusedRequestUriBeforeAuthenticationCompletion", "AZ-N7"],
  },
  PARAttemptReuseRequestUri: { ids: ["PARAttemptReuseRequestUri", "AZ-N6"] },
  PARAttemptToUseExpiredRequestUri: { ids: ["PARAttemptToUseExpiredRequestUri", "AZ-N3"] },
  PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted: {
    ids: ["PAREnsureJWTClientAssertionWithIatNbf8SecondsInTheFutureIsAccepted", "CA-N14"],
  },
  PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails: {
    ids: ["PAREnsureJWTClientAssertionWithIatNbfOver60SecondsInTheFutureFails", "CA-N15"],
  },
  PAREnsureRequestUriIsBoundToClient: { ids: ["PAREnsureRequestUriIsBoundToClient", "AZ-N4"] },
  PARRejectRequestUriInParAuthorizationFormParams: {
    ids: ["PARRejectRequestUriInParAuthorizationFormParams", "PA-N2"],
  },
  PARRejectInvalidHttpVerb: { ids: ["PARRejectInvalidHttpVerb", "PA-N11"] },
  PAREnsurePKCERequired: { ids: ["PAREnsurePKCERequired", "PA-N3"] },
  PAREnsurePKCECodeVerifierRequired: { ids: ["PAREnsurePKCECodeVerifierRequired", "TA-N9"] },
  PARIncorrectPKCECodeVerifierRejected: { ids: ["PARIncorrectPKCECodeVerifierRejected", "TA-N10"] },
  PAREnsurePlainPKCERejected: { ids: ["PAREnsurePlainPKCERejected", "PA-N4"] },
  ParWithoutDuplicateParameters: { ids: ["ParWithoutDuplicateParameters", "AZ-N8"] },
  PAREndpointAsArrayAudienceFails: { ids: ["PAREndpointAsArrayAudienceFails", "CA-N11"] },
  PAREndpointAsAudienceFails: { ids: ["PAREndpointAsAudienceFails", "CA-N11"] },
  PARTokenEndpointAsAudienceFails: { ids: ["PARTokenEndpointAsAudienceFails", "CA-N11"] },
  ...leftOut(GRANT_MANAGEMENT_MODULES, GRANT_MANAGEMENT),
  ...leftOut(SIGNED_REQUEST_MODULES, SIGNED_REQUESTS),
  DCRHappyFlow: { ids: ["DC12"] },
  DCRHappyFlowVariant: { ids: ["DC12", "DC13"] },
  DCRHappyFlowVariant2: { ids: ["DC12", "DC13"] },
  DCRClientDeletion: { leftOut: MANAGEMENT },
  DCRInvalidRegistrationAccessToken: { leftOut: MANAGEMENT },
  DCRInvalidSoftwareStatementSignature: { ids: ["DC-N1", "DC-N4"] },
  DCRNoSoftwareStatement: { ids: ["DC-N2"] },
  DCRNoMTLS: { ids: ["DC-N18"] },
  DCRBadMTLS: { ids: ["DC-N18"] },
  DCRUpdateClientConfig: { ids: ["FAPI-D17", "DC-N23"] },
  DCRUpdateClientConfigBadJwksUri: { ids: ["DC-N20"] },
  DCRUpdateClientConfigInvalidJwksByValue: { ids: ["DC13"] },
  DCRUpdateClientConfigInvalidRedirectUri: { ids: ["DC-N11"] },
  DCRNoRedirectUri: { ids: ["DC-N12"] },
  DCRInvalidRedirectUri: { ids: ["DC-N11", "DC-N12"] },
  DCRInvalidJwksUri: { ids: ["DC-N20"] },
  DCRInvalidJwksByValue: { ids: ["DC13"] },
};

function leftOut<Name extends Module>(
  modules: readonly Name[],
  because: string,
): Readonly<Record<Name, Standing>> {
  return Object.fromEntries(modules.map((name) => [name, { leftOut: because }])) as Record<Name, Standing>;
}
