"""The wheel of the Python module, with libforerun and the program inside: CMake builds the library, as for everyone else (pyproject.toml)."""

import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(forerun VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class Build(build_py):
    """The module's folder, and library and program beside __init__.py, where it looks first."""

    def run(self):
        super().run()
        built = ROOT / "build" / "wheel"
        subprocess.run(["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(built), "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG", "-DBUILD_TESTING=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(built), "--target", "libforerun", "forerun"], check=True)
        folder = pathlib.Path(self.build_lib, "forerun")
        for library in (built / "lib").glob("libforerun.so.[0-9]"):
            shutil.copyfile(library.resolve(), folder / library.name)
        shutil.copy(built / "bin" / "forerun", folder / "forerun")


class Binary(Distribution):
    """A wheel of this kind of machine."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """Of any Python 3: the module calls the library by ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=VERSION, distclass=Binary, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
