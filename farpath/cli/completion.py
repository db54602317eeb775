"""Completion in a shell: values of options, and the words that bash makes of ``--option=value``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

#: Environment variables of bash's completion: the words, and the index of the current one.
WORDS, INDEX = "COMP_WORDS", "COMP_CWORD"


def completion(words: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes a text, after a plus each part of it.

    >>> completion(lambda: ("cubic", "reno"))("cubic+r")
    ['cubic+reno']
    """

    def complete(incomplete: str) -> list[str]:
        before, plus, last = incomplete.rpartition("+")
        return [f"{before}{plus}{word}" for word in words() if word.startswith(last)]

    return complete


def join_values(environment: MutableMapping[str, str]) -> None:
    r"""Remove the equals signs that bash makes words of their own, which typer takes for values.

    typer's script hands over a word on each line.

    >>> environment = {"COMP_WORDS": "farpath\nrun\n--path\n=\nce", "COMP_CWORD": "4"}
    >>> join_values(environment)
    >>> environment["COMP_WORDS"].split(), environment["COMP_CWORD"]
    (['farpath', 'run', '--path', 'ce'], '3')
    """
    words, index = environment.get(WORDS, "").split("\n"), environment.get(INDEX, "")
    if not (index.isdigit() and "=" in words[: int(index)]):
        return
    before, rest = words[: int(index)], words[int(index) :]
    kept = [word for word in before if word != "="]
    environment[WORDS], environment[INDEX] = "\n".join([*kept, *rest]), str(len(kept))
