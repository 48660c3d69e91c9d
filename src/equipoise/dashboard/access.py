"""Who may open the dashboard: host names, the token, and what is possible without it.

on loopback        everybody on this machine may read; actions need the token
anywhere else      reading needs the token, too
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import ConfigError, DataError

LEAST_LENGTH = 16
"""Characters of a token that somebody chose."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Access:
    host: str
    port: int
    token: str
    names: frozenset[str]
    """Host names under which the pages may be asked for; others may be somebody else's page in a browser here."""
    reading_is_free: bool

    @property
    def cookie(self) -> str:
        """Browsers send the cookies of all ports of a host, so the name holds the port."""
        return f"equipoise-{self.port}"

    @property
    def address(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
        return f"http://{shown}:{self.port}/"

    @property
    def sign_in(self) -> str:
        """The address that lets a browser in: it leaves a cookie."""
        return f"{self.address}?token={self.token}"

    def admits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
        return name.lower() in self.names and (not port or port.isascii()) and port in {"", str(self.port)}


def access(host: str, port: int, token: str | None = None, names: Collection[str] = ()) -> Access:
    """Access on this address; without a token of your own a random one is made."""
    is_here = is_loopback(host)
    known = {name.lower() for name in names} | (set(LOOPBACK) if is_here else {_bracketed(host), *LOOPBACK})
    return Access(host, port, token or secrets.token_urlsafe(24), frozenset(known), is_here)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: Path) -> str:
    """The token in a file: its first line, readable by its owner only."""
    try:
        text, mode = path.read_text(encoding="utf-8").strip(), path.stat().st_mode
    except (OSError, UnicodeError) as error:
        what = f"the token cannot be read: {error}"
        raise DataError(what, where=str(path), fix="give a text file with the token in it") from error
    if mode & 0o077:
        raise ConfigError("others may read the token file", where=str(path), fix=f"chmod 600 {path}")
    if len(text) < LEAST_LENGTH or not text.isascii() or not text.isprintable() or " " in text:
        what = f"a token has {LEAST_LENGTH} characters or more, letters, digits and signs without spaces"
        raise ConfigError(what, where=str(path), fix="python -c 'import secrets; print(secrets.token_urlsafe(24))'")
    return text


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()
