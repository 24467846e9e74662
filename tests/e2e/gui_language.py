#!/usr/bin/env python3
"""The window in a language that is made for this test: each text is the English one in « ». What is shown without them cannot be
translated."""
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import cases
import desk
import harness

LRELEASE = pathlib.Path('/usr/lib/qt6/bin/lrelease')
TEMPLATE = pathlib.Path(__file__).resolve().parents[2] / 'gui/translations/gridtorrent.ts'
# Names of people, data sets, nodes and programs, what a person types, units, and what other programs say.
OF_NO_LANGUAGE = re.compile(r'alice|alpha|climate|first\.bin|GridTorrent|gridtorrent\b.*|public|auto|127\.0\.0\.1\S*|[kMGT]?B\b|[kMG]bit/s|Ctrl\+\w|/\S+|\d{4}-\d\d-\d\d|UTC')
# What node and server say is English, whatever language the window has.
OF_OTHERS = re.compile(r'.* is here already, at /.*: nothing is left to fetch|seeding: those who want data dial|Only you can find and fetch this\..*')
# Of the pages that name a command.
HEADINGS = ('What waits for you', 'Groups and buddies', 'Your nodes', 'Tasks of your nodes', 'Limits of this node')
WORD = re.compile(r'[A-Za-z]{2,}')


def make_language():
    """A copy of the program, and the language beside it as a package would have it; the copy."""
    place = scene.dir / 'program'
    for folder in ('bin', 'share/gridtorrent/translations'):
        (place / folder).mkdir(parents=True)
    shutil.copy(scene.bin / 'gridtorrent-gui', place / 'bin')
    texts = xml.parse(TEMPLATE)
    texts.getroot().set('language', 'de')
    for message in texts.iter('message'):
        translation = message.find('translation')
        translation.attrib.pop('type', None)
        shown = f'«{message.findtext("source")}»'
        for form in list(translation):
            translation.remove(form)
        if message.get('numerus'):
            for _ in range(2):  # German has two
                xml.SubElement(translation, 'numerusform').text = shown
        else:
            translation.text = shown
    source = scene.dir / 'gridtorrent_de.ts'
    texts.write(source, encoding='utf-8')
    subprocess.run([LRELEASE, '-silent', source, '-qm', place / 'share/gridtorrent/translations/gridtorrent_de.qm'], check=True, timeout=60)
    return place / 'bin/gridtorrent-gui'


def untranslated(text):
    """What is left of it without what is in « », at any depth, and without what has no language."""
    depth, left = 0, []
    for letter in text:
        if letter == '«':
            depth += 1
        elif letter == '»':
            depth -= 1
        elif depth == 0:
            left.append(letter)
    return WORD.findall(OF_NO_LANGUAGE.sub(' ', ''.join(left)))


def look(where):
    """Keeps what is shown there in no « »."""
    for thing, _ in window.each():
        for text in (desk.quiet(thing.get_name, ''), desk.quiet(thing.get_description, '')):
            if untranslated(text) and not OF_OTHERS.fullmatch(text):
                faults.setdefault(text, f'{where}: {desk.quiet(thing.get_role_name, "?")}')
    seen.append(where)


def open_tab(tab):
    window.press(tab, role=('page tab',))
    window.wait_for(tab, role=('page tab list',))  # it has the name of the tab that is open


def find_and_transfers():
    window.keys('ctrl+1')
    window.type_into('«Find data sets by a part of their name»', 'clim')
    window.wait_for('«1 found»')
    window.choose('«Data sets found»', re.compile('.*climate.*'))
    window.wait_for('«Get»', 'ENABLED')
    for tab in ('«Files»', '«About»'):
        open_tab(tab)
        look(f'Find {tab}')
    window.keys('ctrl+2')
    window.choose('«Transfers»', re.compile('.*climate.*'))
    for tab in ('«Overview»', '«Peers and lanes»', '«Files»', '«Rate»', '«Why this speed?»'):
        open_tab(tab)
        look(f'Transfers {tab}')


def other_pages():
    for number, heading in enumerate(HEADINGS, 3):
        window.keys(f'ctrl+{number}')
        window.wait_for(f'«{heading}»')
        look(heading)
    window.keys('ctrl+n')
    window.type_into('«File or folder to publish»', str(scene.dir / 'in/climate'))
    window.wait_for(re.compile('.*«Files: .*'))
    look('Publish')
    window.keys('Escape')


desk.need()
if not LRELEASE.exists():
    harness.skip('no lrelease to make a language with; apt-get install qt6-l10n-tools')
faults, seen = {}, []
with harness.Scene() as scene, desk.Desk(scene, 'gui_language') as screen:
    scene.server()
    alice = scene.user('alice')
    alpha = scene.node(alice, 'alpha')
    cases.make_file(scene.dir / 'in/climate/first.bin', 3_000_000, seed=1)
    alice.cli('publish', scene.dir / 'in/climate', '--name', 'climate', '--access', 'public', node=alpha)
    with screen.step('the window speaks the language of its user'):
        window = screen.window(alice, alpha, program=make_language(), LC_ALL='de_DE.UTF-8', LANGUAGE=None)
        window.wait_for(re.compile('.*«.*Server connected.*'))
    for step in (find_and_transfers, other_pages):
        with screen.step(step.__name__.replace('_', ' ')):
            step()
    for text, where in faults.items():
        print(f'not translated: {where}: {text!r}', flush=True)
    cases.check(len(seen) == 13 and not faults, f'{len(faults)} texts cannot be translated')
