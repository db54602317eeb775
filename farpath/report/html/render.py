"""Rendering of pages from the templates in this package; all texts are escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from farpath.report.figures.stack_colours import HUES, NEUTRAL, NEUTRALS
from farpath.report.table import as_csv

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = "templates"
#: The configuration of plotly.js. It offers only these buttons: some versions have one that sends a
#: chart to a service.
PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "responsive": True,
    "plotlyServerURL": "",
    "modeBarButtons": [
        ["zoom2d", "pan2d"],
        ["zoomIn2d", "zoomOut2d", "resetScale2d"],
        ["toImage"],
    ],
}
#: The place of these buttons in a layout: right of the panels, where they lie on no name of the
#: legend, which stands above them; and the margin in pixels that they need there.
MODEBAR = {"orientation": "v"}
MODEBAR_PX = 45


def asset_text(name: str) -> str:
    """Return a file of ``farpath/report/html/templates`` unchanged."""
    return resources.files(__package__).joinpath(TEMPLATES, name).read_text(encoding="utf-8")


def plotly_js() -> str:
    """Return plotly.js from its Python package."""
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text


@cache
def _environment() -> Environment:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    # Our own files, which are embedded so that a page needs no others
    environment.globals["asset"] = lambda name: Markup(asset_text(name))
    environment.globals["as_csv"] = as_csv
    environment.globals["plotly_js"] = lambda: Markup(plotly_js())
    environment.globals["plotly_config"] = PLOTLY_CONFIG
    environment.globals["hues"] = {**HUES, NEUTRAL: NEUTRALS}
    return environment


def render(template: str, **values: Any) -> str:
    """Render a template; a missing value is a programming error."""
    return _environment().get_template(template).render(**values)
