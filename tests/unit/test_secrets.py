"""Encrypted texts and the key file."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from app.core.secrets import (
    CheckpointCipher,
    ClearCheckpoints,
    KeyDamaged,
    SecretBox,
    SecretUnreadable,
    load_or_create_keys,
)


def test_a_text_comes_back_from_its_box_and_does_not_show_in_the_token() -> None:
    box = SecretBox(Fernet.generate_key())
    token = box.encrypt("postgresql://a:pässword@h/db")
    assert "word" not in token
    assert box.decrypt(token) == "postgresql://a:pässword@h/db"


def test_another_key_cannot_read_a_token() -> None:
    token = SecretBox(Fernet.generate_key()).encrypt("secret")
    with pytest.raises(SecretUnreadable):
        SecretBox(Fernet.generate_key()).decrypt(token)


def test_the_key_file_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    key = load_or_create_keys(path)
    assert load_or_create_keys(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        found = [*threads.map(load_or_create_keys, [tmp_path / "secret.key"] * 64)]
    assert len(found[0]) == 1
    assert found == found[:1] * 64


def test_the_first_key_writes_and_all_read() -> None:
    old, new = Fernet.generate_key(), Fernet.generate_key()
    token = SecretBox(old).encrypt("secret")
    both = SecretBox(new, old)
    assert both.decrypt(token) == "secret"
    assert SecretBox(new).decrypt(both.encrypt("secret")) == "secret"
    assert SecretBox(new).decrypt(both.rotate(token)) == "secret"


@pytest.mark.parametrize("content", ["", "not a key"])
def test_a_file_that_holds_no_key_is_said_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "secret.key"
    path.write_text(content)
    with pytest.raises(KeyDamaged, match="holds no key"):
        load_or_create_keys(path)
    assert path.read_text() == content


def test_checkpoints_stay_readable_when_their_encryption_is_switched_on_or_off() -> None:
    key = Fernet.generate_key()
    for writer in (CheckpointCipher(key), ClearCheckpoints(key)):
        for reader in (CheckpointCipher(key), ClearCheckpoints(key)):
            assert reader.decrypt(*writer.encrypt(b"state")) == b"state"


@pytest.mark.parametrize("name", ["fernet", "aes"])
def test_a_checkpoint_of_another_key_or_cipher_is_unreadable(name: str) -> None:
    _, encrypted = CheckpointCipher(Fernet.generate_key()).encrypt(b"state")
    with pytest.raises(SecretUnreadable, match="this key"):
        CheckpointCipher(Fernet.generate_key()).decrypt(name, encrypted)
