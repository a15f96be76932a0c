# Tests the sandbox from outside, with curl for TLS and openssl for keys. Shares no code with the platform.

check_from_outside() {
  check_here "no client certificate: the TLS handshake fails" rejects_missing_certificate
  check_here "a certificate of an unknown authority: the TLS handshake fails" rejects_unknown_authority
  check_here "plain HTTP on the API port gets no answer of the API" rejects_plain_http
  check_here "own certificate: 200 and a DPoP-bound token" token_status_is shop 200
  check_here "another participant's certificate: 401" token_status_is bank-b 401
  check_here "a new participant's certificate: 400, which tells what is missing" says_what_is_missing
  check_here "a new participant's certificate with the shop's assertion: 401" token_status_is mine 401
  check_here "no token: 401 with a DPoP challenge" challenges
  check_here "browser host: health, metadata, keys, OpenAPI, documentation" public_pages_answer
}

endpoint() {
  sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$SANDBOX_DIR/endpoints.json"
}

member() {
  sed -n "s/.*\"$2\": *\"\([^\"]*\)\".*/\1/p" "$SANDBOX_DIR/participants/$1/participant.json"
}

# as PARTICIPANT CURL-ARGUMENTS...
as() {
  local folder=$SANDBOX_DIR/participants/$1
  shift
  curl -sS --max-time 10 --cacert "$SANDBOX_DIR/ca.pem" --cert "$folder/transport.cert.pem" \
    --key "$folder/transport.key.pem" "$@"
}

# curl exits with 35 if the handshake fails. With TLS 1.3 the rejection follows the handshake: 52 (closed) or 56 (alert).
no_answer() {
  [ "$1" -eq 35 ] || [ "$1" -eq 52 ] || [ "$1" -eq 56 ]
}

rejects_missing_certificate() {
  curl -sS --max-time 10 --cacert "$SANDBOX_DIR/ca.pem" "$(endpoint base_url)/BANKA/token.oauth2/v1"
  no_answer $?
}

rejects_unknown_authority() {
  local forged=$logs/forged
  openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$(member shop org_name)" \
    -keyout "$forged.key.pem" -out "$forged.cert.pem" || return 1
  curl -sS --max-time 10 --cacert "$SANDBOX_DIR/ca.pem" --cert "$forged.cert.pem" --key "$forged.key.pem" \
    "$(endpoint base_url)/BANKA/token.oauth2/v1"
  no_answer $?
}

rejects_plain_http() {
  local status
  status=$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "http://localhost:$SANDBOX_PORT/")
  [ "$status" = 000 ] || [ "$status" = 400 ]
}

# token_status_is CERTIFICATE-OF STATUS: the shop asks BANKA for a token, over the TLS certificate of a participant.
token_status_is() {
  local url body status
  url=$(endpoint base_url)/BANKA/token.oauth2/v1
  body=$logs/token-$1.json
  status=$(as "$1" -o "$body" -w '%{http_code}' -H "DPoP: $(dpop_proof POST "$url")" \
    --data-urlencode grant_type=client_credentials --data-urlencode scope=payments \
    --data-urlencode "client_id=$(member shop client_id)" \
    --data-urlencode client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
    --data-urlencode "client_assertion=$(client_assertion)" "$url")
  printf 'status %s\n' "$status"
  [ "$status" = "$2" ] || return 1
  [ "$2" != 200 ] || grep -q '"token_type" *: *"DPoP"' "$body"
}

# As in the README.
onboard_mine() {
  limited 60 "${deno[@]}" task participant onboard --example PISP >.data/details.json &&
    limited 60 "${deno[@]}" task participant onboard --name mine --details .data/details.json
}

says_what_is_missing() {
  local status
  status=$(as mine -o /dev/stderr -w '%{http_code}' -X POST "$(endpoint base_url)/BANKA/token.oauth2/v1")
  printf 'status %s\n' "$status"
  [ "$status" = 400 ]
}

challenges() {
  as shop -D - -o /dev/null "$(endpoint base_url)/BANKA/domestic-payments/v1/$(uuid)" >"$logs/challenge.txt" || return 1
  cat "$logs/challenge.txt"
  grep -qE '^HTTP/[0-9.]+ 401' "$logs/challenge.txt" && grep -qi '^www-authenticate: DPoP' "$logs/challenge.txt"
}

public_pages_answer() {
  local path
  for path in /health/live /health/ready /.well-known/oauth-authorization-server/BANKA /jwks /openapi.json /docs; do
    curl -sS -f --max-time 10 -o /dev/null "$(endpoint auth_url)$path" || return 1
    printf '%s\n' "$path"
  done
}

client_assertion() {
  local id now
  id=$(member shop client_id)
  now=$(date +%s)
  jws '{"alg":"PS256","kid":"'"$(member shop signing_kid)"'"}' \
    '{"iss":"'"$id"'","sub":"'"$id"'","aud":"'"$(endpoint auth_url)/BANKA"'","jti":"'"$(uuid)"'","iat":'"$now"',"exp":'$((now + 60))'}'
}

# The proof's key may be any: the shop's signing key saves making one.
dpop_proof() {
  local modulus
  modulus=$(openssl rsa -in "$(signing_key)" -noout -modulus | sed 's/.*=//; s/../\\x&/g')
  modulus=$(printf '%b' "$modulus" | base64url)
  jws '{"typ":"dpop+jwt","alg":"PS256","jwk":{"kty":"RSA","e":"AQAB","n":"'"$modulus"'"}}' \
    '{"jti":"'"$(uuid)"'","htm":"'"$1"'","htu":"'"$2"'","iat":'"$(date +%s)"'}'
}

# jws HEADER PAYLOAD: PS256 by the shop's signing key.
jws() {
  local input
  input=$(printf '%s' "$1" | base64url).$(printf '%s' "$2" | base64url)
  printf '%s.%s' "$input" "$(printf '%s' "$input" | openssl dgst -sha256 -sigopt rsa_padding_mode:pss \
    -sigopt rsa_pss_saltlen:32 -sign "$(signing_key)" -binary | base64url)"
}

signing_key() {
  printf '%s' "$SANDBOX_DIR/participants/shop/signing.key.pem"
}

base64url() {
  openssl base64 -A | tr '+/' '-_' | tr -d '='
}

uuid() {
  cat /proc/sys/kernel/random/uuid
}
