# SPDX-License-Identifier: GPL-2.0-or-later
"""Several pieces of work at a time, each in a process of its own; what they return, in their order."""

import multiprocessing
import multiprocessing.connection

# What is built and unpacked before is theirs too.
FORK = multiprocessing.get_context("fork")


class Died(Exception):
    """A piece of work ended without a result."""


def _start(work):
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: theirs.send(work()), daemon=True)
    process.start()
    theirs.close()  # so that its end is the pipe's
    return ours, process


def _result(pipe, process):
    try:
        result = pipe.recv()
    except EOFError:
        result = None
    process.join()
    pipe.close()
    return Died(f"exit status {process.exitcode}") if result is None else result


def in_order(items, at_once):
    """Yields (key, what work() returned, or Died) for each (key, work) of `items`, in their order and
    as soon as it can be told. `at_once` of them run at a time; the next item is taken when one has
    ended. A work returns something that is not None."""
    items = enumerate(items)
    running, done, told = {}, {}, 0
    while True:
        while len(running) < at_once and (item := next(items, None)):
            n, (key, work) = item
            pipe, process = _start(work)
            running[pipe] = n, key, process
        if not running:
            return
        for pipe in multiprocessing.connection.wait(running):
            n, key, process = running.pop(pipe)
            done[n] = key, _result(pipe, process)
        while told in done:
            yield done.pop(told)
            told += 1
