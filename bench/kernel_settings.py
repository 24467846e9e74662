"""Settings of this machine's kernel for as long as a wide-area bench runs. A virtual machine gives memory that is free back to its host, and
halts its processors in each pause. To get either back takes the host's time: packets are late, and programs seem to need more processor.

Measured on two cores, with a host that stole nothing, by a get of 4 GB at 940 Mbit/s and globus -p 16 beside it: with these settings the
get takes 4.4 to 4.6 s of processor for a GB (6.1 to 9.0 without), and 0.2 % of the packets of globus are late (1.5 to 2.9 %).
"""
import contextlib
import pathlib

CHUNK = 1 << 20

# (file, value). A kernel that lacks a file, or refuses the value, stays as it is.
SETTINGS = (
    # Only free blocks above the largest that there are go back to the host. To write to memory that went back: 0.5 to 1 GB/s; else 3 to 4.
    ('/sys/module/page_reporting/parameters/page_reporting_order', '11'),
    # In ns: a pause shorter than this does not halt a processor. A sleep of 0.2 ms takes 0.5 ms too long in 0.03 % of all cases; else 0.2 %.
    ('/sys/module/haltpoll/parameters/guest_halt_poll_ns', '400000'),
)


@contextlib.contextmanager
def held(wanted=SETTINGS):
    """Gives {name: value} of those that hold; all are as before afterwards, unless this process is killed."""
    before, holding = [], {}
    try:
        for name, value in wanted:
            file = pathlib.Path(name)
            with contextlib.suppress(OSError):
                old = file.read_text().strip()
                file.write_text(value)
                before.append((file, old))
                holding[file.name] = value
        yield holding
    finally:
        for file, old in before:
            file.write_text(old)


def touch(folder, size):
    """Writes so many bytes to a folder in memory and frees them: what is written there next finds memory that the host has given."""
    file = folder / 'touched'
    with open(file, 'wb') as out:
        for _ in range(size // CHUNK + 1):
            out.write(bytes(CHUNK))
    file.unlink()
