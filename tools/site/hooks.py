"""Hooks of mkdocs: pages that lie outside of docs/, and links from one page to another.

On GitHub the pages are read where they lie; so their links are paths in the repository. On the site a link to another page leads to
that page, and a link to anything else to the file in the repository.
"""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/ndfile/ndfile/blob/main/"
# Files of the repository, and the pages that they are.
OUTSIDE = {
    **{f"pkg/{p.parent.name}/README.md": f"formats/{p.parent.name}.md" for p in ROOT.glob("pkg/*/README.md")},
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}


def on_files(files, config):
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for picture in sorted(ROOT.glob("benchmarks/results/*.png")):
        files.append(File.generated(config, f"results/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown, page, config, files):
    page_of = {**{f"docs/{f.src_uri}": f.src_uri for f in files}, **OUTSIDE}
    page_of |= {f"benchmarks/results/{Path(u).name}": u for u in page_of.values() if u.startswith("results/")}
    repository_path = {page: source for source, page in page_of.items()}
    here = Path(repository_path[page.file.src_uri]).parent

    def link(found):
        target, _, anchor = found[2].partition("#")
        path = os.path.normpath(here / target)
        if path in page_of:
            target = os.path.relpath(page_of[path], Path(page.file.src_uri).parent)
        elif (ROOT / path).exists():
            target = REPOSITORY + path
        return f"{found[1]}({target}{'#' + anchor if anchor else ''})"

    fences = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.S | re.M)
    fences[::2] = [re.sub(r"(\])\((?!\w+:|#)([^)\s]+)\)", link, text) for text in fences[::2]]
    return "".join(fences)
