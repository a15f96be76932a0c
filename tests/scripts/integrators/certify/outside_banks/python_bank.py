"""A bank written from docs/bank.md alone. Its consent screen is its own. Needs jwcrypto and requests."""

import base64
import hashlib
import json
import os
import threading
import time
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import requests
from jwcrypto import jwe, jwk, jws

FOLDER, SANDBOX, HOOK = (os.environ[name] for name in ("PARTICIPANT", "SANDBOX_DIR", "CERTIFICATION_HOOK"))
COOLDOWN = float(os.environ.get("KEY_COOLDOWN", "30"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


ME, AT = json.loads(read(f"{FOLDER}/participant.json")), json.loads(read(f"{SANDBOX}/endpoints.json"))
CODE, AUTH, API = ME["org_id"], AT["auth_url"], f"{AT['base_url']}/{ME['org_id']}"
HOME = urlsplit(ME["redirect_uris"][0])
SIGNING = jwk.JWK.from_pem(read(f"{FOLDER}/signing.key.pem").encode())
OPENING = jwk.JWK.from_pem(read(f"{FOLDER}/encryption.key.pem").encode())
DPOP = jwk.JWK.generate(kty="RSA", size=2048)
HTTP = requests.Session()
HTTP.trust_env, HTTP.verify = False, f"{SANDBOX}/ca.pem"
HTTP.cert = (f"{FOLDER}/transport.cert.pem", f"{FOLDER}/transport.key.pem")
ACCOUNTS = [("GB33BUKB20201555555555", Decimal(1500)), ("GB82WEST12345698765432", Decimal(25))]
BALANCES, VISITS, SEEN, ORDERS, LOCK = dict(ACCOUNTS), {}, set(), {}, threading.Lock()
KEYS = {"read": float("-inf"), "keys": []}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(claims, header=None, key=SIGNING):
    now = int(time.time())
    whole = {"iat": now, "nbf": now, "exp": now + 300, "jti": str(uuid.uuid4()), **claims}
    token = jws.JWS(json.dumps(whole))
    header = {"alg": "PS256", "typ": "JWT", "kid": ME["signing_kid"], **(header or {})}
    token.add_signature(key, "PS256", json.dumps(header))
    return token.serialize(compact=True)


def platform_key(use, kid=None):
    """Reads the key set again for an unknown `kid`, at most once in 30 seconds."""
    def find():
        return next((one for one in KEYS["keys"] if one["use"] == use and kid in (None, one["kid"])), None)
    if (find() is None or kid is None) and time.monotonic() - KEYS["read"] >= COOLDOWN:
        KEYS.update(read=time.monotonic(), keys=requests.get(f"{AUTH}/jwks", timeout=5).json()["keys"])
    found = find()
    if found is None:
        raise ValueError(f"no key {kid}")
    return found["kid"], jwk.JWK(**{name: found[name] for name in ("kty", "n", "e")})


def verified(token):
    """The claims of a JWS of the platform, for this bank, now."""
    part = token.split(".")[0]
    header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if set(header) != {"alg", "typ", "kid"} or header["alg"] != "PS256" or header["typ"] != "JWT":
        raise ValueError("header")
    parsed = jws.JWS()
    parsed.allowed_algs = ["PS256"]
    parsed.deserialize(token, platform_key("sig", header["kid"])[1])
    claims, now = json.loads(parsed.payload), time.time()
    if claims["iss"] != AUTH or claims["aud"] != CODE or claims["exp"] - claims["iat"] > 300:
        raise ValueError("iss, aud or exp")
    if claims["exp"] <= now or claims["iat"] > now + 30 or claims.get("nbf", 0) > now + 30 or not claims["jti"]:
        raise ValueError("not now")
    return claims


def send(method, url, token=None, headers=None, body=None):
    proof = {"htm": method, "htu": url}
    if token is not None:
        proof["ath"] = b64(hashlib.sha256(token.encode()).digest())
    public = {name: DPOP.export_public(as_dict=True)[name] for name in ("kty", "n", "e")}
    sent = {"DPoP": dpop(proof, public), **(headers or {})}
    if token is not None:
        sent["Authorization"] = f"DPoP {token}"
    answer = HTTP.request(method, url, headers=sent, data=body, timeout=10)
    answer.raise_for_status()
    return answer.json()


def dpop(proof, public):
    made = jws.JWS(json.dumps({**proof, "iat": int(time.time()), "jti": str(uuid.uuid4())}))
    made.add_signature(DPOP, "PS256", json.dumps({"alg": "PS256", "typ": "dpop+jwt", "jwk": public}))
    return made.serialize(compact=True)


def back_channel(method, path, data=None):
    client = ME["client_id"]
    token = send("POST", f"{API}/token.oauth2/v1", body={
        "grant_type": "client_credentials", "scope": "bank", "client_id": client,
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": sign({"iss": client, "sub": client, "aud": f"{AUTH}/{CODE}"}),
    })["access_token"]
    if data is None:
        return send(method, f"{API}/{path}", token)
    body = json.dumps({"Data": data}).encode()
    names = [f"http://openbanking.org.uk/{name}" for name in ("iat", "iss", "tan")]
    values = (int(time.time()), CODE, urlsplit(AT["directory_url"]).netloc)
    header = {"alg": "PS256", "kid": ME["signing_kid"], **dict(zip(names, values)), "crit": names}
    signed = jws.JWS(body, header_registry={name: jws.JWSEHeaderParameter(name, True, True, None) for name in names})
    signed.add_signature(SIGNING, "PS256", json.dumps(header))
    protected, _, signature = signed.serialize(compact=True).split(".")
    headers = {"content-type": "application/json", "x-jws-signature": f"{protected}..{signature}"}
    return send(method, f"{API}/{path}", token, headers, body)


def register():
    body = sign({
        "iss": ME["org_name"], "aud": AT["registration_audience"], "redirect_uris": ME["redirect_uris"],
        "token_endpoint_auth_method": "private_key_jwt", "grant_types": ["authorization_code"], "scope": "bank",
        "application_type": "web", "software_statement": read(f"{FOLDER}/{ME['software_client_id']}.jks").strip(),
    })
    headers = {"content-type": "application/jose"}
    answer = HTTP.post(f"{AT['base_url']}/register/v1", data=body, headers=headers, timeout=10)
    print("register:", answer.status_code, flush=True)  # 400: registered before


def arrive(sealed):
    """Opens a visit; returns its id. Raises at the first doubt, and then nothing is used up."""
    parsed = jwe.JWE()
    parsed.allowed_algs = ["RSA-OAEP-256", "A256GCM"]
    parsed.deserialize(sealed, OPENING)
    header = parsed.jose_header
    if header.get("cty") != "JWT" or "zip" in header or header.get("kid") != ME["encryption_kid"]:
        raise ValueError("JWE header")
    claims = verified(parsed.payload.decode())
    if not all(claims.get(name) for name in ("ref_id", "correlation_id", "debtor_account_present")):
        raise ValueError("not a handover")
    with LOCK:
        if claims["jti"] in SEEN:
            raise ValueError("jti used before")
        SEEN.add(claims["jti"])
    visit = {"claims": claims, "secret": str(uuid.uuid4()), "expires": time.time() + 900, "back": None, "lock": threading.Lock()}
    VISITS[claims["jti"]] = visit
    try:
        consent = back_channel("GET", f"back-channel-auth/v1/{claims['ref_id']}")["Data"]
        visit["account"] = consent["Initiation"].get("DebtorAccount", {}).get("Identification")
        if (visit["account"] is not None) != (claims["debtor_account_present"] == "true"):
            raise ValueError("debtor_account_present")
    except Exception as error:  # the customer goes back in any case
        print("consent:", error, flush=True)
        visit["back"] = result(visit, "error")
    return claims["jti"]


def decide(visit, decision, account=None):
    """Where the browser goes. The first decision counts."""
    with visit["lock"]:
        if visit["back"] is None:
            is_open = decision == "approve" and time.time() < visit["expires"]
            chosen = visit["account"] or account or ACCOUNTS[0][0]
            visit["back"] = approve(visit, chosen) if is_open and chosen in BALANCES else result(visit, "failure")
        return visit["back"]


def approve(visit, chosen):
    consent_id = visit["claims"]["ref_id"]
    if visit["account"] is None:
        shown = [one for one in accounts() if one["Identification"] == chosen]
        data = {"BankId": CODE, "ConsentId": consent_id, "Sub": "customer-4711", "DebtorAccount": shown}
        try:
            back_channel("PUT", f"back-channel-auth/v1/{consent_id}", data)
        except Exception as error:
            print("accounts:", error, flush=True)
            return result(visit, "error")
    return result(visit, "success")


def result(visit, status):
    claims = visit["claims"]
    same = {name: claims[name] for name in ("debtor_account_present", "ref_id", "correlation_id")}
    signed = sign({
        "iss": CODE, "aud": AUTH, "bank_id": CODE, "sub": "customer-4711", "status": status, "status_code": status, **same,
    })
    kid, key = platform_key("enc")
    sealed = jwe.JWE(signed, json.dumps({"alg": "RSA-OAEP-256", "enc": "A256GCM", "cty": "JWT", "kid": kid}))
    sealed.add_recipient(key)
    return f"{AUTH}/{CODE}/authorization.sca.oauth2?oAuthUrl={sealed.serialize(compact=True)}"


def accounts():
    return [{"SchemeName": "UK.OBIE.IBAN", "Identification": iban, "Currency": "EUR", "Balance": f"{balance:.2f}"}
            for iban, balance in BALANCES.items()]


def take_order(token):
    order = verified(token)["Data"]
    amount, payer = order["Initiation"]["InstructedAmount"], order["DebtorAccount"]["Identification"]
    with LOCK:
        name = order["DomesticPaymentId"]
        if name not in ORDERS:
            can_pay = amount["Currency"] == "EUR" and Decimal(amount["Amount"]) <= BALANCES.get(payer, -1)
            if can_pay:
                BALANCES[payer] -= Decimal(amount["Amount"])
                threading.Thread(target=report, args=(name,), daemon=True).start()
            ORDERS[name] = "AcceptedSettlementInProcess" if can_pay else "Rejected"
        return {"Status": ORDERS[name]}


def report(name):
    booked = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for wait in (1, 1, 2, 4, 8, 16, 32):
        time.sleep(wait)
        try:
            data = {"Status": "AcceptedSettlementCompleted", "StatusUpdateDateTime": booked}
            return back_channel("PUT", f"back-channel-payments/v1/{name}", data)
        except Exception as error:
            print("report:", error, flush=True)


class Bank(BaseHTTPRequestHandler):
    """The redirect URL, the visits below it, the payment orders, and the certification's hook."""

    def answer(self, status, body=None, **headers):
        content = json.dumps(body).encode() if body is not None else b"<!doctype html><title>Bank</title>"
        self.send_response(status)
        kind = "text/html; charset=utf-8" if body is None else "application/json"
        for name, value in {"content-type": kind, "content-length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        try:
            at = urlsplit(self.path)
            if at.path == urlsplit(HOOK).path:
                return self.answer(200, {"accounts": accounts()})
            if at.path == HOME.path:
                name = arrive(parse_qs(at.query)["oAuthUrl"][0])
                cookie = f"visit={VISITS[name]['secret']}; Path={HOME.path}/{name}; HttpOnly; SameSite=Lax"
                return self.answer(303, location=f"{HOME.path}/{name}", set_cookie=cookie)
            visit = VISITS[at.path.removeprefix(f"{HOME.path}/")]
            if f"visit={visit['secret']}" not in self.headers.get("cookie", "").split("; "):
                raise ValueError("another browser")
            late = visit["back"] is None and time.time() >= visit["expires"]
            back = decide(visit, "timeout") if late else visit["back"]
            return self.answer(200) if back is None else self.answer(303, location=back)
        except Exception as error:
            print("rejected:", repr(error), flush=True)
            return self.answer(400)

    def do_POST(self):
        try:
            body = self.rfile.read(min(int(self.headers["content-length"]), 65_536))
            if self.path == f"{urlsplit(HOOK).path}/decisions":
                asked = json.loads(body)
                visits = [one for one in VISITS.values() if one["claims"]["ref_id"] == asked["consent_id"]]
                waiting = [one for one in visits if one["back"] is None]
                if not waiting:
                    return self.answer(404, {})
                if asked["decision"] == "timeout":
                    waiting[-1]["expires"] = 0
                return self.answer(200, {"location": decide(waiting[-1], asked["decision"], asked.get("account"))})
            if self.path != urlsplit(ORDERS_URI).path:
                return self.answer(404)
            return self.answer(200, take_order(body.decode()))
        except Exception as error:
            print("rejected:", repr(error), flush=True)
            return self.answer(400)

    def log_message(self, *_):
        pass


STATEMENT = read(f"{FOLDER}/{ME['software_client_id']}.jks").strip().split(".")[1]
ORDERS_URI = json.loads(base64.urlsafe_b64decode(STATEMENT + "=" * (-len(STATEMENT) % 4)))["payment_orders_uri"]
register()
ThreadingHTTPServer(("127.0.0.1", HOME.port), Bank).serve_forever()
