"""The frame: theme, navigation, and how a page is put into Gradio.

A page is one `gr.HTML` whose template is constant. Its script, a module under web/static, fetches
from /api/v1 and writes with `textContent`: values never pass through a template, since Gradio
would evaluate them as code.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Read by gradio when it is imported.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr

STATIC = Path(__file__).resolve().parent.parent / "static"
STATIC_URL = "/ui"
STYLE_SHEETS = ("arena.css", "numbers.css", "runs.css")


# By its whole address: the browser keeps the compiled text of this line, and with it the address
# of the first server of this host that ran it.
_LOAD = """
const root = element.querySelector('.arena');
import(location.origin + '%s').then((page) => page.mount(root)).catch((error) => {
  console.error(error);
  root.textContent = 'This page could not be loaded. Reload it, or look whether the server runs.';
});
"""


@dataclass(frozen=True)
class Page:
    """One page of the app."""

    title: str
    """In the navigation."""
    path: str
    """Without a slash; empty for the first page."""
    script: str
    """The module under web/static that fills it: it exports `mount(element)`."""
    in_navigation: bool = True

    def render(self, home: str) -> None:
        """Add the page to the Gradio blocks under construction."""
        gr.Navbar(main_page_name=home)
        gr.HTML(
            html_template=f'<div class="arena" data-page="{self.path or "play"}"></div>',
            js_on_load=_LOAD % f"{STATIC_URL}/{self.script}",
            apply_default_css=False,
            elem_classes="arena-block",
        )


def build(pages: Sequence[Page]) -> gr.Blocks:
    """All pages in one Gradio app; the first is at the root."""
    first, *others = pages
    title = "Tic-Tac-Toe Arena"
    demo: gr.Blocks
    with gr.Blocks(title=title, analytics_enabled=False) as demo:
        first.render(first.title)
    for page in others:
        with demo.route(page.title, f"/{page.path}", show_in_navbar=page.in_navigation):
            page.render(first.title)
    return demo


def mount_options() -> dict[str, Any]:
    """What `gr.mount_gradio_app` is told: the look, and everything off that no page needs."""
    return {
        "theme": gr.themes.Base(
            font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
        ),
        "head": "".join(
            f'<link rel="stylesheet" href="{STATIC_URL}/{sheet}">' for sheet in STYLE_SHEETS
        ),
        "favicon_path": str(STATIC / "favicon.svg"),
        "footer_links": [],
        "run_history": False,
        "enable_monitoring": False,
        "mcp_server": False,
        "pwa": False,
        "ssr_mode": False,
        "show_error": False,
    }
