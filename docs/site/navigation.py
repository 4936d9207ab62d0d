"""The navigation: sections of pages. A page that no section names is in the section "More"."""

SECTIONS = {
    "Learn": ["docs/mixed-precision.md", "docs/tour.md", "docs/glossary.md", "docs/loss-scalers.md",
              "docs/gemm_ladder.md", "docs/paper.md"],
    "Use": ["docs/own_data.md", "docs/distributed.md", "docs/python.md", "docs/inspector.md", "docs/report.md", "docs/tracing.md",
            "docs/files.md", "docs/dtypes.md", "docs/packages.md", "docs/guards.md", "docs/eigen.md", "docs/differences.md",
         "docs/libtorch.md"],
    "Check kernels": ["docs/kernel_check.md", "docs/kernel_faults.md", "docs/kernel_budget.md", "docs/emulator.md", "docs/planted_bugs.md",
                      "docs/kernel_audit.md", "docs/pytorch_ops.md", "docs/gpu-verified.md"],
    "Reference": ["docs/ops.md", "docs/performance.md", "docs/performance_gpu.md", "docs/performance_cpu.md"],
    "Develop": ["CONTRIBUTING.md", "docs/adding_an_op.md", "docs/dependencies.md",
                "tests/README.md", "emulator/README.md", "CHANGELOG.md"],
}
# Titles of pages in the navigation, where the page's own title is long.
TITLES = {
    "docs/mixed-precision.md": "Mixed precision", "docs/tour.md": "Tour of the code",
    "docs/python.md": "Python", "docs/eigen.md": "Eigen", "docs/ops.md": "Ops",
    "docs/labs.md": "All labs", "tests/README.md": "Tests",
    "emulator/README.md": "Sources of the emulator",
    "CHANGELOG.md": "Changes", "CONTRIBUTING.md": "Contributing",
}


def navigation(pages, api_pages):
    """The `nav` of MkDocs, for the repository's pages and those made from headers."""
    # A README is the first page of its folder.
    left = sorted(set(pages) - {"README.md"}, key=lambda page: page.replace("README.md", ""))

    def take(wanted):
        taken = [page for page in wanted if page in left]
        for page in taken:
            left.remove(page)
        return [{TITLES[page]: page} if page in TITLES else page for page in taken]

    def below(folder):
        return take([page for page in left if page.startswith(folder)])

    nav = [{"Home": "README.md"}]
    for title, wanted in SECTIONS.items():
        entries = take(wanted)
        if title == "Learn":
            course = below("docs/course/")
            exercises = below("examples/course/")
            entries[1:1] = [{name: part} for name, part in
                            (("Course", course), ("Exercises", exercises)) if part]
            labs = [{_title_of_lab(page): page} for page in below("labs/")]
            entries.append({"Labs": take(["docs/labs.md"]) + labs})
        if title == "Reference":
            entries.append({"C++ API": _api(api_pages)})
            entries.append({"Measurements": below("bench/results/")})
        if title == "Develop":
            entries += below("tests/")
        nav.append({title: entries})
    rest = take(left)
    return nav + ([{"More": rest}] if rest else [])


def _title_of_lab(page):
    """labs/late_growth/README.md is "late growth", its answer.md "late growth: answer"."""
    title = page.split("/")[1].replace("_", " ")
    return f"{title}: answer" if page.endswith("/answer.md") else title


def _api(pages):
    """Headers by folder: api/core/array.h.md is the page "array.h" in "core"."""
    folders = {}
    for page in pages:
        folder, _, name = page.removeprefix("api/").rpartition("/")
        folders.setdefault(folder, []).append({name.removesuffix(".md"): page})
    top = folders.pop("", [])
    return ["api/index.md"] + [{folder: entries} for folder, entries in folders.items()] + top
