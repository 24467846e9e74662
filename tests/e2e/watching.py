"""Commands that show a thing as it changes, until Ctrl-C."""
import contextlib
import json
import signal

import cases


@contextlib.contextmanager
def watching(user, *args, node=None):
    """Yields a function that returns the next event; Ctrl-C ends the command well."""
    process = user.start_cli(*args, '--watch', '--json', node=node)
    try:
        yield lambda: json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        cases.check(process.returncode == 0, f'{process.returncode}: {out} {err}')
    finally:
        process.kill()
        process.wait()


def until(following, holds, what):
    for _ in range(20):
        event = following()
        if holds(event):
            return event
    raise AssertionError(f'{what}; the last event: {event}')
