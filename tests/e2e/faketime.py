"""Programs whose clock is wrong, by libfaketime where it is installed."""
import contextlib
import glob

LIBRARIES = glob.glob('/usr/lib/*/faketime/libfaketimeMT.so.1')


def clock_off(hours):
    """The environment of a program whose wall clock is wrong; its intervals and the times of its files are right.

    Half an hour is added, so that the seconds that pass meanwhile change no whole hour in what is told."""
    seconds = hours * 3600 + (1800 if hours > 0 else -1800)
    return {'LD_PRELOAD': LIBRARIES[0], 'FAKETIME': f'{seconds:+d}', 'FAKETIME_DONT_FAKE_MONOTONIC': '1', 'DONT_FAKE_MONOTONIC': '1',
            'NO_FAKE_STAT': '1', 'FAKE_UTIME': '0'}


@contextlib.contextmanager
def elsewhen(scene, hours):
    """Within it, all that is started in the scene has that clock; its people are at the right time again afterwards."""
    wrong, right = clock_off(hours), scene.env
    scene.env = {**right, **wrong}
    try:
        yield
    finally:
        scene.env = right
        for user in scene.users.values():
            for name in wrong:
                user.env.pop(name, None)
