"""Prints the API's description, from which the page's types are made."""

import json
import sys

from app.main import describe_api

json.dump(describe_api().openapi(), sys.stdout)
