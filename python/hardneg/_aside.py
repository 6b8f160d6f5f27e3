# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls in threads of their own, which the caller waits for later."""
from __future__ import annotations

import os
import threading
from typing import Callable, Generic, Optional, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """work() in a thread of its own."""

    def __init__(self, work: Callable[[], T]):
        self._work = work
        self._found: Optional[T] = None
        self._error: Optional[BaseException] = None
        self._process, self._done = os.getpid(), threading.Lock()  # a lock alone: it can be waited for until Ctrl-C
        self._done.acquire()
        threading.Thread(target=self._run, name="hardneg").start()

    def _run(self) -> None:
        try:
            self._found = self._work()
        except BaseException as error:  # pylint: disable=broad-except
            self._error = error  # for the thread that asks for it
        finally:
            self._done.release()

    @property
    def lost(self) -> bool:
        """Whether this is a child of fork(), which does not have the thread."""
        return self._process != os.getpid()

    def result(self) -> T:
        """Waits for the end: what the work returned, or raised. In a child of fork() it is done there."""
        if self.lost:
            return self._work()
        with self._done:
            if self._error:
                raise self._error
            return self._found  # type: ignore[return-value]
