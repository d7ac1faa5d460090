"""The recipes of Spack, conda and the container, held against the build they are of, where none of the three can run.
Spack's is executed on stand-ins for its directives, and both name the version, the dependencies and the least versions
that CMakeLists.txt asks for; the container copies files that are there and calls functions that are.

recipe.py SOURCE"""
import pathlib
import re
import sys
import types

source = pathlib.Path(sys.argv[1])


def run_recipe(path):
    """Class and directives of a package.py, {directive: [(words, named)]}."""
    said = {}
    api = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts", "provides"):
        setattr(api, name, lambda *words, _name=name, **named: said.setdefault(_name, []).append((words, named)))

    class CMakePackage:
        @staticmethod
        def define(key, value):
            return f"-D{key}:STRING={value}"

    api.CMakePackage = CMakePackage
    api.__all__ = [name for name in vars(api) if not name.startswith("_")]
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), api
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)  # pylint: disable=exec-used
    return names["Forerun"], said


def asked():
    """{name: least version or ""} of CMake's own lines, in pkg-config's words."""
    text = "\n".join((source / name).read_text() for name in ("CMakeLists.txt", "cmake/simgrid.cmake", "tests/CMakeLists.txt"))
    found = re.findall(r"pkg_check_modules\(\w+ (?:REQUIRED|QUIET) IMPORTED_TARGET ([a-z]+)(?:>=([\d.]+))?\)", text)
    needs = dict(found)
    needs["cmake"] = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", text)[1]
    needs["mpi"] = ""
    return needs


package, directives = run_recipe(source / "packaging/spack/packages/forerun/package.py")
wanted = re.search(r"project\(forerun VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]
assert wanted in [words[0] for words, _ in directives["version"]], f"no version {wanted}"
for name, pattern in {"library/include/forerun.h": r'FORERUN_VERSION "([\d.]+)"', "CITATION.cff": r"^version: ([\d.]+)",
                      "packaging/debian/changelog": r"forerun \(([\d.]+)\)", "CHANGELOG.md": r"^## ([\d.]+)",
                      "docs/explanation/accuracy.md": r"of forerun ([\d.]+\d)"}.items():
    there = re.search(pattern, (source / name).read_text(), re.MULTILINE)
    assert there and there[1] == wanted, f"{name} states version {there and there[1]}, CMakeLists.txt {wanted}"
stated = {}
for (spec,), named in directives["depends_on"]:
    name, _, version = spec.partition("@")
    stated[name] = version.rstrip(":")
    assert set(named) <= {"type", "when"}, f"{spec}: {named}"
for name, least in asked().items():
    assert name in stated, f"the recipe does not depend on {name}"
    assert stated[name] == least, f"{name}: CMake asks for {least or 'any'}, the recipe for {stated[name] or 'any'}"
assert package().cmake_args() == ["-DCMAKE_BUILD_TYPE:STRING=Release"]
assert (source / "packaging/spack/repo.yaml").read_text() == "repo:\n  namespace: forerun\n"

# conda-forge's names; tests and SimGrid are not built there.
conda = (source / "packaging/conda/meta.yaml").read_text()
assert f'{{% set version = "{wanted}" %}}' in conda, f"conda's recipe is not of version {wanted}"
needs = dict(re.findall(r"^    - ([a-z0-9-]+)(?: >=([\d.]+))?$", conda, re.M))
for name, least in asked().items():
    name = {"hwloc": "libhwloc", "mpi": "openmpi"}.get(name, name)
    if name in ("cmocka", "simgrid"):
        continue
    assert name in needs, f"conda's recipe does not depend on {name}"
    assert needs[name] == least, f"{name}: CMake asks for {least or 'any'}, conda's recipe for {needs[name] or 'any'}"
options = re.findall(r"-D([A-Z_]+)=", conda)
assert options == ["CMAKE_BUILD_TYPE", "BUILD_TESTING"], options
assert (source / re.search(r"license_file: (\S+)", conda)[1]).is_file()

container = (source / "packaging/Containerfile").read_text()
setup = (source / "cmake/setup.sh").read_text()
assert ". cmake/setup.sh && fr_install $fr_packages" in container
assert "fr_install()" in setup and "fr_packages=" in setup
# One dated state of Debian: no tag that moves, no mirror that does.
day = re.search(r"^ARG DAY=(20\d{6})$", container, re.M)[1]
stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", container, re.M)
for image, _ in stages:
    assert image in [name for _, name in stages] or re.fullmatch(rf"\S+:[a-z]+-{day}-slim|\S+@sha256:[0-9a-f]{{64}}", image), image
assert "snapshot.debian.org/archive/%s/%sT000000Z" in container and "rm -f /etc/apt/sources.list.d/debian.sources" in container
assert '"name": "release"' in (source / "CMakePresets.json").read_text()
print(f"recipe of {wanted}: {len(asked())} dependencies as CMake has them")
