"""The `kai` command in this process: what is refused before anything is opened."""

import os
from pathlib import Path

import pytest

from app import __version__, cli
from app.core.settings import Settings, read_settings

# A server that starts against expectation runs on: only a thread ends it, not an exception in its loop.
pytestmark = pytest.mark.timeout(120, method="thread")


class Kai:
    """The command in an environment without settings of this machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, **variables: str) -> tuple[int | str | None, str, str]:
        """The exit code, what it printed and what it complained of."""
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.setattr("sys.argv", ["kai", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = self._capsys.readouterr()
        return ended.value.code, printed.out, printed.err


@pytest.fixture
def kai(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Kai:
    for name in list(os.environ):
        if name.startswith(("KAI_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KAI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return Kai(monkeypatch, capsys)


def assert_one_line(complaint: str, words: str) -> None:
    assert complaint.startswith("kai: ")
    assert complaint.count("\n") == 1
    assert words in complaint
    assert "s3cr3t" not in complaint


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"KAI_LLM__UNKNOWN": "1"}, "KAI_LLM__UNKNOWN"),
        ({"KAI_PROT": "1"}, "Did you mean KAI_PORT?"),
        ({"KAI_LLM__MODLE": "m"}, "Did you mean KAI_LLM__MODEL?"),
        ({"KAI_LLM_API_KEY": "s3cr3t"}, "Did you mean KAI_LLM__API_KEY?"),
        ({"KAI_OPENAI_API_KEY": "s3cr3t"}, "Did you mean OPENAI_API_KEY?"),
        ({"kai_hsot": "h"}, "Did you mean KAI_HOST?"),
        ({"KAI_LLM": '{"modle": "m"}'}, "no setting KAI_LLM__MODLE. Did you mean KAI_LLM__MODEL?"),
        ({"KAI_TUNING__LLM__MODEL": "m"}, "There is no setting KAI_TUNING__LLM__MODEL."),
    ],
    ids=str,
)
def test_a_variable_that_names_no_setting_is_one_line_that_names_the_nearest(
    variables: dict[str, str], words: str, kai: Kai
) -> None:
    code, _, complaint = kai.run("keys", "list", **variables)
    assert code == 2
    assert_one_line(complaint, words)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"KAI_LLM__MAX_RETRIES": "0"}, "KAI_LLM__MAX_RETRIES. KAI chooses its value itself"),
        ({"KAI_WORKER": '{"lease_seconds": 3}'}, "KAI_WORKER__LEASE_SECONDS. KAI chooses its value itself"),
        ({"KAI_CONVERSATIONS__ENABLED": "false"}, "KAI_CONVERSATIONS__MAX_CACHE_MEMORY_MB=0"),
    ],
    ids=str,
)
def test_a_name_that_was_a_setting_is_refused_with_the_reason(
    variables: dict[str, str], words: str, kai: Kai
) -> None:
    code, _, complaint = kai.run("keys", "list", **variables)
    assert code == 2
    assert_one_line(complaint, words)


@pytest.mark.usefixtures("kai")
def test_a_name_that_was_a_setting_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_LLM__MAX_RETRIES", "7")
    monkeypatch.setenv("KAI_WORKER", '{"lease_seconds": 77, "concurrency": 5}')
    settings = read_settings(pass_unknown=True)
    assert settings.llm.max_retries == Settings().llm.max_retries == 2
    assert (settings.worker.lease_seconds, settings.worker.concurrency) == (15, 5)


@pytest.mark.usefixtures("kai")
def test_tests_tune_what_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_TUNING__WORKER__LEASE_SECONDS", "3")
    monkeypatch.setenv("KAI_TUNING__AUTH__OIDC__LEEWAY_SECONDS", "0")
    monkeypatch.setenv("KAI_WORKER__CONCURRENCY", "5")
    settings = read_settings()
    assert (settings.worker.lease_seconds, settings.worker.concurrency) == (3, 5)
    assert settings.auth.oidc.leeway_seconds == 0


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"KAI_PORT": "many"}, "KAI_PORT"),
        ({"KAI_PORT": "tcp://10.0.0.1:8000"}, "enableServiceLinks"),
        ({"KAI_LLM__BASE_URL": "localhost:1/v1"}, "KAI_LLM__BASE_URL"),
        ({"KAI_ENCRYPTION_KEY": "short"}, "KAI_ENCRYPTION_KEY"),
        ({"KAI_QUOTAS__RUNS": "-1"}, "KAI_QUOTAS__RUNS"),
        ({"KAI_AUTH__OIDC__ISSUER": "https://login.example.com"}, "KAI_AUTH__OIDC__AUDIENCE"),
        ({"KAI_AUTH__OIDC__ISSUER": "http://login.example.com"}, "https://"),
        ({"KAI_AUTH__OIDC__ALGORITHMS": '["HS256"]'}, "KAI_AUTH__OIDC__ALGORITHMS"),
        ({"KAI_AUTH__OIDC__AUDIENCE": "kai"}, "KAI_AUTH__OIDC__ISSUER"),
        ({"KAI_AUTH__OIDC__CLIENT_ID": "kai"}, "KAI_AUTH__OIDC__CLIENT_ID needs KAI_AUTH__OIDC__ISSUER"),
        ({"KAI_AUTH__OIDC__CLIENT_SECRET": "s3cr3t"}, "SECRET needs KAI_AUTH__OIDC__CLIENT_ID"),
        ({"KAI_AUTH__OIDC__SESSION_HOURS": "8"}, "KAI_AUTH__OIDC__CLIENT_ID"),
        ({"KAI_AUTH__OIDC__SCOPES": "profile"}, "openid must be among the scopes"),
        ({"KAI_TYPESENSE__NODES": "localhost"}, "KAI_TYPESENSE"),
        ({"KAI_DATABASES__FOLDERS": "/data"}, "KAI_DATABASES__FOLDERS: it must be a JSON list"),
        ({"KAI_ALLOWED_HOSTS": '["kai.*"]'}, "KAI_ALLOWED_HOSTS"),
        ({"KAI_CORS_ORIGINS": "https://chat.example.com/"}, "KAI_CORS_ORIGINS"),
        ({"KAI_CORS_ORIGINS": "chat.example.com"}, "without a path"),
        ({"KAI_CORS_ORIGINS": '["https://*.example.com"]'}, "KAI_CORS_ORIGINS"),
        ({"KAI_CORS_ORIGINS": "[https"}, "KAI_CORS_ORIGINS"),
        ({"OPENAI_BASE_URL": "localhost"}, "OPENAI_BASE_URL"),
        ({"KAI_REDIS__URL": "http://:s3cr3t@127.0.0.1"}, "redis://"),
        ({"KAI_REDIS__URL": "redis://:s3cr3t/signs@127.0.0.1"}, "URL-encoded"),
        ({"KAI_REDIS__URL": "redis+sentinel://:s3cr3t@a:26379/primary"}, "follows the primary"),
        ({"KAI_REDIS__URL": "redis://:s3cr3t@a:6379,b:6379/0"}, "follows the primary"),
        ({"KAI_NATS__URL": "redis://:s3cr3t@127.0.0.1"}, "nats://"),
        ({"KAI_NATS__URL": "nats://:s3cr3t/signs@127.0.0.1"}, "URL-encoded"),
        ({"KAI_NATS__REPLICAS": "2"}, "1, 3 or 5"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_one_line_that_names_the_variable(
    variables: dict[str, str], words: str, kai: Kai
) -> None:
    code, _, complaint = kai.run("serve", **variables)
    assert code == 2
    assert_one_line(complaint, words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serv"], "Did you mean 'serve'? See kai --help"),
        (["serve", "--prot", "1"], "--port"),
        (["serve", "--port", "99999"], "65535"),
        (["keys", "create"], "'--owner'. See kai keys create --help"),
        (["ask", "How many?"], "--db"),
    ],
    ids=str,
)
def test_a_wrong_command_line_is_one_line_that_names_the_help(
    arguments: list[str], words: str, kai: Kai
) -> None:
    code, _, complaint = kai.run(*arguments)
    assert code == 2
    assert_one_line(complaint, words)


def test_the_command_says_its_version(kai: Kai) -> None:
    assert kai.run("--version") == (0, f"kai {__version__}\n", "")


@pytest.mark.parametrize(
    "command", ["serve", "api", "worker", "demo", "migrate", "backup", "restore", "prune"]
)
def test_every_command_with_a_store_takes_its_folder(command: str, kai: Kai) -> None:
    assert "--data-dir" in kai.run(command, "--help")[1]
