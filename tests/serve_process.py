"""A real `riparian serve`, to be asked, killed and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riparian.client import Client


class Process:
    """`riparian serve` as its own process, at a port that was free."""

    def __init__(
        self,
        state: Path,
        *arguments: str,
        env: dict[str, str] | None = None,
        program: Sequence[Any] = ("-m", "riparian.cli"),
    ) -> None:
        command: Sequence[Any] = [
            sys.executable, "-W", "error", *program, "serve", *arguments,
            "--state", state, *(() if "--port" in arguments else ("--port", "0")),
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
        )
        self.said: list[str] = []
        self.address = self._address()

    def _address(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            match = re.search(r"serving at (\S+)", line)
            if match:
                return match[1]
        self.process.stderr.close()
        self.process.wait(30)
        raise AssertionError(f"it did not start: {''.join(self.said)}")

    def client(self, **settings: Any) -> Client:
        return Client(self.address, **settings)

    def kill(self) -> None:
        """Kill the process, as a power cut would."""
        self.process.kill()
        self._end()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        code = self.process.wait(30)
        assert self.process.stderr is not None
        self.said += self.process.stderr.readlines()
        self.process.stderr.close()
        return code

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
