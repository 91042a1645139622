"""Keeping secrets of others: encrypted at rest with a key that lives outside the store."""

import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from app.core.errors import CannotRun


class SecretUnreadable(ValueError):
    """The text was not encrypted with this key, or was changed since."""


class KeyDamaged(CannotRun):
    """The file of the key holds no key: nothing that was encrypted with it can be read."""


class SecretBox:
    """Encrypts texts with one Fernet key (AES-128-CBC with HMAC-SHA256)."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    def encrypt(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode("ascii")

    def decrypt(self, token: str) -> str:
        """The text again. Raises `SecretUnreadable`."""
        try:
            return self._fernet.decrypt(token).decode()
        except InvalidToken:
            raise SecretUnreadable("the secret cannot be read with this key") from None


class CheckpointCipher:
    """Encrypts checkpoints, as LangGraph's `CipherProtocol` has it, with the same kind of key.

    Reads those that `ClearCheckpoints` has written, too.
    """

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "fernet", self._fernet.encrypt(plaintext)

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


def load_or_create_key(path: Path) -> bytes:
    """The key kept in a file, made on first use, readable by its owner only.

    Processes that start together agree on one key: a file is complete before it gets its name, and
    the first to name it wins. The parent folder must exist. Raises `KeyDamaged`.
    """
    if not path.exists():
        _create_key(path)
    key = path.read_bytes().strip()
    try:
        Fernet(key)
    except ValueError:
        raise KeyDamaged(
            f"{path} holds no key. Put the one of a backup in its place; without one, remove the file and "
            "register your databases again."
        ) from None
    return key


def _create_key(path: Path) -> None:
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(Fernet.generate_key())
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first; its key counts
    finally:
        Path(draft).unlink()
