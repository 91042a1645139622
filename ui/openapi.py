"""Prints the API's description, from which the page's types are made."""

import json
import sys
from dataclasses import replace

from app.http.description.apis import API_V1, OTHER_APIS
from app.http.description.documents import route_document
from app.main import describe_api

# The page reads the memories and conversations of the chat's contract, too.
_READ = replace(API_V1, paths=f"{API_V1.paths}|{OTHER_APIS['chat'].paths}")

json.dump(route_document(describe_api(), _READ), sys.stdout)
