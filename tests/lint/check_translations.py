#!/usr/bin/env python3
"""Checks that gui/translations/gridtorrent.ts has the texts that the window has; with --update, writes them there and into each language.

Needs lupdate of Qt 6 (Debian: qt6-l10n-tools), and is skipped where that is missing.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'gui/translations'
TEMPLATE = FOLDER / 'gridtorrent.ts'
SKIPPED = 77
DEBIANS = pathlib.Path('/usr/lib/qt6/bin/lupdate')


def lupdate():
    found = DEBIANS if DEBIANS.exists() else shutil.which('lupdate')
    if not found:
        print('skipped: lupdate of Qt 6 is not here; apt-get install qt6-l10n-tools')
        sys.exit(SKIPPED)
    return str(found)


def extract(*files):
    """No lines of the source: a text that only moves changes nothing here."""
    done = subprocess.run([lupdate(), '-silent', '-no-obsolete', '-locations', 'none', '-extensions', 'cc,h', '-I', '.', 'gui', '-ts', *map(str, files)],
                          cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        sys.exit(f'translations: lupdate: {done.stderr.strip() or done.stdout.strip()}')


def main():
    if sys.argv[1:] == ['--update']:
        extract(TEMPLATE, *sorted(FOLDER.glob('gridtorrent_*.ts')))
        print(f'translations: {TEMPLATE.read_text().count("<message")} texts')
        return
    if sys.argv[1:]:
        print(f'check_translations: {" ".join(sys.argv[1:])!r} is none of its options; it takes --update or nothing', file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = pathlib.Path(scratch) / TEMPLATE.name
        if TEMPLATE.exists():
            shutil.copy(TEMPLATE, fresh)
        extract(fresh)
        if not TEMPLATE.exists() or fresh.read_text() != TEMPLATE.read_text():
            sys.exit('translations: the texts of the window have changed; run ./dev translations')
    print(f'translations: {TEMPLATE.read_text().count("<message")} texts, as in the window')


main()
