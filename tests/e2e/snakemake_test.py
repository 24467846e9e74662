#!/usr/bin/env python3
"""A workflow of Snakemake takes a content as input: fetched once, verified, and an error that says which content it was."""
import os
import pathlib
import shutil
import subprocess

import cases
import harness

RULE = pathlib.Path(__file__).resolve().parents[2] / 'packaging/snakemake/gridtorrent.smk'


def workflow(folder, folders, files=None, options=''):
    """A Snakefile that counts the lines of run42 and of notes.txt, and how to run it."""
    folder.mkdir(exist_ok=True)
    (folder / 'Snakefile').write_text(f'''
config["gridtorrent"] = {{"folders": {folders!r}, "files": {files or {}!r}, "options": {options!r}}}
include: "{RULE}"
rule lines:
    input: "data/run42", "data/notes.txt"
    output: "lines.txt"
    shell: "cat {{input[0]}}/* {{input[1]}} | wc -l > {{output}}"
''')
    return ['snakemake', '--cores', '1', '--nocolor', 'lines.txt']


def run(user, node, folder, command):
    env = {**user.env, 'PATH': f'{user.scene.bin.resolve()}:{os.environ["PATH"]}', 'GRIDTORRENT_SOCKET': str(node.socket)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def a_workflow_fetches_its_input_once():
    with harness.Scene() as scene:
        scene.server()
        mia, ben = scene.user('mia'), scene.user('ben')
        here, there = scene.node(mia, 'here'), scene.node(ben, 'there')
        source = scene.dir / 'in/run42'
        source.mkdir(parents=True)
        for i in range(5):
            (source / f'part{i}.csv').write_text('a,b\n' * 1000)
        mia.cli('publish', source, '--name', 'run42', '--access', 'public', node=here)
        notes = scene.dir / 'in/notes.txt'
        notes.write_text('read me\n')
        mia.cli('publish', notes, '--name', 'notes', '--access', 'public', node=here)
        folder = scene.dir / 'work'
        command = workflow(folder, {'run42': 'mia/run42'}, {'notes.txt': 'mia/notes'})
        done = run(ben, there, folder, command)
        cases.check(done.returncode == 0, f'{done.stdout}{done.stderr}')
        cases.check((folder / 'lines.txt').read_text().strip() == '5001', 'the rule behind it saw all lines')
        for path in [*source.iterdir(), notes]:  # Snakemake gives what it made times of its own
            there_path = folder / 'data' / path.relative_to(scene.dir / 'in')
            cases.check(there_path.read_bytes() == path.read_bytes(), f'{there_path} differs')
        inode = (folder / 'data/run42').stat().st_ino
        for options in ('', '--limit 200Mbit'):  # other options are for what is not there yet
            again = run(ben, there, folder, workflow(folder, {'run42': 'mia/run42'}, {'notes.txt': 'mia/notes'}, options))
            cases.check(again.returncode == 0 and 'Nothing to be done' in again.stdout + again.stderr, f'{again.stdout}{again.stderr}')
            cases.check((folder / 'data/run42').stat().st_ino == inode, f'what was fetched is another folder with {options!r}')
        for name in ('data/notes.txt', 'lines.txt'):
            (folder / name).unlink()
        fetched = run(ben, there, folder, [*command, '--printshellcmds'])
        cases.check(fetched.returncode == 0 and '--limit 200Mbit' in fetched.stdout + fetched.stderr, f'{fetched.stdout}{fetched.stderr}')
        cases.check((folder / 'data/run42').stat().st_ino == inode, 'a content that is there was fetched again')


def a_workflow_says_which_content_is_missing():
    with harness.Scene() as scene:
        scene.server()
        ben = scene.user('ben')
        there = scene.node(ben, 'there')
        folder = scene.dir / 'work'
        unknown = run(ben, there, folder, workflow(folder, {}))
        cases.check(unknown.returncode != 0 and 'data/run42' in unknown.stderr, unknown.stderr)
        refused = run(ben, there, folder, workflow(folder, {'run42': 'mia/run42'}, {'notes.txt': 'mia/notes'}))
        cases.check(refused.returncode != 0 and 'no content "mia/' in refused.stderr and 'not yours to see' in refused.stderr, refused.stderr)
        cases.check(not (folder / 'data/run42').exists(), 'nothing that looks done is there')


if not shutil.which('snakemake'):
    harness.skip('snakemake is not here (Debian: snakemake)')
cases.run(a_workflow_fetches_its_input_once, a_workflow_says_which_content_is_missing)
