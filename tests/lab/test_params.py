"""Parameters of notebooks (DESIGN 8): papermill's traps end in a sentence that says how to go on."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.params import accept_parameters, refuse_unknown, typed


def notebook(**values: Any) -> dict[str, Any]:
    """What a kernel's globals hold after the parameters cell and papermill's own."""
    declared = {"version": str, "posture": str, "attempts": int, "timeout_s": "float | None", "quiet": bool}
    defaults: dict[str, Any] = {
        "version": "1.0",
        "posture": "trusting",
        "attempts": 1,
        "timeout_s": None,
        "quiet": False,
    }
    cell = "# Parameters\n" + "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return defaults | values | {"__annotations__": declared, "In": ["", "version: str = '1.0'", cell]}


def test_defaults_are_taken_as_they_stand() -> None:
    assert accept_parameters(notebook()) == {
        "version": "1.0",
        "posture": "trusting",
        "attempts": 1,
        "timeout_s": None,
        "quiet": False,
    }


def test_a_version_that_arrives_as_a_float_is_refused_with_how_to_quote_it() -> None:
    with pytest.raises(Misuse) as refused:
        accept_parameters(notebook(version=1.0))
    assert refused.value.message == (
        "version is 1.0, expected text: papermill's `-p version 1.0` arrives as a float. "
        'Use `-r version 1.0`, or quote it in the YAML of -y or -f: version: "1.0"'
    )


def test_a_misspelt_parameter_is_refused_with_the_nearest() -> None:
    with pytest.raises(Misuse, match="no parameter 'postrue'; did you mean 'posture'"):
        accept_parameters(notebook(postrue="enforcing"))


def test_what_a_user_defines_in_jupyterlab_is_no_parameter() -> None:
    space = notebook() | {"In": ["", "x = 3"], "x": 3}
    assert "x" not in accept_parameters(space)


@pytest.mark.parametrize(("given", "read"), [("true", True), ("False", False), (True, True)])
def test_a_boolean_may_arrive_as_a_word(given: Any, read: bool) -> None:
    space = notebook(quiet=given)
    accept_parameters(space)
    assert space["quiet"] is read


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("quiet", "perhaps", "expected true or false"),
        ("quiet", 1, "expected true or false"),
        ("attempts", True, "expected a whole number"),
        ("attempts", 2.0, "expected a whole number"),
        ("attempts", "2", "expected a whole number"),
        ("timeout_s", float("nan"), "expected a finite number"),
        ("timeout_s", "5", "expected a number or None"),
        ("version", None, "expected text"),
        ("version", True, "arrives as true or false"),
    ],
)
def test_other_types_are_refused_with_what_was_expected(name: str, value: Any, told: str) -> None:
    with pytest.raises(Misuse, match=told):
        accept_parameters(notebook(**{name: value}))


def test_a_whole_number_of_seconds_is_a_number() -> None:
    space = notebook(timeout_s=30)
    accept_parameters(space)
    assert space["timeout_s"] == 30.0 and isinstance(space["timeout_s"], float)


def test_a_word_out_of_the_list_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        Misuse, match="posture is 'enforce'; expected 'trusting' or 'enforcing'; did you mean 'enforcing'"
    ):
        accept_parameters(notebook(posture="enforce"), choices={"posture": ("trusting", "enforcing")})


@pytest.mark.parametrize(
    ("name", "value"),
    [("token", "abc"), ("api_key", "abc"), ("header", "Bearer abcdefgh"), ("url", "https://user:word@example.com/")],
)
def test_secrets_never_come_as_values(name: str, value: str) -> None:
    with pytest.raises(Misuse, match="environment variable and give its name"):
        typed(name, value, str)


@pytest.mark.parametrize(
    ("name", "value"), [("token_env", "MY_TOKEN"), ("header_env", "Authorization=MY_TOKEN"), ("api_key_file", "k.txt")]
)
def test_names_of_variables_and_files_are_no_secrets(name: str, value: str) -> None:
    assert typed(name, value, str) == value


@pytest.mark.parametrize("declared", ["bytes", "str | bytes", "os.system('x')", bytes, "list[str]"])
def test_a_parameter_is_declared_as_a_plain_type(declared: Any) -> None:
    if declared == "list[str]":
        assert typed("only", ["a"], declared) == ["a"]
        return
    with pytest.raises(Misuse, match="declare it as"):
        typed("only", "a", declared)


def test_without_a_parameters_cell_it_says_to_run_it() -> None:
    with pytest.raises(Misuse, match="run the parameters cell"):
        accept_parameters({})


def test_unknown_names_list_what_there_is() -> None:
    with pytest.raises(Misuse, match=r"the matrix notebook has no parameter 'x'; it takes a, b"):
        refuse_unknown(["a", "x"], ["b", "a"], where="the matrix notebook")
