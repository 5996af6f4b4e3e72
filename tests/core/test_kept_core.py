"""The parts of kept points and of looking, in C++, against the rules written out plainly (kept.cpp)."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize=null,alignment"]
OPTIONS = ["-std=c++20", "-O1", "-ffp-contract=off", f"-I{ROOT / 'core'}", "-DRIPARIAN_SANITIZE=1"]
AVX2 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2"]
AVX512 = [*AVX2, "-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"]


def test_kept_points_lists_and_looks_follow_the_rules(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    instruction_sets = {"baseline": []}
    options = OPTIONS + SANITIZE + ["-fno-sanitize-recover=all"]
    if platform.machine() in ("x86_64", "AMD64"):
        options.append("-DRIPARIAN_X86=1")
        instruction_sets |= {"avx2": AVX2, "avx512": AVX512}
    objects = []
    for name, machine in instruction_sets.items():
        objects.append(tmp_path / f"{name}.o")
        source = [f"-DRIPARIAN_KERNELS={name}", "-c", ROOT / "core/kernels/kernels.cpp"]
        subprocess.run([compiler, *options, *machine, *source, "-o", objects[-1]], check=True)
    program = tmp_path / "kept"
    source = [ROOT / "tests/core/kept.cpp", *objects]
    subprocess.run([compiler, *options, *source, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.endswith("all as the rules say\n")
