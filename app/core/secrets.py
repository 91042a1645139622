"""Keeping secrets of others: encrypted at rest with a key that lives outside the store."""

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from app.core.errors import CannotRun


class SecretUnreadable(ValueError):
    """The text was not encrypted with this key, or was changed since."""


class KeyDamaged(CannotRun):
    """The file of the key holds no key: nothing that was encrypted with it can be read."""


def split_keys(text: str) -> list[bytes]:
    """Returns the keys of a text that separates them by commas or white space."""
    return [each.encode() for each in re.split(r"[,\s]+", text) if each]


class SecretBox:
    """Encrypts texts with Fernet keys (AES-128-CBC with HMAC-SHA256): the first writes, and all read."""

    def __init__(self, *keys: bytes) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys])

    def encrypt(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode("ascii")

    def decrypt(self, token: str) -> str:
        """The text again. Raises `SecretUnreadable`."""
        try:
            return self._fernet.decrypt(token).decode()
        except InvalidToken:
            raise SecretUnreadable("the secret cannot be read with this key") from None

    def rotate(self, token: str) -> str:
        """The same text, encrypted with the first key. Raises `SecretUnreadable`."""
        return self.encrypt(self.decrypt(token))


class CheckpointCipher:
    """Encrypts checkpoints, as LangGraph's `CipherProtocol` has it, with the same kind of keys.

    Reads those that `ClearCheckpoints` has written, too.
    """

    def __init__(self, *keys: bytes) -> None:
        self._fernet = MultiFernet([Fernet(key) for key in keys])

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "fernet", self._fernet.encrypt(plaintext)

    def rotate(self, ciphertext: bytes) -> bytes:
        """The same bytes, encrypted with the first key. Raises `SecretUnreadable`."""
        return self._fernet.encrypt(self.decrypt("fernet", ciphertext))

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The bytes again. Raises `SecretUnreadable`."""
        try:
            match ciphername:
                case "fernet":
                    return self._fernet.decrypt(ciphertext)
                case "clear":
                    return ciphertext
        except InvalidToken:
            pass
        raise SecretUnreadable("the checkpoint cannot be read with this key")


class ClearCheckpoints(CheckpointCipher):
    """Encrypts nothing, and still reads what was encrypted before."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "clear", plaintext


def load_or_create_keys(path: Path) -> list[bytes]:
    """The keys kept in a file, the first one to write with; made on first use, readable by its owner only.

    Processes that start together agree on one key: a file is complete before it gets its name, and
    the first to name it wins. The parent folder must exist. Raises `KeyDamaged`.
    """
    if not path.exists():
        _create_key(path)
    keys = split_keys(path.read_text(errors="replace"))
    try:
        MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise KeyDamaged(
            f"{path} holds no key. Put the one of a backup in its place; without one, remove the file and "
            "register your databases again."
        ) from None
    return keys


def replace_keys(path: Path, keys: Sequence[bytes]) -> None:
    """Replace the keys in a file at once, so that it is complete at any time."""
    _draft(path, keys).replace(path)


def _create_key(path: Path) -> None:
    draft = _draft(path, [Fernet.generate_key()])
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first; its key counts
    finally:
        draft.unlink()


def _draft(path: Path, keys: Sequence[bytes]) -> Path:
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"\n".join(keys))
        file.flush()
        os.fsync(file.fileno())
    return Path(draft)
