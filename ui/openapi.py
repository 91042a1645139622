"""Prints the API's description, from which the page's types are made."""

import json
import sys

from app.http.description.apis import API_V1
from app.http.description.documents import route_document
from app.main import describe_api

json.dump(route_document(describe_api(), API_V1), sys.stdout)
