#!/usr/bin/env bash
# A first payment by a TPP of your own with bash (4.4 or later), curl, openssl (3) and jq, in one file without project
# code: take it and grow it. Needs a running sandbox and the folder of an onboarded participant (README "A payment in
# five minutes").
set -euo pipefail
shopt -s inherit_errexit
umask 077 # keys and tokens are kept in files while it runs, and never in arguments, which other users can read
exec 3>&1 # for what the customer reads while a function's output is captured

SIGNED_HEADERS='["http://openbanking.org.uk/iat", "http://openbanking.org.uk/iss", "http://openbanking.org.uk/tan"]'
INITIATION='{
  "InstructedAmount": { "Amount": "4.20", "Currency": "EUR" },
  "CreditorAccount": {
    "SchemeName": "UK.OBIE.IBAN",
    "Identification": "FR1420041010050500013M02606",
    "Name": "Company Limited"
  },
  "RemittanceInformation": { "Reference": "FIRST-PAYMENT" }
}'

main() {
  local consent consent_id payment payment_id
  read_configuration
  register

  ask_for_token own grant_type=client_credentials scope=payments
  jq -n --argjson initiation "$INITIATION" '{Data: {Initiation: $initiation}, Risk: {}}' >"$work/body"
  consent=$(call POST domestic-payment-consents/v1 own 201 "$(uuid)")
  consent_id=$(jq -r .Data.ConsentId <<<"$consent")
  echo "consent $consent_id: $(jq -r .Data.Status <<<"$consent")"

  authorize "$consent_id"
  ask_for_token payment grant_type=authorization_code "code=$code" "redirect_uri=$redirect_uri" \
    "code_verifier=$code_verifier"
  jq -n --arg id "$consent_id" --argjson initiation "$INITIATION" \
    '{Data: {ConsentId: $id, Initiation: $initiation}, Risk: {}}' >"$work/body"
  payment=$(call POST domestic-payments/v1 payment 201 "$(uuid)")
  [[ $(jq -r .Data.ConsentId <<<"$payment") == "$consent_id" ]] || stop "The answer is about another consent."
  payment_id=$(jq -r .Data.DomesticPaymentId <<<"$payment")
  echo "payment $payment_id: $(jq -r .Data.Status <<<"$payment")"

  payment=$(call GET "domestic-payments/v1/$payment_id" own 200)
  echo "status now: $(jq -r .Data.Status <<<"$payment")"
  print_events "$consent_id" "$payment_id"
}

# Reads who the TPP is, where the platform is, its keys, and what it offers for this bank (RFC 8414).
read_configuration() {
  client_id=$(member client_id) kid=$(member signing_kid) redirect_uri=$(member 'redirect_uris[0]')
  base_url=$(endpoint base_url) directory_url=$(endpoint directory_url)
  issuer=$(endpoint auth_url)/$bank
  read_clock
  send "$(endpoint auth_url)/.well-known/oauth-authorization-server/$bank" </dev/null
  [ "$status" != 404 ] || stop "No bank has the code $bank. In a sandbox there are BANKA and BANKB."
  must_be 200 GET "$issuer"
  mv "$work/answer" "$work/server"
  [ "$(server issuer)" = "$issuer" ] || stop "The metadata of $issuer names another issuer."
  send "$(server jwks_uri)" </dev/null
  must_be 200 GET "$(server jwks_uri)"
  mv "$work/answer" "$work/keys"
  openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$work/dpop.pem"
  dpop_n=$(openssl rsa -in "$work/dpop.pem" -noout -modulus | sed 's/.*=//; s/../\\x&/g')
  dpop_n=$(printf %b "$dpop_n" | base64url)
}

# Registers the client with its software statement, unchanged, in a JWT that it signs.
register() {
  local claims url=$base_url/register/v1
  claims=$(jq --arg aud "$(endpoint registration_audience)" --rawfile statement "$folder/$client_id.jks" '{
    iss: .org_name,
    aud: $aud,
    redirect_uris,
    token_endpoint_auth_method: "private_key_jwt",
    grant_types: ["client_credentials", "authorization_code"],
    scope: "payments",
    software_statement: ($statement | rtrimstr("\n")),
    application_type: "web"
  }' "$folder/participant.json")
  signed_jwt "$claims" >"$work/body"
  send_over_mtls "$url" <<<"data-binary = @$work/body
    header = Content-Type:application/jose"
  case $status in 4??) ;; *) must_be 201 POST "$url" ;; esac # 400: registered before with this statement
  echo "register: $status $(jq -r '.client_id // .error_description' "$work/answer")"
}

# ask_for_token NAME FIELD...: gets an access token that is bound to the DPoP key (RFC 9449 §5).
ask_for_token() {
  ask_server "$(server token_endpoint)" 200 "${@:2}"
  jq -r .access_token "$work/answer" >"$work/$1.token"
}

# authorize CONSENT-ID: sends the customer to the platform. Sets code, and code_verifier (RFC 7636).
authorize() {
  local state request_uri answer
  code_verifier=$(openssl rand 32 | base64url)
  state=$(openssl rand 16 | base64url)
  ask_server "$(server pushed_authorization_request_endpoint)" 201 response_type=code "redirect_uri=$redirect_uri" \
    "code_challenge=$(sha256_of "$code_verifier")" code_challenge_method=S256 \
    "consent_id=$1" scope=payments "state=$state"
  request_uri=$(jq -r .request_uri "$work/answer")
  if [ -n "$outcome" ]; then
    answer=$(send_headless_customer "$request_uri")
  else
    answer=$(send_customer "$request_uri")
  fi
  # Another server's answer, or that of another customer, must not be used (RFC 9207, RFC 9700 §4.7).
  if [ "$(parameter state "$answer")" != "$state" ] || [ "$(parameter iss "$answer")" != "$issuer" ]; then
    stop "This is not the answer to the request that was sent. No payment was made."
  fi
  code=$(parameter code "$answer")
  read_clock # the customer took some time
  [ -n "$code" ] || stop "The customer came back without consent:" \
    "$(parameter error "$answer"), $(parameter error_description "$answer") No payment was made."
}

# send_customer REQUEST-URI: a shell cannot listen at the redirect URL. Prints the address that the customer brings back.
send_customer() {
  local answer
  echo "open this and log in as alice / sandbox, one-time code 123456:
$(server authorization_endpoint)?client_id=$client_id&request_uri=$(jq -rn --arg uri "$1" '$uri | @uri')
then paste the address to which the browser was sent, $redirect_uri?..." >&3
  read -r answer || stop "No address was pasted. No payment was made."
  printf %s "$answer"
}

# send_headless_customer REQUEST-URI: in a sandbox alone, a customer needs no browser to approve, refuse, be late or fail.
send_headless_customer() {
  local url
  url=$(endpoint banks_url)/authorizations
  jq -n --arg bank "$bank" --arg client_id "$client_id" --arg request_uri "$1" --arg outcome "$outcome" '$ARGS.named' \
    >"$work/body"
  send "$url" <<<"data-binary = @$work/body
    header = Content-Type:application/json"
  must_be 200 POST "$url"
  jq -r .redirect_url "$work/answer"
}

# print_events CONSENT-ID PAYMENT-ID: polls the TPP's events of this bank until those of the payment are there (RFC 8936).
# Your program stores an event before it acknowledges it. Until then each poll returns it again.
print_events() {
  local received=[] events token found=
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    jq -n --argjson ack "$received" '{ack: $ack, maxEvents: 50}' >"$work/body"
    events=$(call POST events/v1 own 200)
    for token in $(jq -r '.sets[]' <<<"$events"); do
      verified_event "$token" >"$work/event"
      case $(jq -r .sub "$work/event") in
        */"$2") found=yes ;;
        */"$1") ;;
        *) continue ;; # of another payment
      esac
      jq -r '.events | to_entries[] | select(.value.status) | "event \(.key | split("/")[-1]): \(.value.status)"' \
        "$work/event"
    done
    received=$(jq '.sets | keys' <<<"$events")
    [ -z "$found" ] || break
  done
  [ -n "$found" ] || stop "No event of payment $2 came."
  jq -n --argjson ack "$received" '{ack: $ack, maxEvents: 0}' >"$work/body"
  call POST events/v1 own 200 >/dev/null
}

# verified_event TOKEN: prints the claims of a security event token (RFC 8417) of this bank for this TPP.
verified_event() {
  local header claims signature
  IFS=. read -r header claims signature <<<"$1"
  printf %s "$header.$claims" >"$work/input"
  verify "$header" "$signature"
  base64url_decode <<<"$header" | jq -e '.typ == "secevent+jwt"' >/dev/null || stop "An event has another typ."
  base64url_decode <<<"$claims" | jq -e --arg iss "$issuer" --arg aud "$client_id" \
    'select(.iss == $iss and .aud == $aud)' || stop "An event is of another bank or for another TPP."
}

# ask_server URL STATUS FIELD...: asks the authorization server, authenticated by private_key_jwt (RFC 7523 §3).
ask_server() {
  local claims assertion proof field
  claims=$(jq -n --arg id "$client_id" --arg aud "$issuer" '{iss: $id, sub: $id, aud: $aud}')
  assertion=$(signed_jwt "$claims")
  proof=$(dpop_proof POST "$1")
  for field in "${@:3}" "client_id=$client_id" "client_assertion=$assertion" \
    client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer; do
    printf 'data-urlencode = %s\n' "$(quoted "$field")"
  done >"$work/form"
  send_over_mtls "$1" <<<"header = DPoP:$proof
$(cat "$work/form")"
  must_be "$2" POST "$1"
}

# quoted TEXT: one value of curl's options. The code comes from outside, and must not become further options.
quoted() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"} text=${text//$'\n'/\\n} text=${text//$'\r'/\\r}
  printf '"%s"' "$text"
}

# call METHOD PATH TOKEN STATUS [IDEMPOTENCY-KEY]: asks a resource endpoint and prints the answer. A POST sends
# $work/body. If no answer comes, it asks again with the same idempotency key, so that at most one payment is made.
# Each attempt has a new DPoP proof, because a proof is used once.
call() {
  local url=$base_url/$bank/$2 token attempt pause signature
  token=$(cat "$work/$3.token")
  for attempt in 1 2 3 4; do
    printf 'header = "%s"\n' "Authorization: DPoP $token" "DPoP: $(dpop_proof "$1" "$url" "$token")" >"$work/request"
    if [ "$1" = POST ]; then
      printf '%s\n' "data-binary = @$work/body" "header = Content-Type:application/json" >>"$work/request"
    fi
    if [ $# -eq 5 ]; then
      signature=$(detached_signature "$work/body")
      printf '%s\n' "header = x-idempotency-key:$5" "header = x-jws-signature:$signature" >>"$work/request"
    fi
    send_over_mtls "$url" <"$work/request"
    case $status in 000 | 429 | 5??) ;; *) break ;; esac
    pause=$(received retry-after)
    [ "$attempt" -eq 4 ] || sleep "${pause:-$attempt}"
  done
  must_be "$4" "$1" "$url"
  verify_answer
  cat "$work/answer"
}

# Verifies the platform's signature over the bytes received, before they are read. It leaves the payload out (RFC 7515
# appendix F). With b64 false it covers the payload as it is (RFC 7797), as in answers to requests without a signature.
verify_answer() {
  local signature header
  signature=$(received x-jws-signature)
  header=${signature%%.*}
  if base64url_decode <<<"$header" | jq -e '.b64 == false' >/dev/null 2>&1; then
    printf %s. "$header" | cat - "$work/answer" >"$work/input"
  else
    printf %s "$header.$(base64url <"$work/answer")" >"$work/input"
  fi
  verify "$header" "${signature##*.}"
}

# verify HEADER SIGNATURE: stops if this is not a PS256 signature over $work/input by the platform's key that kid names.
# The names in crit must be those that this program knows (RFC 7515 §4.1.11).
verify() {
  local key n e
  key=$(base64url_decode <<<"$1" | jq -c --slurpfile keys "$work/keys" --argjson known "$SIGNED_HEADERS" '
    . as $header | (.crit // []) as $crit |
    select(.alg == "PS256" and $crit - $known - ["b64"] == [] and (has("b64") == ($crit | contains(["b64"])))) |
    $keys[0].keys[] | select(.kid == $header.kid and .use == "sig")' 2>/dev/null) || key=
  [ -n "$key" ] || stop "The platform's answer is not signed as it must be, by a key of $(server jwks_uri)."
  n=$(jq -r .n <<<"$key" | base64url_decode | hex) e=$(jq -r .e <<<"$key" | base64url_decode | hex)
  printf 'asn1=SEQUENCE:key\n[key]\nn=INTEGER:0x%s\ne=INTEGER:0x%s\n' "$n" "$e" >"$work/key.conf"
  openssl asn1parse -genconf "$work/key.conf" -noout -out "$work/key.der"
  openssl rsa -RSAPublicKey_in -inform DER -in "$work/key.der" -pubout -out "$work/key.pem" 2>/dev/null
  base64url_decode <<<"$2" >"$work/signature"
  openssl dgst -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32 -verify "$work/key.pem" \
    -signature "$work/signature" "$work/input" >/dev/null 2>&1 ||
    stop "The signature of the platform's answer is wrong. Do not use the answer."
}

# detached_signature FILE: signs exactly the bytes that are sent, and leaves them out (RFC 7515 appendix F).
detached_signature() {
  local header
  header=$(jq -n --arg kid "$kid" --argjson names "$SIGNED_HEADERS" --argjson iat "$(now)" \
    --arg iss "$(member org_id)/$client_id" --arg tan "${directory_url#*//}" \
    '{alg: "PS256", kid: $kid, crit: $names} + ([$names, [$iat, $iss, $tan]] | transpose | map({(.[0]): .[1]}) | add)')
  jws "$folder/signing.key.pem" "$header" <"$1" | sed 's/\..*\./../'
}

# signed_jwt CLAIMS: signed by the TPP, with an id of its own, for five minutes.
signed_jwt() {
  jq -c --arg jti "$(uuid)" --argjson now "$(now)" '. + {jti: $jti, iat: $now, exp: ($now + 300)}' <<<"$1" |
    jws "$folder/signing.key.pem" '{"alg":"PS256","typ":"JWT","kid":"'"$kid"'"}'
}

# dpop_proof METHOD URL [TOKEN]: proves possession of the DPoP key for one request (RFC 9449 §4.2).
dpop_proof() {
  local ath=null
  [ $# -lt 3 ] || ath="\"$(sha256_of "$3")\""
  jq -n --arg jti "$(uuid)" --arg htm "$1" --arg htu "$2" --argjson iat "$(now)" --argjson ath "$ath" \
    '$ARGS.named | with_entries(select(.value != null))' |
    jws "$work/dpop.pem" '{"alg":"PS256","typ":"dpop+jwt","jwk":{"kty":"RSA","n":"'"$dpop_n"'","e":"AQAB"}}'
}

# jws KEY-FILE HEADER: signs the payload on standard input with PS256.
jws() {
  local input
  input=$(printf %s "$2" | base64url).$(base64url)
  printf %s "$input." && printf %s "$input" | openssl dgst -sha256 -sigopt rsa_padding_mode:pss \
    -sigopt rsa_pss_saltlen:32 -sign "$1" -binary | base64url
}

# Asks for the sandbox's time, which can be moved ahead. Outside of sandboxes it is this computer's own.
read_clock() {
  ahead=$(curl --silent --max-time 5 "$directory_url/sandbox/clock" | jq '.ahead_seconds | round' 2>/dev/null) || ahead=0
}

now() { echo $(($(printf '%(%s)T' -1) + ahead)); }

# send URL [CURL-OPTION...]: further options come from standard input. Sets status; 000 means that no answer came.
send() {
  local said
  rm -f "$work/answer"
  said=$(curl --silent --max-time 30 --noproxy localhost,127.0.0.1 --config - "${@:2}" --dump-header "$work/headers" \
    --output "$work/answer" --write-out '%{http_code} %{errormsg}' "$1") || said="000 ${said#* }"
  status=${said%% *} problem=${said#* }
}

send_over_mtls() {
  send "$1" --cacert "$sandbox/ca.pem" --cert "$folder/transport.cert.pem" --key "$folder/transport.key.pem"
}

# must_be STATUS METHOD URL: stops if the last answer has another status.
must_be() {
  local why
  [ "$status" != 000 ] || stop "No answer from $3: $problem
Start the sandbox (npx -y deno@2.9.6 task start), or set SANDBOX_DIR."
  [ "$status" = "$1" ] && return
  why=$(cat "$work/answer" 2>/dev/null) || true
  # A 401 of a resource says what was wrong in this header (RFC 9449 §7.1).
  stop "$2 $3 was rejected: HTTP $status ${why:-$(received www-authenticate)}"
}

stop() {
  printf '%s\n' "$*" >&2
  exit 1
}

member() { jq -r ".$1" "$folder/participant.json"; }
endpoint() { jq -r ".$1" "$sandbox/endpoints.json"; }
server() { jq -r ".$1" "$work/server"; }
received() { grep -i "^$1:" "$work/headers" | sed 's/^[^:]*: *//' | tr -d '\r' || true; }
base64url() { openssl base64 -A | sed 's/=*$//; y|+/|-_|'; }
sha256_of() { printf %s "$1" | openssl dgst -sha256 -binary | base64url; }
hex() { od -An -v -tx1 | tr -d ' \n'; }
uuid() { openssl rand -hex 16 | sed 's/^\(.\{8\}\)\(.\{4\}\).\(...\).\(...\)/\1-\2-4\3-8\4-/'; }

# parameter NAME URL: prints the parameter of the URL's query, or nothing.
parameter() {
  local pair query=${2#*\?}
  while [ -n "$query" ]; do
    pair=${query%%&*} query=${query#"${query%%&*}"} query=${query#&}
    [ "${pair%%=*}" != "$1" ] || { pair=${pair#*=} && printf %b "$(sed 's/+/ /g; s/%/\\x/g' <<<"$pair")"; }
  done
}

base64url_decode() {
  local text
  text=$(tr -- -_ +/)
  while [ $((${#text} % 4)) -gt 0 ]; do text="$text="; done
  printf %s "$text" | openssl base64 -d -A
}

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  echo "usage: first_payment.sh <participant folder> [bank code, else BANKA] [outcome]" >&2
  exit 2
fi
folder=$1 bank=${2:-BANKA} outcome=${3:-} sandbox=${SANDBOX_DIR:-.data/sandbox}
for tool in curl openssl jq; do
  command -v "$tool" >/dev/null || stop "$tool is missing: install it."
done
[ -r "$folder/participant.json" ] ||
  stop "$folder/participant.json cannot be read. Onboard with: task participant onboard."
[ -r "$sandbox/endpoints.json" ] ||
  stop "$sandbox/endpoints.json cannot be read. Start the sandbox, or set SANDBOX_DIR."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
main
