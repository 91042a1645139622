"""Secrets that are named by two letters, or by the head of a column of a table."""

import json

import pytest

from app.core.redaction.stream import RedactedStream
from app.core.redaction.text import redacted
from tests.support.cases import assert_each

SAID = [
    ("wifi pw is: hunter22x", "hunter22x"),
    ("The wifi pw is: Sonnen7blume", "Sonnen7blume"),
    ("pwd is: tiger-Lane44", "tiger-Lane44"),
    ("my pw is: kR9fuzzyBear", "kR9fuzzyBear"),
    ("admin pass is: Blue7Horizon!", "Blue7Horizon!"),
    ("guest wifi pass is: coffee4all22", "coffee4all22"),
    ("vpn pw is: Zx81-spectrum", "Zx81-spectrum"),
    ("PW is: n0tTelling5", "n0tTelling5"),
    ("The pwd is: qwe789rty", "qwe789rty"),
    ("db pwd is: m4rigold#22", "m4rigold#22"),
    ("router passwd is: Fritz!4711box", "Fritz!4711box"),
    ("root passwd is: toor2026x", "toor2026x"),
    ("the pin code is irrelevant, laptop pw is: gr33nTea99", "gr33nTea99"),
    ("for the staging box the pass is: Wint3rSt0rm", "Wint3rSt0rm"),
    ("printer pw is:   hp5000-jet", "hp5000-jet"),
    ("zoom pw is: 7Kp2mQ", "7Kp2mQ"),
    ("wlan pw is : Erdbeere3", "Erdbeere3"),
    ('His pw is: "bondi-Blue12"', "bondi-Blue12"),
    ("sftp pw is: `t0pHat_88`", "t0pHat_88"),
    ("new pw is: Umbrella77. Keep it.", "Umbrella77"),
]
NOT_SAID = [
    "the pw is: required",
    "pw is: not stored here",
    "the pass is: valid for two days",
    "A boarding pass is: a document with a seat number",
    "The mountain pass is: closed until May",
    "the hall pass is: expired",
    "our pass rate is: 93.4",
    "pass is: true when every check holds",
    "the first pass is: parse, the second is: bind",
    "pw is: optional for guests",
    "The reason the pwd is: missing from the form is unknown",
    "season pass is: 149.00 EUR",
    "bus pass is: 2026-05-01 to 2026-06-30",
    "the pass is: 12/14 questions answered",
    "The pwd is: /home/anna/projects",
    "what the pw is: ask Anna",
    "pass is: null",
    "pw is: hashed with bcrypt",
    "pass is: the number of tests that passed",
    "kw is: 22, pw is: 23",
]
TABLES = [
    ("id,name,password\n1,ada,lighthouse-7x", "lighthouse-7x"),
    ("user,password,role\nbob,Tr0mbone5,admin", "Tr0mbone5"),
    ("email;password;country\nc@example.com;sunny-Day9;DE", "sunny-Day9"),
    ("id\tuser\tpassword\tactive\n7\tdora\tV3lvetRope\t1", "V3lvetRope"),
    ("name,api_key\nmaps,9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    ("service,secret,owner\nmail,Quill.Feather42,ops", "Quill.Feather42"),
    ("client,token,issued\ncrm,zk83hdQ0plM2,2026-01-04", "zk83hdQ0plM2"),
    ('"id","login","password"\n"1","eve","Gr1d-Iron"', "Gr1d-Iron"),
    ("id | name | password\n1 | frank | Maple9Leaf", "Maple9Leaf"),
    ("| id | user | password |\n|---|---|---|\n| 1 | gina | C0pperKettle |", "C0pperKettle"),
    ("id,name,password\n1,ada,first-Val1\n2,bob,second-Val2\n3,cyd,third-Val3", "third-Val3"),
    ("Password,Login\nst0neBridge,henry", "st0neBridge"),
    ("PASSWORD,USER\nKi11erWhale,ida", "Ki11erWhale"),
    ("id,user_password,city\n4,Wh1teRabbit,Bonn", "Wh1teRabbit"),
    ("host,user,passwd\ndb1,jon,0range-Juice", "0range-Juice"),
    ("id,client_secret,scope\n9,h7GGq2Lx0aBn,read", "h7GGq2Lx0aBn"),
    ("id,access_token,created_at\n3,pp00LkmQa73zz,2026-02-02", "pp00LkmQa73zz"),
    ("rows of users:\nid,name,pwd\n5,kim,Sn0wGoose", "Sn0wGoose"),
    (
        " id |  name  |  password   \n----+--------+---------\n  1 | liz    | d3sertRose\n(1 row)",
        "d3sertRose",
    ),
    ("password\nrainyMonday5", "rainyMonday5"),
]
OTHER_TABLES = [
    "id,token_count\n1,184467",
    "user,password_changed_at\nada,2026-01-05T10:22:00",
    "id,password_reset_required,city\n1,true,Bonn-Beuel",
    "session,token_type,expires_in\na17,Bearer,3600",
    "model,tokens,seconds\ngpt-5,1834522,12.5",
    "name,secret_santa_group\nada,Group-Blue7",
    "id,password_hash_algorithm\n1,argon2id-v19",
    "id,password\n1,\n2,NULL",
    "id,password\n1,[redacted]\n2,********",
    "table,column,type\nusers,password,varchar(64)",
    "column,type,nullable\npassword,text,no\ntoken,varchar(255),yes",
    "id,name,has_password\n1,ada,True",
    "CREATE TABLE users (id integer,\npassword text,\ntoken text)",
    "SELECT id, name, password\nFROM users_2026",
    "id,api_key_count,quota\n1,17,250000",
    "key,value\nORD-2026-00017,184.5",
    "product,secret_ingredient\nCola7,vanilla-bean2",
    "region,tokens_used,token_limit\nEU-West1,73000,100000",
    "We rotate password, token,\nand api_key values2026 monthly.",
    "day,password_resets,logins\n2026-01-01,12,3811",
]


def test_the_secret_is_found() -> None:
    def check(text: str, secret: str) -> None:
        assert secret in text
        assert secret not in redacted(text)

    assert_each([*SAID, *TABLES], check)


def streamed(text: str, size: int) -> list[str]:
    stream = RedactedStream()
    return [*(stream.feed(text[at : at + size]) for at in range(0, len(text), size)), stream.end()]


@pytest.mark.parametrize("size", [1, 4, 15])
@pytest.mark.parametrize(("text", "secret"), TABLES)
def test_the_secret_is_found_in_a_table_that_arrives_in_pieces(text: str, secret: str, size: int) -> None:
    shown = "".join(streamed(f"Größe:\n{text}\nThe end.", size))
    assert shown == redacted(f"Größe:\n{text}\nThe end.")
    assert secret not in shown


@pytest.mark.parametrize("size", [1, 15])
def test_a_table_below_the_head_of_a_long_text_is_redacted_to_its_end(size: int) -> None:
    rows = [f"{number},user{number},Tr0mbone{number}x" for number in range(200)]
    text = "\n".join(["id,name,password", *rows, "", "id,name,7", "8,ada,Tr0mbone7x"])
    assert "".join(streamed(text, size)) == redacted(text)
    assert redacted(text).count("[redacted]") == 200


def test_what_is_no_secret_stays_in_pieces() -> None:
    def check(text: str) -> None:
        assert "".join(streamed(text, 3)) == text

    assert_each([*NOT_SAID, *OTHER_TABLES], check)


WITHIN_JSON = [each for each in TABLES if "\t" not in each[0] and each[0][:8] != "password"]


def test_a_table_within_json_is_found() -> None:
    def check(text: str, secret: str) -> None:
        assert secret not in redacted(json.dumps({"csv": text}))

    assert_each(WITHIN_JSON, check)


def test_what_is_no_secret_stays() -> None:
    def check(text: str) -> None:
        assert redacted(text) == text

    assert_each([*NOT_SAID, *OTHER_TABLES], check)


def test_all_rows_below_a_head_are_redacted_and_none_behind_the_table() -> None:
    text = "id,password\n1,sunny-Day1\n2,sunny-Day2\n\nThe end,sunny-Day3"
    assert redacted(text) == "id,password\n1,[redacted]\n2,[redacted]\n\nThe end,sunny-Day3"
