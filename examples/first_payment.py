"""A first payment by a TPP of your own, in Python, in one file without project code: take it and grow it.

Needs a running sandbox and the folder of an onboarded participant (README "A payment in five minutes"), and the
packages jwcrypto and requests: `apt install python3-jwcrypto python3-requests` or `pip install jwcrypto requests`.
"""

import base64
import hashlib
import http.server
import json
import os
import secrets
import sys
import time
import urllib.parse
import uuid

import requests
from jwcrypto import jwk, jws, jwt

SIGNED_HEADERS = [f"http://openbanking.org.uk/{name}" for name in ("iat", "iss", "tan")]
INITIATION = {
    "InstructedAmount": {"Amount": "4.20", "Currency": "EUR"},
    "CreditorAccount": {
        "SchemeName": "UK.OBIE.IBAN",
        "Identification": "FR1420041010050500013M02606",
        "Name": "Company Limited",
    },
    "RemittanceInformation": {"Reference": "FIRST-PAYMENT"},
}


def main(folder, bank="BANKA", outcome=None):
    tpp = Tpp(folder, os.environ.get("SANDBOX_DIR", ".data/sandbox"), bank)
    tpp.register()
    own = tpp.token({"grant_type": "client_credentials", "scope": "payments"})
    consent = tpp.post("/domestic-payment-consents/v1", own, {"Data": {"Initiation": INITIATION}, "Risk": {}})
    consent_id = consent["Data"]["ConsentId"]
    print(f"consent {consent_id}: {consent['Data']['Status']}", flush=True)
    code, code_verifier = tpp.authorize(consent_id, outcome)
    token = tpp.token({
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": tpp.redirect_uri,
        "code_verifier": code_verifier,
    })
    order = {"Data": {"ConsentId": consent_id, "Initiation": INITIATION}, "Risk": {}}
    payment = tpp.post("/domestic-payments/v1", token, order)
    if payment["Data"]["ConsentId"] != consent_id:
        sys.exit("The answer is about another consent.")
    payment_id = payment["Data"]["DomesticPaymentId"]
    print(f"payment {payment_id}: {payment['Data']['Status']}", flush=True)
    print(f"status now: {tpp.get(f'/domestic-payments/v1/{payment_id}', own)['Data']['Status']}")
    tpp.print_events(own, consent_id, payment_id)


class Tpp:
    """The participant's folder, its mutual TLS connection, and one bank of the platform."""

    def __init__(self, folder, sandbox, bank):
        self.folder = folder
        self.me = json.loads(read(f"{folder}/participant.json", "Onboard with: task participant onboard."))
        self.endpoints = json.loads(read(f"{sandbox}/endpoints.json", "Start the sandbox, or set SANDBOX_DIR."))
        self.http = requests.Session()
        self.http.trust_env = False  # a proxy or REQUESTS_CA_BUNDLE of the environment would replace what follows
        self.http.verify = f"{sandbox}/ca.pem"
        self.http.cert = (f"{folder}/transport.cert.pem", f"{folder}/transport.key.pem")
        self.signing_key = jwk.JWK.from_pem(read(f"{folder}/signing.key.pem").encode())
        self.dpop_key = jwk.JWK.generate(kty="RSA", size=2048)
        self.bank = bank
        self.api = f"{self.endpoints['base_url']}/{bank}"
        self.redirect_uri = self.me["redirect_uris"][0]
        issuer = f"{self.endpoints['auth_url']}/{bank}"
        found = requests.get(f"{self.endpoints['auth_url']}/.well-known/oauth-authorization-server/{bank}", timeout=30)
        if found.status_code == 404:
            sys.exit(f"No bank has the code {bank}. In a sandbox there are BANKA and BANKB.")
        self.server = body_of(found)
        if self.server["issuer"] != issuer:
            sys.exit(f"The metadata of {issuer} names another issuer.")
        self.platform_keys = jwk.JWKSet.from_json(requests.get(self.server["jwks_uri"], timeout=30).text)

    def register(self):
        """Registers the client with its software statement, unchanged, in a JWT that it signs."""
        statement = read(f"{self.folder}/{self.me['software_client_id']}.jks").strip()
        body = self.sign({"typ": "JWT"}, {
            "iss": self.me["org_name"],
            "aud": self.endpoints["registration_audience"],
            "redirect_uris": self.me["redirect_uris"],
            "token_endpoint_auth_method": "private_key_jwt",
            "grant_types": ["client_credentials", "authorization_code"],
            "scope": "payments",
            "software_statement": statement,
            "application_type": "web",
        })
        url = f"{self.endpoints['base_url']}/register/v1"
        answer = self.http.post(url, data=body, headers={"Content-Type": "application/jose"}, timeout=30)
        # 400: registered before with this statement
        said = answer.json() if answer.status_code < 500 else body_of(answer)
        print(f"register: {answer.status_code} {said.get('client_id') or said.get('error_description')}", flush=True)

    def token(self, grant):
        """Returns an access token that is bound to the DPoP key (RFC 9449 §5)."""
        return self.ask_server(self.server["token_endpoint"], grant)["access_token"]

    def authorize(self, consent_id, outcome):
        """Sends the customer to the platform; returns the code with its PKCE verifier (RFC 7636)."""
        code_verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(16)
        pushed = self.ask_server(self.server["pushed_authorization_request_endpoint"], {
            "response_type": "code",
            "redirect_uri": self.redirect_uri,
            "code_challenge": b64url(hashlib.sha256(code_verifier.encode()).digest()),
            "code_challenge_method": "S256",
            "consent_id": consent_id,
            "scope": "payments",
            "state": state,
        })
        query = {"client_id": self.me["client_id"], "request_uri": pushed["request_uri"]}
        if outcome is None:
            print("open this and log in as alice / sandbox, one-time code 123456:")
            print(f"{self.server['authorization_endpoint']}?{urllib.parse.urlencode(query)}", flush=True)
            answer = wait_for_customer(self.redirect_uri)
        else:
            answer = self.send_headless_customer({**query, "bank": self.bank, "outcome": outcome})
        # Another server's answer, or that of another customer, must not be used (RFC 9207, RFC 9700 §4.7).
        if answer.get("state") != state or answer.get("iss") != self.server["issuer"]:
            sys.exit("This is not the answer to the request that was sent. No payment was made.")
        if "code" not in answer:
            sys.exit("The customer came back without consent: "
                     f"{answer.get('error')}, {answer.get('error_description')} No payment was made.")
        return answer["code"], code_verifier

    def send_headless_customer(self, plan):
        """In a sandbox alone, a customer needs no browser to approve, refuse, be late or fail."""
        back = body_of(requests.post(f"{self.endpoints['banks_url']}/authorizations", json=plan, timeout=30))
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back["redirect_url"]).query))

    def print_events(self, token, consent_id, payment_id):
        """Polls the TPP's events of this bank until those of the payment are there (RFC 8936).

        Your program stores an event before it acknowledges it. Until then each poll returns it again.
        """
        received, is_found = [], False
        for _ in range(10):
            sets = self.call("POST", "/events/v1", token, {"ack": received, "maxEvents": 50})["sets"]
            received = list(sets)
            for claims in map(self.verified_event, sets.values()):
                resource_id = claims["sub"].rpartition("/")[2]
                is_found = is_found or resource_id == payment_id
                for name, content in claims["events"].items():
                    if "status" in content and resource_id in (consent_id, payment_id):
                        print(f"event {name.rpartition('/')[2]}: {content['status']}")
            if is_found:
                self.call("POST", "/events/v1", token, {"ack": received, "maxEvents": 0})
                return
        sys.exit(f"No event of payment {payment_id} came.")

    def verified_event(self, token):
        """Returns the claims of a security event token (RFC 8417) of this bank for this TPP."""
        header, claims = self.verify(*token.split("."))
        claims = json.loads(claims)
        if (header.get("typ"), claims["iss"], claims["aud"]) != (
                "secevent+jwt", self.server["issuer"], self.me["client_id"]):
            sys.exit("An event has another typ, is of another bank or for another TPP.")
        return claims

    def ask_server(self, url, fields):
        """Sends a request to the authorization server, authenticated by private_key_jwt (RFC 7523 §3)."""
        client_id = self.me["client_id"]
        claims = {"iss": client_id, "sub": client_id, "aud": self.server["issuer"]}
        answer = self.http.post(url, headers={"DPoP": self.proof("POST", url)}, timeout=30, data={
            "client_id": client_id,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": self.sign({}, claims),
            **fields,
        })
        return body_of(answer)

    def get(self, path, token):
        return self.call("GET", path, token)

    def post(self, path, token, content):
        """Sends a signed request, with an idempotency key."""
        return self.call("POST", path, token, content, str(uuid.uuid4()))

    def call(self, method, path, token, content=None, idempotency_key=None):
        """Asks a resource endpoint, and again if no answer comes.

        The idempotency key stays the same, so that at most one payment is made. Each attempt has a new DPoP proof,
        because a proof is used once.
        """
        url = f"{self.api}{path}"
        data = None if content is None else json.dumps(content).encode()
        for attempt in range(1, 5):
            headers = {
                "Authorization": f"DPoP {token}",
                "DPoP": self.proof(method, url, token),
                "Content-Type": "application/json",
            }
            if idempotency_key is not None:
                headers["x-idempotency-key"] = idempotency_key
                headers["x-jws-signature"] = self.detached_signature(data)
            try:
                answer = self.http.request(method, url, data=data, timeout=30, headers=headers)
                if attempt == 4 or answer.status_code < 500 and answer.status_code != 429:
                    break
                pause = answer.headers.get("Retry-After", "")
            except requests.RequestException:
                if attempt == 4:
                    raise
                pause = ""
            time.sleep(min(int(pause), 30) if pause.isdecimal() else attempt)
        body = body_of(answer)
        self.verify_answer(answer)
        return body

    def verify_answer(self, answer):
        """Verifies the platform's signature over the bytes received. It leaves the payload out (RFC 7515 appendix F).

        With b64 false it covers the payload as it is (RFC 7797), as in answers to requests without a signature.
        """
        protected, _, signature = answer.headers.get("x-jws-signature", "").partition("..")
        is_raw = header_of(protected).get("b64") is False
        self.verify(protected, answer.content.decode() if is_raw else b64url(answer.content), signature)

    def verify(self, protected, payload, signature):
        """Returns header and payload of a PS256 signature by the platform's key that kid names."""
        header = header_of(protected)
        token = jws.JWS(header_registry=known_headers())
        token.allowed_algs = ["PS256"]
        try:
            if ("b64" in header) != ("b64" in header.get("crit", [])):  # jwcrypto does not look (RFC 7797 §6)
                raise jws.InvalidJWSSignature("b64 is not critical")
            token.deserialize(json.dumps({"protected": protected, "payload": payload, "signature": signature}))
            token.verify(self.platform_keys.get_key(header.get("kid")))
        except (jws.InvalidJWSObject, jws.InvalidJWSSignature):
            sys.exit("The signature of the platform's answer is wrong. Do not use the answer.")
        return header, token.payload

    def sign(self, header, claims):
        header = {"alg": "PS256", "kid": self.me["signing_kid"], **header}
        issued = {"jti": str(uuid.uuid4()), "iat": self.now(), "exp": self.now() + 300}
        return signed(self.signing_key, header, {**claims, **issued})

    def proof(self, method, url, token=None):
        """Proves possession of the DPoP key for one request (RFC 9449 §4.2)."""
        header = {"alg": "PS256", "typ": "dpop+jwt", "jwk": self.dpop_key.export_public(as_dict=True)}
        claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": self.now()}
        if token is not None:
            claims["ath"] = b64url(hashlib.sha256(token.encode()).digest())
        return signed(self.dpop_key, header, claims)

    def detached_signature(self, data):
        """Signs exactly the bytes that are sent; the payload is left out of the signature (RFC 7515 appendix F)."""
        me = self.me
        values = [self.now(), f"{me['org_id']}/{me['software_client_id']}",
                  urllib.parse.urlsplit(self.endpoints["directory_url"]).netloc]
        header = {"alg": "PS256", "kid": me["signing_kid"], **dict(zip(SIGNED_HEADERS, values)),
                  "crit": SIGNED_HEADERS}
        signature = jws.JWS(data, header_registry=known_headers())
        signature.add_signature(self.signing_key, protected=json.dumps(header))
        protected, _, value = signature.serialize(compact=True).split(".")
        return f"{protected}..{value}"

    def now(self):
        """The sandbox's time, which can be moved ahead. Outside of sandboxes it is this computer's own."""
        try:
            asked = requests.get(f"{self.endpoints['directory_url']}/sandbox/clock", timeout=5).json()
            return int(time.time()) + round(asked.get("ahead_seconds", 0))
        except (requests.RequestException, ValueError):
            return int(time.time())


def signed(key, header, claims):
    token = jwt.JWT(header=header, claims=claims)
    token.make_signed_token(key)
    return token.serialize()


def known_headers():
    """The headers that a signature may have in crit (RFC 7515 §4.1.11)."""
    return {name: jws.JWSEHeaderParameter(name, False, True, None) for name in SIGNED_HEADERS}


def header_of(protected):
    try:
        return json.loads(base64.urlsafe_b64decode(protected + "=" * (-len(protected) % 4)))
    except ValueError:
        return {}


def body_of(answer):
    if answer.status_code not in (200, 201):
        # A 401 of a resource says what was wrong in this header (RFC 9449 §7.1).
        why = answer.text or answer.headers.get("WWW-Authenticate")
        sys.exit(f"{answer.request.method} {answer.url} was rejected: HTTP {answer.status_code} {why}")
    return answer.json()


def wait_for_customer(redirect_uri):
    """Listens at the redirect URL until the customer's browser comes back; returns the query."""
    address = urllib.parse.urlsplit(redirect_uri)
    query = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            url = urllib.parse.urlsplit(self.path)
            found = url.path == address.path
            if found:
                query.update(urllib.parse.parse_qsl(url.query))
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(b"Thank you. You can close this window." if found else b"not here")

        def log_message(self, *_):
            """Prints nothing: the query has the code."""

    with http.server.HTTPServer(("127.0.0.1", address.port), Handler) as listener:
        while not query:
            listener.handle_request()
    return query


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read(path, advice=""):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        sys.exit(f"{path} cannot be read: {error.strerror}. {advice}".strip())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        print("usage: first_payment.py <participant folder> [bank code, else BANKA] [outcome]", file=sys.stderr)
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except requests.RequestException as error:
        sys.exit(f"No answer: {error}\nStart the sandbox (npx -y deno@2.9.6 task start), or set SANDBOX_DIR.")
