"""Settings with which a busy machine leaves no fact and no profile out of a prompt."""

PATIENT_MEMORY = {"KAI_TUNING__MEMORY__RECALL_MS": "10000", "KAI_TUNING__MEMORY__PROFILE_SECONDS": "60"}
