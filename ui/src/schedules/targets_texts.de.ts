import type { Translated } from "../shared/translated";
import type { targetTexts as english } from "./targets_texts";

export const targetTexts: Translated<typeof english> = {
  legend: "Auch an Menschen senden",
  mail: "E-Mail-Adressen, durch Kommas getrennt",
  address: "ada@beispiel.de",
  chat: "Chat: die URL eines Webhooks von Slack, Teams, Discord und anderen",
  chatHint: "Die URL wird verschlüsselt gespeichert und nicht mehr gezeigt.",
  remove: (label) => `Nicht mehr an ${label} senden`,
  sent: (labels) => `und Nachrichten an ${labels}`,
  test: (times) => `Einen Test senden: ${times}`,
  tested: (labels) => `Ein Test ist gesendet an ${labels}.`,
  notDelivered: (label, error) => `Nicht gesendet an ${label}: ${error}`,
  waiting: (label, error) => `Das Senden an ${label} wird wiederholt: ${error}`,
  webhook: "den Webhook",
};
