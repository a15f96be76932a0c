"""Verifies security event tokens with jwcrypto: JSON {"jwks", "tokens"} on standard input, their claims on output."""
import json
import sys

from jwcrypto import jwk, jws

read = json.load(sys.stdin)
keys = jwk.JWKSet.from_json(json.dumps(read["jwks"]))
claims = []
for token in read["tokens"]:
    signed = jws.JWS()
    signed.allowed_algs = ["PS256"]
    signed.deserialize(token)
    header = signed.jose_header
    if header["typ"] != "secevent+jwt":
        sys.exit("another typ")
    signed.verify(keys.get_key(header["kid"]))
    claims.append(json.loads(signed.payload))
json.dump(claims, sys.stdout)
