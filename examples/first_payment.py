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


def main(folder, bank="BANKA"):
    tpp = Tpp(folder, os.environ.get("SANDBOX_DIR", ".data/sandbox"), bank)
    tpp.register()
    token = tpp.token({"grant_type": "client_credentials", "scope": "payments"})
    consent = tpp.post("/domestic-payment-consents/v1", token, {"Data": {"Initiation": INITIATION}, "Risk": {}})
    consent_id = consent["Data"]["ConsentId"]
    print(f"consent {consent_id}: {consent['Data']['Status']}", flush=True)
    code, code_verifier = tpp.authorize(consent_id)
    token = tpp.token({
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": tpp.redirect_uri,
        "code_verifier": code_verifier,
    })
    order = {"Data": {"ConsentId": consent_id, "Initiation": INITIATION}, "Risk": {}}
    payment = tpp.post("/domestic-payments/v1", token, order)
    print(f"payment {payment['Data']['DomesticPaymentId']}: {payment['Data']['Status']}")


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
        self.api = f"{self.endpoints['base_url']}/{bank}"
        self.redirect_uri = self.me["redirect_uris"][0]
        issuer = f"{self.endpoints['auth_url']}/.well-known/oauth-authorization-server/{bank}"
        found = requests.get(issuer, timeout=30)
        if found.status_code == 404:
            sys.exit(f"No bank has the code {bank}. In a sandbox there are BANKA and BANKB.")
        self.server = found.json()

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
        said = answer.json()
        # 400: registered before with this statement
        print(f"register: {answer.status_code} {said.get('client_id') or said.get('error_description')}", flush=True)

    def token(self, grant):
        """Returns an access token that is bound to the DPoP key (RFC 9449 §5)."""
        return self.ask_server(self.server["token_endpoint"], grant)["access_token"]

    def authorize(self, consent_id):
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
        print("open this and log in as alice / sandbox, one-time code 123456:")
        print(f"{self.server['authorization_endpoint']}?{urllib.parse.urlencode(query)}", flush=True)
        answer = wait_for_customer(self.redirect_uri)
        # Another server's answer, or that of another customer, must not be used (RFC 9207, RFC 9700 §4.7).
        if answer.get("state") != state or answer.get("iss") != self.server["issuer"]:
            sys.exit("This is not the answer to the request that was sent. No payment was made.")
        if "code" not in answer:
            sys.exit("The customer came back without consent: "
                     f"{answer.get('error')}, {answer.get('error_description')}. No payment was made.")
        return answer["code"], code_verifier

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

    def post(self, path, token, content):
        """Sends a signed request to a resource endpoint, with an idempotency key."""
        url = f"{self.api}{path}"
        data = json.dumps(content).encode()
        answer = self.http.post(url, data=data, timeout=30, headers={
            "Authorization": f"DPoP {token}",
            "DPoP": self.proof("POST", url, token),
            "Content-Type": "application/json",
            "x-idempotency-key": str(uuid.uuid4()),
            "x-jws-signature": self.detached_signature(data),
        })
        return body_of(answer)

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
        known = {name: jws.JWSEHeaderParameter(name, False, True, None) for name in SIGNED_HEADERS}
        signature = jws.JWS(data, header_registry=known)
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
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: first_payment.py <participant folder> [bank code, else BANKA]")
    try:
        main(*sys.argv[1:])
    except requests.ConnectionError as error:
        sys.exit(f"No answer: {error}\nStart the sandbox (npx -y deno@2.9.6 task start), or set SANDBOX_DIR.")
