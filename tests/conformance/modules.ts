/**
 * The server modules of the OpenID conformance suite's plans for the FAPI 2.0 Security Profile (checklist 14), and what
 * stands for each of them here: ids that tests bear in brackets, or the reason why a module cannot apply. Data only.
 */

/** Ids in the names of tests, or why there are none. */
export type Standing = { readonly ids: readonly string[] } | { readonly leftOut: string };

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
  "GrantManagementHappyFlow",
  "GrantManagementMerge",
  "GrantManagementReplace",
  "GrantManagementEnsureInvalidGrantIdFails",
  "GrantManagementEnsureQueryNonExistentGrantFails",
  "GrantManagementEnsureQueryAfterRevokeFails",
  "GrantManagementEnsureWrongClientCannotQueryGrant",
  "GrantManagementEnsureWrongClientCannotRevokeGrant",
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
  "RFC 7592 management is not offered: a newer statement updates a client (Decision B6, DC-N23)";

/** Refused as a whole: `request` and `request_uri` are no parameters of PAR here (PA2, PA3). */
const NO_REQUEST_OBJECTS: Standing = { ids: ["PA3", "MD-N7"] };

/** A module that a test names, with the rows of the checklist that it is about. */
function named<Name extends Module>(name: Name, ...rows: readonly string[]): Readonly<Record<Name, Standing>>;
function named(name: string, ...rows: readonly string[]): Readonly<Record<string, Standing>> {
  return { [name]: { ids: [name, ...rows] } };
}
