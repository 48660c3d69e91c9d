"""Certificates and keys of a federation, made for a first try. A site with its own authority uses that.

ca.crt, ca.key              who signs                      keys/NAME, keys/NAME.pub     one pair for each machine
server.crt, server.key      the server                     superexec.secret             lets a driver claim its run
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.errors import ConfigError
from equipoise.engine.flower.connect import require_flower

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

DAYS = 365
SECRET = "superexec.secret"
LOOPBACK = ("localhost", "127.0.0.1")


def make_federation(folder: Path, machines: Sequence[str], hosts: Sequence[str] = ()) -> list[Path]:
    """Write the certificates, and a key for each machine; keys that are there stay as they are. Returns the keys."""
    require_flower()
    for name in machines:
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
            raise ConfigError(f"'{name}' cannot be the name of a machine", where="--machines", fix="letters and digits")
    (folder / "keys").mkdir(parents=True, exist_ok=True)
    if not (folder / "ca.key").exists():
        _make_certificates(folder, [*LOOPBACK, *hosts])
        _write(folder / SECRET, secrets.token_bytes(32))
    return [_make_key(folder / "keys" / name) for name in machines]


def _make_certificates(folder: Path, hosts: Sequence[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    own, server = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
    authority = _name("Equipoise federation")
    signed = (
        _builder(authority, authority, own)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
    )
    names = x509.SubjectAlternativeName([_host(host) for host in dict.fromkeys(hosts)])
    issued = (
        _builder(_name("Equipoise server"), authority, server)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own.public_key()), critical=False)
        .add_extension(names, critical=False)
    )
    for name, key, builder in (("ca", own, signed), ("server", server, issued)):
        _write(folder / f"{name}.key", _private(key))
        _write(folder / f"{name}.crt", _signed(builder, own), mode=0o644)


def _builder(subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    from cryptography import x509

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=DAYS))
    )


def _signed(builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import hashes, serialization

    return bytes(builder.sign(key, hashes.SHA384()).public_bytes(serialization.Encoding.PEM))


def _name(text: str) -> x509.Name:
    from cryptography import x509

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _host(text: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _usage(signs: bool) -> x509.KeyUsage:
    from cryptography import x509

    never = dict.fromkeys(("content_commitment", "data_encipherment", "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(
        digital_signature=not signs,
        key_encipherment=not signs,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        **never,
    )


def _make_key(path: Path) -> Path:
    """A machine's key pair in OpenSSH's format, as Flower reads it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    if path.exists():
        return path
    key = ec.generate_private_key(ec.SECP384R1())
    encoding, style = serialization.Encoding, serialization.PublicFormat.OpenSSH
    whole = key.private_bytes(encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    _write(path, whole)
    _write(path.parent / f"{path.name}.pub", key.public_key().public_bytes(encoding.OpenSSH, style) + b"\n", mode=0o644)
    return path


def _private(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    style = serialization.PrivateFormat.PKCS8
    return bytes(key.private_bytes(serialization.Encoding.PEM, style, serialization.NoEncryption()))


def _write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """A new file that only its owner reads, unless the mode says otherwise."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
