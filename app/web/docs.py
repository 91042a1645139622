"""Serves Swagger UI at `/docs` from KAI's own files, with the content security policy of the page."""

from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.types import Scope

from app.web.page import HEADERS, STATIC, UnbuiltFiles

SWAGGER_UI = STATIC / "docs"
"""Written by `make ui`. Without these files, `/docs` explains that they are missing."""
_PAGE = Path(__file__).parent / "swagger" / "index.html"

_docs = APIRouter(include_in_schema=False)


def serve_docs(app: FastAPI) -> None:
    app.include_router(_docs)
    files = _Files(directory=SWAGGER_UI, packages=[("app.web", "swagger")], check_dir=False)
    app.mount("/docs", GZipMiddleware(files))


class _Files(UnbuiltFiles):
    """The files of Swagger UI, whose names stay the same from one version to the next."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


@_docs.api_route("/docs", methods=["GET", "HEAD"])
async def docs() -> Response:
    return FileResponse(_PAGE, headers=HEADERS)
