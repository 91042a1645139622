"""Policies as a YAML file, which people edit and keep beside their code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml
from pydantic import ValidationError

from app.modules.policies.model import AccessPolicy, Policies, TablePolicy

MAX_BYTES = 1_000_000
_MOST_SHOWN = 3
_MOST_NESTED = 50
"""Levels of lists and fields; policies have six. YAML's parser takes a millisecond for each of thousands."""
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of the C library, which PyYAML can be built without, takes a third of the time."""
_VERSION_LINE = re.compile(r"^version:.*$", re.MULTILINE)
_HEAD = "# Policies of a database. `kai policies push` sends them, if they still have this version.\n"
_QUOTES = "Put a text that begins with {{, or holds a colon or #, in double quotes"


NO_LIMITS = Policies(default="allow", policies=[], trusted_views=[])
"""Policies that limit nothing. In a file they say that the database has none."""


class PolicyFileFault(ValueError):
    """A file cannot be read as policies. Its text names lines, and the cure."""


@dataclass(frozen=True)
class PolicyFile:
    """Policies, and the version of the connection that they were made from. None: the file has none."""

    policies: Policies
    version: int | None


def write_policies(policies: Policies | None) -> str:
    """Returns policies as YAML, the same text for the same policies. None are `NO_LIMITS`."""
    written = (policies or NO_LIMITS).model_dump(mode="json", exclude_defaults=True)
    fields = {"default": written["default"], "policies": [], **written}
    text: str = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=1_000)
    return text


def write_policy_file(policies: Policies | None, version: int) -> str:
    """Returns the text of a file."""
    return f"{_HEAD}version: {version}\n{write_policies(policies)}"


def set_version(text: str, version: int) -> str:
    """Returns the text of a file with another version. Its comments stay."""
    file = read_policy_file(text)
    line = f"version: {version}"
    changed, count = _VERSION_LINE.subn(line, text, count=1)
    if not count:
        changed = f"{line}\n{text}"
    try:
        if read_policy_file(changed) == PolicyFile(file.policies, version):
            return changed
    except PolicyFileFault:
        pass  # the line stood in a text, or a head of YAML's own has to be the first
    return write_policy_file(file.policies, version)


def read_policy_file(text: str) -> PolicyFile:
    """Raises `PolicyFileFault`."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise PolicyFileFault(
            f"it is longer than {MAX_BYTES:,} bytes: leave the rest to views of the database"
        )
    try:
        _refuse_costly(text)
        loader = _Loader(text)
        root = loader.get_single_node()
        _refuse_repeated(root)
        loaded: object = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1}: "
        raise PolicyFileFault(f"{line}it is no YAML: {error.problem}. {_QUOTES}") from None
    except yaml.YAMLError:
        raise PolicyFileFault("it has a character that YAML does not allow: remove it") from None
    except PolicyFileFault:
        raise
    except ValueError as error:
        raise PolicyFileFault(f"it has a value that is none of YAML: {error}. {_QUOTES}") from None
    if root is None or not isinstance(loaded, dict):
        raise PolicyFileFault("line 1: it has no fields: write default: allow (or deny) and policies:")
    version: object = loaded.pop("version", None)
    if version is not None and (type(version) is not int or version < 0):
        raise PolicyFileFault(f"line {_find_line(root, ['version'])}: version is a whole number, as pulled")
    try:
        return PolicyFile(Policies.model_validate(loaded), version)
    except ValidationError as error:
        faults = sorted(dict(_faults(error, root)).items())
        shown = "; ".join(f"line {line}: {said}" for line, said in faults[:_MOST_SHOWN])
        more = f"; and {len(faults) - _MOST_SHOWN} more" if len(faults) > _MOST_SHOWN else ""
        raise PolicyFileFault(shown + more) from None


def _faults(error: ValidationError, root: yaml.Node) -> Iterator[tuple[int, str]]:
    """Yields faults with their lines. Of a line with several, the first is the one that fits best."""
    for each in reversed(error.errors()):
        place = each["loc"]
        name = str(place[-1]) if place else "the file"
        said = each["msg"].removeprefix("Value error, ")
        match each["type"]:
            case "extra_forbidden":
                said = f"there is no field {name} here; there are {', '.join(_fields_at(place))}"
            case "missing":
                said = f"{name} is missing"
            case "list_type" if "rows" in place:
                said = "rows is a list of conditions, each behind a dash, or all"
            case _:
                named = ".".join(
                    str(part) for part in place if not str(part).startswith(("list[", "literal["))
                )
                said = f"{named}: {said[:1].lower()}{said[1:]}" if named else said
        yield _find_line(root, place), said


def _fields_at(place: Sequence[int | str]) -> Sequence[str]:
    if len(place) == 1:
        return ["version", *Policies.model_fields]
    return list((TablePolicy if "tables" in place[:-1] else AccessPolicy).model_fields)


def _find_line(root: yaml.Node, place: Sequence[int | str]) -> int:
    """Returns the line of a place, or that of what it is missing in."""
    node, line = root, root.start_mark.line
    for part in place:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is not None:
                line, node = found[0].start_mark.line, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line
    return line + 1


def _refuse_costly(text: str) -> None:
    """A short text of aliases can stand for a huge one, and one of levels takes long to read."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            line = "" if event.start_mark is None else f"line {event.start_mark.line + 1}: "
            raise PolicyFileFault(f"{line}write *{event.anchor} out: a file of policies has no aliases")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_NESTED:
            raise PolicyFileFault("it is nested too deeply: write it as kai policies pull does")


def _refuse_repeated(node: yaml.Node | None) -> None:
    """YAML keeps the last of two fields of one name, and says nothing of the first."""
    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            _refuse_repeated(each)
    if isinstance(node, yaml.MappingNode):
        lines: dict[object, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            first = lines.setdefault(str(key.value), line)
            if first != line:
                raise PolicyFileFault(
                    f"line {line}: {key.value} stands there twice, first in line {first}: put them together"
                )
            _refuse_repeated(value)
