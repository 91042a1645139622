"""`kai check-settings`: says what is wrong with the settings of this environment."""

import os
import sys

from pydantic import ValidationError
from pydantic_settings import SettingsError

from app.core.settings import Settings, read_settings
from app.core.variables import unknown_names, value_error_text, variable_error_text
from app.terminal.console import say


def check_settings() -> bool:
    """Prints a line for each unknown name, and for the first invalid value. Returns True if there is none."""
    wrong = unknown_names(os.environ.items(), Settings)
    try:
        read_settings(pass_unknown=True)
    except ValidationError as error:
        wrong.append(value_error_text(error))
    except SettingsError as error:
        wrong.append(variable_error_text(error))
    for sentence in wrong:
        sys.stderr.write(f"kai: {sentence}\n")
    if not wrong:
        say("All settings are valid.")
    return not wrong
