#!/usr/bin/env python3
"""Checks what a reviewer would otherwise have to: sizes, leftovers, tests that assert nothing, paths of one machine, documents that
are not here."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = {'.h', '.cc'}
MACHINE_PATH = re.compile(r'(^|[\s"\'=(])/wo' + r'rk/\w')
LEFTOVER = re.compile(r'\b(' + '|'.join(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK']) + r')\b')


def main():
    names = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split('\n')
    faults, notes = [], []
    documents = {pathlib.PurePath(name).name for name in names if name.endswith('.md')}
    built = ''.join(path.read_text() for path in (ROOT / 'tests').glob('*/*.cmake'))
    faults += [f'{path.relative_to(ROOT)}: in no list of sources, so its tests never run'
               for path in sorted((ROOT / 'tests').glob('*/*_test.cc')) if path.name not in built]
    for name in filter(None, names):
        path = ROOT / name
        if not path.is_file() or path.suffix in {'.png', '.torrent'} or path.stat().st_size > 1 << 20 or 'corpus' in name:
            continue
        text = path.read_text(errors='replace')
        lines = text.split('\n')
        if path.suffix in CODE:
            if len(lines) > 600:
                notes.append(f'{name}: {len(lines)} lines; could it be two things?')
            for m in re.finditer(r'\bTEST(?:_F|_P)?\s*\(([^)]*)\)\s*\{', text):
                depth, i = 1, m.end()
                while i < len(text) and depth:
                    depth += {'{': 1, '}': -1}.get(text[i], 0)
                    i += 1
                if not re.search(r'EXPECT_|ASSERT_|FAIL\(|expect_|check_|require_|wait_for\(', text[m.end():i]):
                    faults.append(f'{name}: TEST({m.group(1)}) asserts nothing')
            for number, line in enumerate(lines, 1):
                faults += [f'{name}:{number}: names {text}, which is not in the repository'
                           for text in re.findall(r'\b[\w-]+\.md\b', line) if text not in documents]
                if LEFTOVER.search(line):
                    faults.append(f'{name}:{number}: leftover: {line.strip()[:80]}')
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line) and not name.startswith(('docs/', 'README')):
                faults.append(f'{name}:{number}: a path of one machine: {line.strip()[:80]}')
    for note in notes:
        print('note:', note)
    if faults:
        print('\n'.join(faults))
        sys.exit(f'tree: {len(faults)} faults')
    print(f'tree: {len(names)} files are tidy')


main()
