"""What programs that preview links read of a link: the page's Open Graph tags, and the picture. No sign-in.

Only links whose owner has allowed it have either, while they are valid.
"""

from html import escape
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.core.storage.port import StorageUnavailable
from app.http.own_address import own_address
from app.modules.session.chart_files import Drawing, PictureQuery, picture_answer
from app.modules.sharing.errors import LinkUnknown
from app.modules.sharing.router import LinkId, Service
from app.modules.sharing.service import Preview
from app.web.page import page

_CACHE = "public, max-age=300"
"""A program may keep the picture for five minutes after a link was revoked."""

router = APIRouter(include_in_schema=False)


async def _may_be_previewed(link_id: LinkId, sharing: Service) -> Preview | None:
    try:
        return await sharing.preview(link_id)
    except (LinkUnknown, StorageUnavailable):
        return None


Found = Annotated[Preview | None, Depends(_may_be_previewed)]


@router.api_route("/shared/{link_id}", methods=["GET", "HEAD"])
async def shared_page(request: Request, found: Found) -> Response:
    return page(request, head="" if found is None else _tags(found, own_address(request.scope)))


@router.api_route("/shared/{link_id}/preview.png", methods=["GET", "HEAD"])
async def preview_picture(request: Request, found: Found, pictures: Drawing) -> Response:
    """Answers 404 for a link without a preview or a chart."""
    if found is None:
        raise LinkUnknown
    query = PictureQuery()
    return await picture_answer(request, pictures, found.chart, ending="png", query=query, cache=_CACHE)


def _tags(found: Preview, address: str) -> str:
    link = f"{address}/shared/{found.link_id}"
    image = {} if found.chart is None else {"og:image": f"{link}/preview.png", "og:image:type": "image/png"}
    tags = {
        "og:type": "website",
        "og:site_name": "KAI",
        "og:url": link,
        "og:title": found.title,
        "og:description": found.description,
        **image,
        "twitter:card": "summary_large_image" if image else "summary",
    }
    shown = [(name, text) for name, text in tags.items() if text]
    lines = [f'<meta property="{name}" content="{escape(text, quote=True)}" />' for name, text in shown]
    return "\n".join(['<meta name="robots" content="noindex" />', *lines])
