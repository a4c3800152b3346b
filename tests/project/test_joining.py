"""Files for people who join or cite the project: they agree with each other and with the package."""

from __future__ import annotations

import re
import tomllib

import pytest

from support.places import ROOT
from topoi import __version__

yaml = pytest.importorskip("yaml")  # comes with distributed
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def recipe():
    """The conda recipe, its two variables filled in."""
    text = (ROOT / "recipe" / "meta.yaml").read_text("utf-8")
    values = dict(re.findall(r'^\{% set (\w+) = "(.*)" %\}$', text, re.MULTILINE)) | {"PYTHON": "python"}
    text = re.sub(r"^\{%.*%\}\n", "", text, flags=re.MULTILINE)
    return yaml.safe_load(re.sub(r"\{\{ (\w+) \}\}", lambda match: values[match[1]], text))


def test_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == PROJECT["name"]
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_conda_recipe_needs_what_the_package_needs():
    found = recipe()
    assert str(found["package"]["version"]) == __version__
    assert found["build"]["noarch"] == "python"
    run = {line.replace(" ", "") for line in found["requirements"]["run"]}
    assert run == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    (entry,) = found["build"]["entry_points"]
    assert dict([entry.split(" = ")]) == PROJECT["scripts"]
    assert found["about"]["summary"] == PROJECT["description"]
    assert found["about"]["license"] == PROJECT["license"]
    assert (ROOT / found["about"]["license_file"]).is_file()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form)
    kinds = [part["type"] for part in form["body"]]
    assert set(kinds) <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked) > 0
    assert all(part["attributes"]["label"] for part in asked)


def test_pre_commit_runs_the_checks_of_contributing():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook["entry"] for entry in config["repos"] for hook in entry["hooks"]]
    checks = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for hook in hooks:
        assert re.search(rf"^{re.escape(hook.removesuffix(' --force-exclude'))} +#", checks, re.MULTILINE), hook
    assert len(hooks) == 4


def test_no_address_is_made_up():
    """There is no public address yet: nothing may name one. Remove this test when there is."""
    assert "urls" not in PROJECT
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"url", "repository-code", "repository", "doi"}.isdisjoint(citation)
