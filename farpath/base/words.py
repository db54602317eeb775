"""Words: the grammar of options that have parts, as in ``2004:ring=256,card=1Gbit``."""

from __future__ import annotations

from collections.abc import Collection

from farpath.base.errors import BadInputError


def parse_words(
    text: str,
    option: str,
    given: str,
    example: str,
    keys: Collection[str] = (),
    bare: bool = False,
) -> tuple[dict[str, str], list[str]]:
    """Parse words that commas separate: values by key, and words without a value in their order.

    ``option``, ``given``: of which the words are a part, for errors. ``keys``: those that are
    allowed, empty for any. ``bare``: whether words may stand without a value. Raises BadInputError
    for an empty word, a key without a value, one that is not allowed, and one that occurs twice.

    >>> parse_words("100,2000,flow=flow1", "drop", "", "every:9", ("flow",), bare=True)
    ({'flow': 'flow1'}, ['100', '2000'])
    """
    values: dict[str, str] = {}
    words = []
    problem = ""
    for part in text.split(","):
        word, equals, value = (piece.strip() for piece in part.partition("="))
        if not word:
            problem = "a word is missing at a comma, a colon or an equals sign"
        elif not equals and bare:
            words.append(word)
            continue
        elif keys and word not in keys:
            problem = f"'{word}' is none of {', '.join(keys)}"
        elif not value:
            problem = f"{word} needs a value"
        elif word in values:
            problem = f"{word} is given twice"
        if problem:
            remedy = f"write it as in {example}"
            raise BadInputError(option=option, given=given, problem=problem, remedy=remedy)
        values[word] = value
    return values, words
