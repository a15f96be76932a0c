/** Documentation of the errors of pages of the browser host. */
import { help } from "./error_help_entry.ts";

const AGAIN = "The customer starts again at your application. Push a new authorization request.";

export const PAGE_HELP = {
  "authorization.invalid_request": help(
    "The link has no client_id or request_uri, or has one of them twice.",
    "client_id and the request_uri of a pushed request, once each",
    "{auth_url}/BANKA/authorization.oauth2?client_id=SC-…&request_uri=urn:ietf:params:oauth:request_uri:…",
    "Build the link from the answer of PAR and percent-encode both values.",
  ),
  "authorization.request_uri_unusable": help(
    "The request_uri is unknown at this bank, expired, used, or of another client.",
    "A request_uri that PAR of this bank returned to this client within 599 s",
    "request_uri=urn:ietf:params:oauth:request_uri:6esc_11ACC5bwc014ltc14eY22c-nOZ1xB4IyJ4mGqA",
    "Push a new request for each attempt.",
  ),
  "authorization.client_unusable": help(
    "The client is not active any more.",
    "An active client",
    "-",
    "Ask the directory why.",
  ),
  "authorization.redirect_uri_unusable": help(
    "The redirect_uri of the pushed request is not registered any more.",
    "A redirect_uri of the newest registration",
    "-",
    "Push a new request with a registered redirect_uri.",
  ),
  "bank_return.not_authentic": help(
    "The bank's result JWT cannot be used.",
    "JWE (RSA-OAEP-256, A256GCM) of a PS256 JWT by the bank, with the correlation_id of the handover JWT",
    "{auth_url}/BANKA/authorization.sca.oauth2?oAuthUrl=eyJ…",
    "Compare the result JWT with the guide for banks. The operator finds the cause in the log under the number on the page.",
  ),
  "interaction.finished": help("The authorization session has ended.", "-", "-", AGAIN),
  "interaction.accepted": help("The customer has accepted before.", "-", "-", AGAIN),
  "interaction.refused": help("The customer has refused before.", "-", "-", AGAIN),
  "interaction.not_yours": help(
    "Another browser has begun this authorization session.",
    "The browser that opened the link",
    "-",
    "The customer continues in the first browser, or starts again.",
  ),
} as const;
