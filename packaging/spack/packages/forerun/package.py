"""spack repo add packaging/spack, then in a checkout of the sources: spack dev-build forerun@0.2.0"""

from spack.package import *


class Forerun(CMakePackage):
    """What a distributed training run will cost in time, energy and memory, and which configuration
    is best: analytical model, event simulator and calibration on the user's own hardware."""

    license("Apache-2.0")
    version("0.2.0")

    variant("simgrid", default=False, description="networks and ranks that SimGrid simulates")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+simgrid")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("go-md2man", type="build")
    depends_on("cmocka", type="build")
    depends_on("jansson@2.13:")
    depends_on("gsl@2.7:")
    depends_on("hwloc@2.4:")
    depends_on("mpi")
    depends_on("openblas")
    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("gnuplot", type="run")

    def cmake_args(self):
        return [self.define("CMAKE_BUILD_TYPE", "Release")]
