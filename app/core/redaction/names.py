"""Names of columns and fields whose values are secret, however they are written, in many languages.

A name is split into words by case, digits and signs. What it names is its last word that does not only say
how the value is kept: `PasswordHash2` is a password, `password_changed_at` a time.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from app.core.words import split_identifier, without_accents

_WORD = re.compile(r"[^\W\d_]+")
_TWO_FACTORS = re.compile(r"2fa(?![a-z])", re.IGNORECASE)
_CALLS = ("(", "[")
"""Signs of an expression in the place of a name."""


def _words(text: str) -> frozenset[str]:
    return frozenset(without_accents(text).split())


_FORMS = _words(
    """
    hash hashed hashes salt salted digest encrypted crypt crypted enc cipher ciphertext plain plaintext clear
    raw text value val string str data old new current previous prev tmp temp temporary confirm confirmation
    confirmed history md sha bcrypt scrypt argon pbkdf base hex pem iv s neu alt nuevo nueva nuova novo nova
    nouveau nieuw oud cifrado cifrada hache chiffre versleuteld criptografado
    criptografada blob v
    """
)
"""Words behind a secret that say how it is kept, or which one it is."""
_FORMS_BEFORE = _words(
    """
    hash hashed salted encrypted crypted crypt enc plain plaintext old new current md sha bcrypt scrypt argon
    pbkdf
    """
)
"""Those that also stand before it."""
_ENVIRONMENTS = _words("live prod production staging sandbox test")
"""Words behind a key, a token or a password that say where it counts."""
_ASKS = _words(
    """
    is has had must need needs require requires required allow allows can may should shall force forces show
    hide enable enables use uses no without count num number
    """
)
"""First words of names that hold an answer about a secret, or a number of them."""
_PASSWORDS = _words(
    """
    password passwords passwd passwort pwd pwds pswd psw passphrase passphrases passcode passcodes passw
    passwrd psswd pswrd pword upass kennwort kennworter geheimzahl mdp contrasena contrasenas contrasenia
    contrasinal senha senhas wachtwoord wachtwoorden losenord adgangskode kodeord kodord passord salasana
    heslo haslo hasło jelszo sifre şifre lozinka parol пароль пароли
    密码 密碼 口令 パスワード 暗証番号 비밀번호
    """
)
_ABOUT_PASSWORDS = _words(
    """
    at on by date datetime time timestamp day days age expiry expires expire expired expiration changed change
    changes updated update set sets resets requested requests reminder sent policy policies length strength
    count counter hint hints question type id ids name enabled disabled required needed attempts attempt tries
    failures failed errors status state level score rules rule rotation min max minimum maximum complexity
    quality shown visible source provider manager managers protected protection protect format regex algorithm
    algo iterations rounds version login method mode flag valid verified lock locked lockout breach breached
    leaked compromised never last used link page screen email mail user field label category group game
    am vom ablauf geaendert geandert anderung aenderung lange laenge datum abgelaufen gesetzt anzahl
    op gewijzigd vervalt verloopt lengte fecha cambio cambiada caducidad caducada vence vencida
    expira expirada usada usadas longitud total
    le modifie modification expire date duree longueur scadenza modificata lunghezza alterada validade data
    """
)
"""Words behind a password that name something else about it."""
_SECRETS = _PASSWORDS | _words(
    """
    secret secrets geheimnis segredo jwt cvv cvc ccv puk psk otp totp hotp credentials anmeldedaten
    zugangsdaten dsn keytab mpin tpin
    """
)
"""Words that name a secret wherever they end a name."""
_JOINED = (
    *("password", "passwd", "passphrase", "passwort", "passcode", "kennwort", "pwd", "contrasena"),
    *("wachtwoord", "motdepasse", "secret", "token", "apikey", "accesskey", "privatekey", "privkey"),
    *("secretkey", "connectionstring", "connstring", "recoverycodes", "backupcodes", "securitystamp"),
    *("actkey", "authkey", "cryptkey", "enckey", "signkey", "sesskey", "sshkey", "codepin"),
    *("userpass", "usrpass", "dbpass", "adminpass", "loginpass", "dbpw", "zugangscode", "toegangscode"),
    *("onetimecode", "loginkey", "webpass", "toegangssleutel", "sicherheitsantwort", "alarmcode"),
    *("zugangsschluessel", "zugangsschlussel", "zugriffsschluessel", "zugriffsschlussel"),
    *("kartenpruefnummer", "kartenprufnummer"),
    *("cardsecuritycode", "cardverificationcode", "cardverificationvalue", "cardverificationnumber"),
)
"""Endings of names without a sign between their words."""
_JOINED_FORMS = re.compile(
    r"(?:salt(?:ed)?|hash(?:ed)?|digest|crypt(?:ed)?|enc(?:rypted)?|md|sha|history|old|new)+$"
)
"""Forms at the end of such a name."""
_LEFT: Mapping[str, frozenset[str]] = {
    "pass": _words(
        """
        user usr db database smtp imap ftp sftp mail email admin root login my sql mysql pg auth ldap proxy
        account acct app api server remote host wifi vpn rabbit rabbitmq mqtt redis enter require client web
        ssl cert keystore truststore archive zip pdf router device
        """
    ),
    "pw": _words(
        "user usr db admin root login smtp ftp mail email my sql auth account ldap mqtt web wifi wlan"
    ),
    "tokens": _words("access refresh auth api session bearer reset id csrf oauth login device push personal"),
    "tok": _words("access refresh auth api session bearer reset oauth"),
    "key": _words(
        """
        api access private priv secret encryption encrypt encrypted crypto cipher aes des rsa dsa ecdsa hmac
        signing sign signature master license licence auth authentication authenticator authorization
        activation act secure app otp totp hotp mfa recovery reset ssh pgp gpg ssl tls wpa wifi wep fernet jwt
        webhook session sess shared sftp instrumentation decryption confirm unlock password consumer deploy
        cookie cert stripe sendgrid twilio mailgun openai anthropic bitlocker filevault luks client pepper
        login gmaps maps mailchimp gcs wlan vault emv hsm
        kms putty pan
        """
    ),
    "keys": _words("api access private secret encryption signing auth recovery ssh host"),
    "code": _words(
        """
        otp totp mfa tfa recovery backup rescue scratch verification reset passe cvc cvv puk unlock
        activation geheimer
        """
    ),
    "codes": _words("otp totp mfa tfa recovery backup rescue scratch verification reset"),
    "seed": _words("totp otp hotp mfa tfa wallet secret mnemonic hd master bip"),
    "salt": _words("user usr password passwd pass pwd kdf hash auth"),
    "sk": _words("stripe secret api"),
    "mnemonic": _words("wallet bip seed recovery"),
    "private": _words("key passkey rsa xpub dsa ecdsa ed wallet"),
    "exponent": _words("private"),
    "community": _words("snmp"),
    "hash": _words("cred credential login ntlm lm nt reset auth session pin salted shadow remember verify"),
    "bancario": _words("nip pin"),
    "geheim": _words("schluessel schlussel code"),
    "data": _words("track"),
    "word": _words("secret"),
    "words": _words("seed mnemonic recovery secret"),
    "number": _words("pin"),
    "block": _words("pin"),
    "pem": _words("private"),
    "verifier": _words("oauth code pkce"),
    "phrase": _words("seed pass recovery mnemonic secret backup wallet"),
    "stamp": _words("security"),
    "signature": _words("access"),
    "cookie": _words("auth session login remember"),
    "str": _words("connection conn"),
    "string": _words("connection conn authentication auth"),
    "url": _words("database db connection jdbc redis mongo mongodb postgres mysql amqp broker webhook dsn"),
    "uri": _words("database db connection jdbc redis mongo mongodb postgres mysql amqp broker sqlalchemy"),
    # French, German, Spanish, Italian, Portuguese, Dutch
    "confidentiel": _words("code"),
    **dict.fromkeys(
        ("chiffrement", "cifratura", "cifrado", "criptografia"), _words("cle clef clave chave chiave")
    ),
    **dict.fromkeys(("wifi", "encriptada"), _words("cle clef clave")),
    **dict.fromkeys(("tarjeta", "cartao", "carte"), _words("pin seguridad seguranca")),
    "secreto": _words("codigo numero token"),
    "segreto": _words("codice numero"),
    "secreta": _words("clave palabra frase pregunta respuesta chave"),
    "segreta": _words("chiave parola frase risposta"),
    "semilla": _words("frase"),
    "acceso": _words("clave token codigo"),
    "accesso": _words("chiave parola codice token"),
    "acesso": _words("chave codigo token palavra"),
    "acces": _words("cle code jeton"),
    "usuario": _words("clave"),
    "utente": _words("parola"),
    "clave": _words("usuario user"),
    "privada": _words("clave chave llave"),
    "privata": _words("chiave"),
    "privee": _words("cle clef"),
    "secrete": _words("cle clef phrase reponse"),
    "cle": _words("api"),
    "chiave": _words("api"),
    "chave": _words("api"),
    "schluessel": _words("api privater privat geheimer geheim zugangs sicherheits wlan"),
    "schlussel": _words("api privater privat geheimer geheim zugangs sicherheits"),
    "sleutel": _words("api prive geheime toegangs encryptie"),
    "jeton": _words("acces auth"),
    "pincode": _words("kaart bank user"),
    "antwort": _words("sicherheits geheime geheimfrage sicherheitsfrage"),
}
"""Last words that name a secret behind one of these words."""
_ANYWHERE_BEFORE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("answer", "answers"), _words("security secret sec recovery challenge")),
    **dict.fromkeys(
        ("key", "keys", "token", "pat"),
        _words("aws azure gcp google firebase fcm apns twilio stripe paypal slack telegram github gitlab"),
    ),
}
"""Last words that name a secret anywhere behind one of these: `secret_question_answer`, `fcm_server_key`."""
_RIGHT: Mapping[str, frozenset[str]] = {
    "api": frozenset(
        {"cle", "clave", "chiave", "chave", "clef", "llave", "schluessel", "sleutel", "token", "jeton"}
    ),
    "secret": frozenset({"code", "cle", "mot", "jeton", "numero"}),
    "pin": frozenset({"code"}),
    "session": frozenset({"jeton"}),
    "privat": frozenset({"schluessel", "schlussel"}),
}
"""The same in languages that put the kind first."""
_ALONE = _words("pass pw pin clave salt bearer")
"""Words that name a secret where they are the whole name."""
_NO_PINS = _words(
    """
    map maps gpio io product bowling location postal shipping billing address delivery area city state zip
    region drop pull push lapel enamel hair safety rolling cotter data power ground signal analog digital
    output input board connector cable chip header king ball wheel
    """
)
"""Words before `pin` in the name of something else."""
_OWNERS = _words(
    """
    user users usr admin root client customer db database card utilisateur usuario cliente utente
    benutzer gebruiker klant pengguna acceso acesso accesso acces carte tarjeta cartao
    """
)
"""Words behind a password that say whose it is."""
_NO_TOKENS = _words(
    """
    page next prev previous continuation sync cancel cancellation pad eos bos unk special stop mask sep cls
    start end first last numero anzahl aantal
    """
)
"""Words before `token` in the name of something else."""
_PASSWORD_OF_TWO = re.compile(
    r"\b(?:p word|mot passe|palavra passe|palabra (?:paso|secreta)|parola (?:ordine|segreta)|kata sandi)\b"
)
_BETWEEN = _words("de del des du da do di d of la le el")
"""Words that only tie two others, as in `clave_de_acceso`."""


@lru_cache(maxsize=8192)
def names_secret(name: str) -> bool:
    """True if values under this name are secret, as those of a column `password`, `pwdHash` or `api_key2`."""
    if any(sign in name for sign in _CALLS):
        return False
    plain = without_accents(split_identifier(_TWO_FACTORS.sub("tfa", name))).casefold()
    spaced = " ".join(word for word in _WORD.findall(plain) if word not in _BETWEEN)
    words = _PASSWORD_OF_TWO.sub("password", spaced).split()
    if not words or (len(words) > 1 and words[0] in _ASKS):
        return False
    if _is_secret(words) or _is_some_password(words):
        return True
    is_telling = len(words) > 2 or words[0] in _SECRETS
    if words[-1] in _ENVIRONMENTS and is_telling and _is_secret(words[:-1]):
        return True
    first = next((at for at, word in enumerate(words[:-1]) if word not in _FORMS_BEFORE), len(words) - 1)
    if first and _is_secret(words[first:]):
        return True
    forms = len(words)
    while forms > 1 and words[forms - 1] in _FORMS:
        forms -= 1
        if _is_secret(words[:forms]):
            return True
    return words[-1] in ("hash", "bcrypt") and words[0] in ("bcrypt", "argon", "scrypt", "pbkdf")


def _is_some_password(words: Sequence[str]) -> bool:
    """True for a password with words behind it of which none names something else about it."""
    at = next((at for at, word in enumerate(words) if word in _PASSWORDS), None)
    return at is not None and _ABOUT_PASSWORDS.isdisjoint(words[at:]) and _ASKS.isdisjoint(words)


def _is_secret(words: Sequence[str]) -> bool:
    *before, last = words
    left = before[-1] if before else ""
    if last in _SECRETS:
        return True
    if last == "token" or last.endswith("token"):
        return left not in _NO_TOKENS and last.removesuffix("token") not in _NO_TOKENS
    if last == "pin" and left not in _NO_PINS:
        return True
    if not before and last in _ALONE:
        return True
    if left in _LEFT.get(last, ()) or left in _RIGHT.get(last, ()):
        return True
    if not _ANYWHERE_BEFORE.get(last, frozenset()).isdisjoint(before):
        return True
    if left in _PASSWORDS and last in _OWNERS:
        return True
    joined = "".join(words)
    bare = _JOINED_FORMS.sub("", joined)
    return bare.endswith(_JOINED) or (bare != joined and bare in _ALONE)
