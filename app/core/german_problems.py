"""Problems in German, by their kind: the title, and what helps.

A sentence has the facts of its class in braces. Where the detail of a kind varies, the sentence stands before
it: what a database, a parser or a setting says stays as it is.
"""

from collections.abc import Mapping

from pydantic import JsonValue

_TEXTS: Mapping[str, tuple[str, str]] = {
    "already-decided": (
        "Schon entschieden",
        "Über diesen Aufruf ist schon entschieden ({decision}), und das bleibt so. Fragen Sie noch einmal.",
    ),
    "approval-unclear": (
        "Welche Aufrufe sind gemeint?",
        "Entscheiden Sie über die Aufrufe, die jetzt warten.",
    ),
    "body-too-large": ("Die Anfrage ist zu groß", "Senden Sie weniger auf einmal."),
    "byte-budget": ("Die Datenmenge des Tages ist verbraucht", "Morgen geht es weiter."),
    "call-hash-differs": (
        "Ein anderer Aufruf wurde gezeigt",
        "Der Aufruf, der wartet, ist ein anderer als der gezeigte. Lesen Sie ihn noch einmal.",
    ),
    "changed-meanwhile": (
        "Inzwischen geändert",
        "Das wurde inzwischen geändert, jetzt hat es Version {version}. Lesen Sie es neu.",
    ),
    "chart-choice": ("Dieses Diagramm lässt sich nicht zeichnen", "Wählen Sie eine andere Darstellung."),
    "checkpoint-unreadable": (
        "Der Stand des Gesprächs ist nicht lesbar",
        "Beginnen Sie eine neue Sitzung.",
    ),
    "confirmation-over": (
        "Zu spät",
        "Dieser Aufruf wartet nicht mehr und wurde nicht ausgeführt. Fragen Sie noch einmal.",
    ),
    "conflict": ("Passt nicht zum jetzigen Stand", "Laden Sie neu, und versuchen Sie es noch einmal."),
    "connection-gone": (
        "Die Datenbank fehlt",
        "Die Datenbank dieser Sitzung ist nicht mehr verbunden. Beginnen Sie eine Sitzung mit einer anderen.",
    ),
    "connection-needed": ("Welche Datenbank?", "Diese Sitzung hat noch keine Datenbank. Wählen Sie eine."),
    "consent-needed": (
        "Ein Profil braucht Ihre Einwilligung",
        "Ohne Ihre Einwilligung wird kein Profil geführt.",
    ),
    "consent-outdated": (
        "Die Einwilligung gilt für etwas anderes",
        "Die Adresse des Dienstes oder der Text hat sich geändert. Willigen Sie neu ein.",
    ),
    "content-unsupported": ("Fragen bestehen nur aus Text", "Stellen Sie die Frage als Text."),
    "database-empty": (
        "Die Datenbank hat keine Tabellen",
        "Legen Sie Tabellen an, oder lassen Sie das Konto von KAI sie lesen.",
    ),
    "database-role": ("Die Rolle in der Datenbank fehlt", "Wer KAI betreibt, gibt Ihnen eine Rolle."),
    "database-roles-refused": ("Die Rollen können nicht übernommen werden", "Prüfen Sie die Rollen."),
    "database-unavailable": (
        "Die Datenbank ist nicht verfügbar",
        "Fragen Sie noch einmal, wenn sie erreichbar ist.",
    ),
    "database-unclear": ("Welche Datenbank?", "Nennen Sie die Datenbank."),
    "database-unreachable": (
        "Die Datenbank ist nicht erreichbar",
        "Prüfen Sie Adresse, Benutzer und Passwort.",
    ),
    "database-url-not-supported": (
        "Die Adresse der Datenbank wird nicht unterstützt",
        "Prüfen Sie die Adresse.",
    ),
    "decision-unsupported": ("Keine Entscheidung", "Senden Sie eine Entscheidung."),
    "edit-refused": ("Der Aufruf geht mit diesen Werten nicht", "Ändern Sie die Werte."),
    "example-not-runnable": ("Das SQL des Beispiels würde nicht laufen", "Berichtigen Sie das SQL."),
    "external-memory-not-allowed": (
        "Außerhalb von KAI wird nichts zu dieser Datenbank gespeichert",
        "Wem diese Datenbank gehört, erlaubt nicht, dass ein Dienst außerhalb von KAI sich etwas merkt.",
    ),
    "fact-changed": (
        "Der Fakt wurde inzwischen geändert",
        "Der Fakt wurde inzwischen geändert, angenommen oder ersetzt. Lesen Sie ihn neu.",
    ),
    "fact-needs-confirmation": (
        "Lesen Sie die Warnung, bevor KAI sich dies merkt",
        "{warning} Soll KAI es sich trotzdem merken, bestätigen Sie es.",
    ),
    "fact-place-unclear": ("Wohin der Fakt gehört, ist unklar", "Nennen Sie den Ort des Fakts."),
    "fact-refused": ("Das merkt KAI sich nicht", "Ändern Sie den Text."),
    "facts-full": (
        "Hier haben keine weiteren Fakten Platz",
        "Hier merkt KAI sich höchstens {limit} Fakten ({scope}). Löschen Sie zuerst einige.",
    ),
    "facts-off": (
        "Fakten sind ausgeschaltet",
        "Dieses KAI merkt sich nichts Neues. Wer es betreibt, ändert das mit KAI_MEMORY__FACTS=true.",
    ),
    "file-not-knowledge": ("Die Datei ist nicht lesbar", "Prüfen Sie den Inhalt der Datei."),
    "file-not-readable": ("Die Datei ist nicht lesbar", "Prüfen Sie den Inhalt der Datei."),
    "forbidden": ("Nicht erlaubt", "Dafür fehlt Ihnen ein Recht."),
    "generating-off": ("Nicht gefunden", "Texte werden hier nicht erzeugt."),
    "gone": ("Zu spät", "Fragen Sie noch einmal: was vorbei ist, kommt nicht wieder."),
    "http": ("Die Anfrage geht so nicht", "Prüfen Sie die Anfrage."),
    "idempotency-key-in-use": (
        "Die erste Anfrage läuft noch",
        "Die erste Anfrage mit diesem Idempotency-Key läuft noch. Senden Sie diese gleich noch einmal.",
    ),
    "idempotency-key-malformed": (
        "Ungültige Anfrage",
        "Ein Idempotency-Key hat 1 bis 255 druckbare ASCII-Zeichen und kommt einmal vor.",
    ),
    "idempotency-key-reused": (
        "Ungültige Anfrage",
        (
            "Dieser Idempotency-Key gehört zu einer anderen Anfrage oder zu anderen Attributen. "
            "Nehmen Sie einen neuen."
        ),
    ),
    "internal": (
        "Etwas ist schiefgegangen",
        "Das ist ein Fehler in KAI. Mehr steht im Protokoll unter der Nummer der Anfrage.",
    ),
    "invalid": ("Ungültige Anfrage", "So lässt sich die Anfrage nicht ausführen."),
    "invalid-cursor": (
        "Die Seite passt nicht zur Liste",
        "Ein Cursor gehört zu Liste, Reihenfolge und Filtern, die ihn gaben. Lesen Sie die Liste von vorn.",
    ),
    "investigation-off": (
        "Untersuchungen sind ausgeschaltet",
        "Stellen Sie eine einfache Frage, oder wenden Sie sich an die Administration.",
    ),
    "issuer-unavailable": ("Die Anmeldung ist nicht verfügbar", "Versuchen Sie es gleich noch einmal."),
    "link-not-offered": (
        "Kein Link für diese Datenbank",
        "Diese Datenbank zeigt allen nur die eigenen Zeilen. Geben Sie die Frage weiter.",
    ),
    "malformed": ("Fehlerhafte Anfrage", "Die Anfrage ist nicht richtig geschrieben."),
    "mcp-tool-changed": ("Das Werkzeug hat sich geändert", "Prüfen Sie es, und bestätigen Sie es neu."),
    "messages-invalid": ("Die Nachrichten enthalten keine Frage", "Die letzte Nachricht ist die Frage."),
    "metadata-too-large": (
        "Ungültige Anfrage",
        "Die Metadaten brauchen {size} Bytes, erlaubt sind {most}. Entfernen Sie einige Schlüssel.",
    ),
    "method-not-allowed": ("Diese Methode gibt es hier nicht", "Nehmen Sie eine der erlaubten Methoden."),
    "model-rejected": (
        "Das Sprachmodell hat die Anfrage abgelehnt",
        "Wer KAI betreibt, prüft Schlüssel, Namen und Grenzen des Modells.",
    ),
    "model-unavailable": (
        "Das Sprachmodell ist nicht verfügbar",
        "Fragen Sie gleich noch einmal. Bleibt es so, wenden Sie sich an die Administration.",
    ),
    "model-unknown": ("Nicht gefunden", "Dieses Modell gibt es hier nicht."),
    "no-picture": ("Das Bild lässt sich nicht zeichnen", "Die Tabelle zeigt die Zeilen."),
    "not-found": ("Nicht gefunden", "Das gibt es nicht, oder es gehört anderen."),
    "not-kept-yet": ("Die Frage wird noch gespeichert", "Versuchen Sie es gleich noch einmal."),
    "not-offered": ("Nicht angeboten", "Das bietet dieses KAI nicht an."),
    "not-the-author": ("Nicht Ihr Kommentar", "Nur wer einen Kommentar geschrieben hat, darf ihn ändern."),
    "nothing-to-continue": (
        "Kein Gespräch zum Fortsetzen",
        "Dieser Link zeigt eine Pinnwand und kein Gespräch. Fragen Sie in einer Sitzung ihrer Datenbank.",
    ),
    "nothing-to-pin": (
        "Nichts zum Anheften",
        "Diese Antwort hat kein SQL mit Zeilen. Heften Sie eine Antwort mit Tabelle an.",
    ),
    "nothing-to-report": ("Es gibt nichts zu berichten", "Wählen Sie Antworten aus."),
    "pictures-busy": (
        "Zu viele Bilder werden gerade gezeichnet",
        "Versuchen Sie es in einigen Sekunden noch einmal.",
    ),
    "policies-need-person": (
        "Diese Datenbank zeigt allen nur die eigenen Zeilen",
        "Fragen Sie angemeldet, in einer Sitzung.",
    ),
    "policies-not-valid": ("Die Richtlinien sind nicht gültig", "Berichtigen Sie die Richtlinien."),
    "profile-attribute-full": (
        "Dieser Teil des Profils ist voll",
        "Ein Merkmal hat höchstens 8 Einträge. Löschen Sie zuerst einen.",
    ),
    "profile-item-needs-confirmation": (
        "Lesen Sie die Warnung, bevor KAI sich dies merkt",
        "{warning} Soll KAI es sich trotzdem merken, bestätigen Sie es.",
    ),
    "profile-item-refused": ("Das merkt KAI sich nicht", "Ändern Sie den Text."),
    "profiles-off": (
        "Profile sind ausgeschaltet",
        "Dieses KAI führt keine Profile. Wer es betreibt, kann das mit KAI_MEMORY__PROFILE=true ändern.",
    ),
    "question-not-understood": (
        "Die Frage geht über den eingebauten Schreiber hinaus",
        "Fragen Sie einfacher, oder verbinden Sie ein Sprachmodell.",
    ),
    "question-set-invalid": ("Die Fragensammlung ist nicht gültig", "Berichtigen Sie die Datei."),
    "queue-full": (
        "Zu viele Anfragen",
        "{limit} Fragen warten schon in dieser Sitzung. Fragen Sie wieder, wenn einige beantwortet sind.",
    ),
    "queue-unavailable": (
        "Die Warteschlange ist nicht verfügbar",
        "Die Warteschlange von KAI antwortet nicht. Versuchen Sie es gleich noch einmal.",
    ),
    "rate-limit": ("Zu viele Anfragen", "Warten Sie einen Moment."),
    "request-timeout": ("Die Anfrage ist zu langsam", "Senden Sie sie noch einmal, in kleineren Teilen."),
    "results-invalid": ("Die Ergebnisdatei passt nicht", "Prüfen Sie die Datei."),
    "resume-mismatch": ("Andere Unterbrechungen sind offen", "Beantworten Sie diese."),
    "rule-exists": (
        "Diese Regel gibt es schon",
        "Eine Regel „{name}“ gibt es schon: Ändern Sie diese, oder wählen Sie einen anderen Namen.",
    ),
    "rule-not-readable": ("Die Regel ist nicht lesbar", "Berichtigen Sie die Regel."),
    "rule-of-file": (
        "Die Regel ist eine Datei",
        "Diese Regel ist die Datei {path} in KAI_RULES__PATH: hier lässt sie sich nur ein- und ausschalten.",
    ),
    "rule-unknown": ("Diese Regel gibt es nicht", "Laden Sie die Regeln neu."),
    "schedule-condition": ("Diese Bedingung geht nicht", "Ändern Sie die Bedingung."),
    "schedule-target": ("Dorthin sendet KAI nicht", "Prüfen Sie die Empfänger."),
    "schedule-times": ("Diese Zeiten gehen nicht", "Ändern Sie die Zeiten."),
    "scope-unknown": (
        "Diese Tabelle gibt es nicht",
        "Nennen Sie eine Tabelle, wie die Liste der Tabellen sie schreibt.",
    ),
    "secret-unreadable": (
        "Ein gespeichertes Geheimnis ist nicht lesbar",
        "Geben Sie die Adresse der Datenbank neu ein, oder starten Sie KAI mit dem früheren Schlüssel.",
    ),
    "served-elsewhere": ("Ein anderer Prozess bedient diesen Pfad", "Fragen Sie dort."),
    "session-bound": (
        "Andere Datenbank",
        "Diese Sitzung gehört zur Datenbank {db_connection_id}. Beginnen Sie eine andere Sitzung.",
    ),
    "session-busy": ("Die Sitzung antwortet gerade", "Warten Sie die Antwort ab."),
    "session-closed": (
        "Die Sitzung ist geschlossen",
        "Diese Sitzung ist geschlossen. Öffnen Sie sie wieder, um zu fragen.",
    ),
    "session-exists": (
        "Diese Kennung ist vergeben",
        "Eine Sitzung hat oder hatte diese Kennung. Nehmen Sie eine neue.",
    ),
    "statement-failed": ("Das SQL läuft nicht", "Fragen Sie anders, oder berichtigen Sie das SQL."),
    "statement-not-approved": (
        "Die Abfrage wurde nicht freigegeben",
        "Fragen Sie nach weniger, oder fragen Sie noch einmal und geben Sie die Abfrage frei.",
    ),
    "statement-too-large": (
        "Die Abfrage liest zu viel",
        "Fragen Sie nach weniger, etwa nach einem kürzeren Zeitraum.",
    ),
    "step-timed-out": ("Die Antwort hat zu lange gedauert", "Fragen Sie noch einmal, oder einfacher."),
    "still-stopping": (
        "Wird noch angehalten",
        "Die Sitzung hält noch eine Frage an. Versuchen Sie es gleich noch einmal.",
    ),
    "storage-unavailable": (
        "Der Speicher ist nicht verfügbar",
        "Der Speicher von KAI antwortet nicht; nichts ist verloren. Versuchen Sie es gleich noch einmal.",
    ),
    "summary-failed": ("Das Gespräch ließ sich nicht zusammenfassen", "Versuchen Sie es noch einmal."),
    "tables-unknown": ("Ungültige Anfrage", "Nennen Sie Tabellen, die es gibt."),
    "tested-before": ("Eben erst geprüft", "Warten Sie einen Moment."),
    "token-budget": ("Die Tokens des Tages sind verbraucht", "Morgen geht es weiter."),
    "too-many": ("Zu viele Anfragen", "Warten Sie einen Moment."),
    "too-many-attempts": ("Zu viele Versuche", "Stellen Sie die Frage noch einmal."),
    "too-many-boards": (
        "Zu viele Pinnwände",
        "Sie haben {most} Pinnwände, mehr sind nicht erlaubt. Löschen Sie zuerst eine.",
    ),
    "too-many-comments": (
        "Zu viele Kommentare",
        "Hier sind {most} Kommentare, mehr sind nicht erlaubt. Löschen Sie zuerst einen.",
    ),
    "too-many-facts": (
        "Zu viele Fakten auf einmal",
        "Ein Import nimmt bis zu {limit} Fakten und Einträge. Senden Sie sie in Teilen.",
    ),
    "too-many-items": (
        "Zu viele Einträge",
        "Sie haben {most} Einträge, mehr sind nicht erlaubt. Löschen Sie einige.",
    ),
    "too-many-links": (
        "Zu viele Links",
        "Sie haben {most} Links, mehr sind nicht erlaubt. Widerrufen Sie zuerst einen.",
    ),
    "too-many-pins": (
        "Die Pinnwand ist voll",
        "Diese Pinnwand hat {most} Kacheln, mehr sind nicht erlaubt. Nehmen Sie eine andere.",
    ),
    "too-many-rules": ("Zu viele Regeln", "Es gibt schon {most} Regeln. Löschen Sie zuerst eine."),
    "too-many-runs": ("Zu viele Fragen auf einmal", "Warten Sie eine Antwort ab."),
    "too-many-schedules": (
        "Zu viele Zeitpläne",
        "Sie haben {most} Zeitpläne, mehr sind nicht erlaubt. Löschen Sie zuerst einen.",
    ),
    "too-many-sessions": ("Zu viele Sitzungen", "Löschen Sie zuerst einige."),
    "too-many-streams": ("Zu viele offene Antworten", "Schließen Sie andere Fenster von KAI."),
    "too-many-tables": ("Ungültige Anfrage", "Nennen Sie weniger Tabellen."),
    "too-many-versions": (
        "Zu viele Fassungen",
        "Eine Antwort behält {most} spätere Fassungen. Stellen Sie die Frage neu, um weiterzumachen.",
    ),
    "too-many-webhooks": (
        "Zu viele Webhooks",
        "Sie haben {most} Webhooks, mehr sind nicht erlaubt. Löschen Sie zuerst einen.",
    ),
    "turn-failed": ("Die Frage konnte nicht beantwortet werden", "Fragen Sie noch einmal, oder anders."),
    "unauthenticated": ("Melden Sie sich an", "Ihr Schlüssel oder Ihre Anmeldung gilt nicht."),
    "unsupported": ("Nicht unterstützt", "Das unterstützt KAI nicht."),
    "unsupported-parameter": ("Nicht unterstützt", "Diesen Parameter unterstützt KAI nicht."),
    "upload-quota": ("Ihre Dateien brauchen zu viel Platz", "Löschen Sie zuerst eine."),
    "upload-under-way": ("Eine andere Datei wird gerade gelesen", "Warten Sie, bis sie gelesen ist."),
    "uploads-off": (
        "Dateien werden hier nicht angenommen",
        "Dieses KAI nimmt keine Dateien an. Wer es betreibt, kann sie mit KAI_UPLOADS__MAX_BYTES erlauben.",
    ),
    "validation": ("Die Angaben sind nicht gültig", "Berichtigen Sie die genannten Felder."),
    "weak-tag": (
        "Ein schwaches ETag passt nie",
        "If-Match hat nur schwache ETags (W/), die nie passen. Senden Sie das ETag des Datensatzes.",
    ),
    "webhook-address": ("An diese Adresse sendet KAI nicht", "Prüfen Sie die Adresse."),
    "workers-busy": (
        "Zu viele Anfragen",
        "Zu viele Fragen warten. Fragen Sie gleich wieder.",
    ),
    "wrong-keys": ("Zu viele falsche Schlüssel", "Warten Sie einen Moment."),
}
KINDS = frozenset(_TEXTS)


def german_title(kind: str, title: str) -> str:
    """Returns the German title of a kind of problem; the given one if it has none."""
    return _TEXTS[kind][0] if kind in _TEXTS else title


def german_detail(kind: str, detail: str, facts: Mapping[str, JsonValue] | None) -> str:
    """Returns the detail in German. `facts` are those of a kind that always says the same, else None."""
    if kind not in _TEXTS:
        return detail
    sentence = _TEXTS[kind][1]
    says_all = facts is not None and (not facts or "{" in sentence)
    return sentence.format(**facts or {}) if says_all else f"{sentence} Meldung: {detail}"
