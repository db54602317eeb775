"""Render: pages from the templates beside this file; all that is shown is escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from farpath.report.figures.style import COLOUR_BLIND, NORMAL

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = "templates"
#: How plotly.js draws. It offers these buttons and no other: some versions bring one that sends
#: a chart to a service.
PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "plotlyServerURL": "",
    "modeBarButtons": [
        ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"], ["toImage"],
    ],
}  # fmt: skip


def asset_text(name: str) -> str:
    """A file of ``farpath/report/html/templates`` as it is."""
    return resources.files(__package__).joinpath(TEMPLATES, name).read_text(encoding="utf-8")


def plotly_js() -> str:
    """plotly.js as its Python package brings it."""
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text


@cache
def _environment() -> Environment:
    import jinja2
    from markupsafe import Markup

    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    # Our own files, written into a page that must need no other
    made.globals["asset"] = lambda name: Markup(asset_text(name))
    made.globals["plotly_js"] = lambda: Markup(plotly_js())
    made.globals["plotly_config"] = PLOTLY_CONFIG
    made.globals["normal"] = NORMAL
    made.globals["colour_blind"] = COLOUR_BLIND
    return made


def render(template: str, **values: Any) -> str:
    """A template's text; a value that it needs and is not given is an error of ours."""
    return _environment().get_template(template).render(**values)
