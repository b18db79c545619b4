"""Every block of code in the documentation runs as it stands there, and every link leads somewhere."""

import os
import re

import pages
import pytest

import ndfile

ROOT = pages.ROOT
PAGES = pages.pages()
# Why a block does not run. What runs it otherwise would run this test.
REASONS = {
    "it runs this test",
    "it needs a server",
    "it needs cargo and libclang; tools/test-install.sh runs it",
}


def name(page):
    return str(page.relative_to(ROOT))


# Pages that need other packages run in ecosystem/test_pages_of_packages.py.
@pytest.mark.parametrize("page", [p for p in PAGES if not pages.needs(p)], ids=name)
def test_page(page, tmp_path):
    done = pages.start(page, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_have_a_language_and_a_way_to_run(page):
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^ *```(.*)$", text, re.M)
    assert all(fences[::2]), "a block without a language"
    for line, language, code, note in pages.blocks(page):
        if note.startswith("not run:"):
            assert note[9:] in REASONS, f"line {line}: {note}"
        if language == "go" and not note:
            assert "func main()" in code, f"line {line}: a fragment needs <!-- from FILE -->"
    languages = [language for _, language, _, note in pages.blocks(page) if not note]
    for i, language in enumerate(languages):
        assert language not in pages.EXAMPLE or "sh" in languages[i:], (
            f"nothing compiles the {language} block"
        )


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links(page):
    code = r"^ *```.*?^ *```|`[^`\n]+`(?!\])"  # in which f[T](x) is no link
    text = re.sub(code, "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), target


def test_reference_has_every_name():
    """Errors stand together in one entry."""
    page = (ROOT / "docs" / "api" / "python.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: ndfile\.(\w+)$", page, re.M)
    names = set(ndfile.__all__) - set(ndfile._errors.__all__) - {"__version__", "blosc"}
    assert sorted(shown) == sorted(names | {"_errors"})


def test_checking_can_fail(tmp_path):
    """A page that is wrong is noticed: what it prints, what it calls, what it quotes."""
    for body in (
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nimport ndfile\nndfile.nothing\n```\n",
        "```console\n$ echo a\nb\n```\n",
        "```sh\nfalse\n```\n",
        "<!-- from README.md -->\n```go\nfunc nowhere()\n```\n",
    ):
        page = ROOT / "build" / f"wrong-{os.getpid()}.md"
        page.write_text(body)
        folder = tmp_path / str(abs(hash(body)))
        folder.mkdir()
        done = pages.start(page, folder)
        page.unlink()
        assert done.returncode != 0, body
