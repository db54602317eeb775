"""What image builds take of this machine: Debian's packages, and how apt and pip get theirs."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from operator import itemgetter
from pathlib import Path

from messages import (
    IMAGES,
    Refused,
    answer_of,
    do,
    last_line,
    output_of,
    say,
    variable,
)

OFFICIAL_BASE = "debian:trixie-slim"
OWN_BASE = "farpath/debian:trixie-slim"
#: What debian:*-slim images leave out, but for copyrights.
LEFT_OUT = ("doc", "info", "locale", "man", "groff", "linda", "lintian")
#: pip's settings that other machines can follow.
PIP_SETTING = re.compile(
    r"(?:global|install|:env:)\.(index-url|extra-index-url|trusted-host|proxy|cert)='(.*)'"
)
#: Where the image tools has what write_machine writes.
INSIDE = "/etc/farpath-machine"


class NoBase(Exception):
    """No image of Debian is here, and none can be pulled."""


def debian(*words: str) -> list[str]:
    """The command for a function of lib/debian.sh."""
    script = 'PART=container; . "$1/lib/debian.sh"; shift; "$@"'
    return ["bash", "-euo", "pipefail", "-c", script, "bash", str(IMAGES), *words]


def make_base() -> None:
    """Make OWN_BASE from Debian's packages, without a registry; raises Refused."""
    do(IMAGES / "host-packages")
    say(f"making {OWN_BASE} from Debian's packages, as {OFFICIAL_BASE} is made (half a minute)")
    options = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in LEFT_OUT]
    options.append("--dpkgopt=path-include=/usr/share/doc/*/copyright")
    emptied = 'rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*'
    options += ["--variant=minbase", "--format=tar", f"--customize-hook={emptied}"]
    title = "org.opencontainers.image.title"
    description = "org.opencontainers.image.description"
    made = f"Made by farpath from the packages of Debian, where {OFFICIAL_BASE} cannot be pulled"
    changes = [
        'CMD ["bash"]',
        f'LABEL {title}="Debian trixie, slim"',
        f'LABEL {description}="{made}"',
    ]
    with tempfile.NamedTemporaryFile() as log:
        whole = import_image(
            debian("debian_bootstrap", log.name, *options), OWN_BASE, changes, Path("/dev/null")
        )
    if not whole:
        raise Refused(3, "no base image was made, as said above")
    say(f"made {OWN_BASE}")


def import_image(archiver: list[str], name: str, changes: list[str], log: Path) -> bool:
    """Make an image of the archive that a command prints; whether both commands succeeded."""
    options = [word for change in changes for word in ("--change", change)]
    with subprocess.Popen(archiver, stdout=subprocess.PIPE) as archive, log.open("wb") as output:
        imported = subprocess.run(
            ["docker", "import", *options, "-", name],
            stdin=archive.stdout,
            stdout=output,
            stderr=None if log == Path("/dev/null") else output,
            check=False,
        )
        assert archive.stdout
        archive.stdout.close()
        return archive.wait() == 0 and imported.returncode == 0


def image_field(name: str, field: str = "{{.Id}}") -> str:
    """What the engine knows of an image; empty if it has none of that name."""
    return output_of("docker", "image", "inspect", f"--format={field}", name)


def base_image() -> str:
    """The image of Debian that is named, the official one, or one like it made before.

    Raises Refused if the one that is named cannot be had, and NoBase if none can.
    """
    if named := variable("BASE_IMAGE"):
        if image_field(named) or not subprocess.call(["docker", "pull", named], stdout=sys.stderr):
            return named
        raise Refused(
            3,
            f"BASE_IMAGE={named} is not here and cannot be pulled, as said above;"
            " unset it, or run 'make base-image'",
        )
    for name in (OFFICIAL_BASE, OWN_BASE):
        if image_field(name):
            return name
    status, said = answer_of("docker", "pull", OFFICIAL_BASE)
    if status:
        raise NoBase(f"{OFFICIAL_BASE} cannot be pulled: {last_line(said)}")
    return OFFICIAL_BASE


def write_machine() -> None:
    """Write images/machine: the archives that this machine asks, and how."""
    proxies = output_of(*debian("proxy_options")).splitlines()
    apt = [f"{line[len('--aptopt=') :]};" for line in proxies]
    pip: list[str] = []
    certificate = b""
    listed = output_of(sys.executable, "-m", "pip", "config", "list").splitlines()
    for setting in sorted(filter(None, map(PIP_SETTING.fullmatch, listed)), key=itemgetter(1)):
        key, value = setting.groups()
        if any(line.startswith(f"{key} = ") for line in pip):
            continue
        if key == "cert":
            try:
                certificate = Path(value).read_bytes()
            except OSError:
                continue
            value = f"{INSIDE}/ca.crt"
            apt.append(f'Acquire::https::CAInfo "{value}";')
        pip.append(f"{key} = {value}")
    if pip:
        pip.insert(0, "[global]")
    texts = {
        "mirror": output_of(*debian("debian_mirror")).splitlines(),
        "apt.conf": apt,
        "pip.conf": pip,
    }
    files = {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in texts.items()}
    for name, content in {**files, "ca.crt": certificate}.items():
        file = IMAGES / "machine" / name
        # An unchanged file keeps its time, and so the builder its cache
        if not content:
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
