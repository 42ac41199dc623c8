"""Fetches lists in each form and checks them with token-status-list, cryptography and cbor2.

The argument is JSON: {"keys": a JWK set, "lists": [{"uri", "bits", "size", "statuses"}]}.
"""

import base64
import json
import sys
import time
import urllib.request

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from token_status_list import BitArray, b64url_decode


def decode(text):
    return b64url_decode(text.encode())


def public_key(jwk):
    numbers = [int.from_bytes(decode(jwk[name]), "big") for name in ("x", "y")]
    return ec.EllipticCurvePublicNumbers(*numbers, ec.SECP256R1()).public_key()


def check_signature(key, message, signature):
    assert len(signature) == 64, len(signature)
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    der = encode_dss_signature(r, s)
    key.verify(der, message, ec.ECDSA(hashes.SHA256()))
    try:
        key.verify(der, message + b"x", ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return
    raise AssertionError("the signature is valid for any data")


def fetch(uri, form):
    kind = f"application/statuslist+{form}"
    request = urllib.request.Request(uri, headers={"Accept": kind})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"] == kind, answer.headers["Content-Type"]
        return answer.read()


def check_claims(subject, issued, expires, time_to_live, uri):
    assert subject == uri, subject
    assert abs(issued - time.time()) < 60, issued
    assert expires - issued == 24 * 3600, expires
    assert time_to_live == 3600, time_to_live


def check_list(bits, array, expected):
    assert bits == expected["bits"], bits
    assert array.size >= expected["size"], array.size
    for index in range(array.size):
        assert array.get(index) == expected["statuses"].get(str(index), 0), index


def check_jwt(token, keys, expected):
    header, payload, signature = token.decode().split(".")
    head, claims = json.loads(decode(header)), json.loads(decode(payload))
    assert head["alg"] == "ES256" and head["typ"] == "statuslist+jwt", head
    check_signature(keys[head["kid"]], f"{header}.{payload}".encode(), decode(signature))
    check_claims(claims["sub"], claims["iat"], claims["exp"], claims["ttl"], expected["uri"])
    check_list(claims["status_list"]["bits"], BitArray.load(claims["status_list"]), expected)


def check_cwt(token, keys, expected):
    tagged = cbor2.loads(token)
    assert tagged.tag == 18, tagged.tag
    protected, unprotected, payload, signature = tagged.value
    head, claims = cbor2.loads(protected), cbor2.loads(payload)
    assert head == {1: -7, 16: "application/statuslist+cwt"}, head
    message = cbor2.dumps(["Signature1", protected, b"", payload])
    check_signature(keys[unprotected[4].decode()], message, signature)
    check_claims(claims[2], claims[6], claims[4], claims[65534], expected["uri"])
    listed = claims[65533]
    assert isinstance(listed["lst"], bytes)
    # The library's own representation of the list is base64url.
    text = base64.urlsafe_b64encode(listed["lst"]).rstrip(b"=").decode()
    check_list(listed["bits"], BitArray.load({"bits": listed["bits"], "lst": text}), expected)


def check_json(body, expected):
    listed = json.loads(body)
    check_list(listed["bits"], BitArray.load(listed), expected)


def main():
    arguments = json.loads(sys.argv[1])
    keys = {jwk["kid"]: public_key(jwk) for jwk in arguments["keys"]["keys"]}
    statuses = 0
    for expected in arguments["lists"]:
        check_jwt(fetch(expected["uri"], "jwt"), keys, expected)
        check_cwt(fetch(expected["uri"], "cwt"), keys, expected)
        check_json(fetch(expected["uri"], "json"), expected)
        statuses += len(expected["statuses"])
    print(f"verified {len(arguments['lists'])} lists in 3 forms, {statuses} statuses set")


main()
