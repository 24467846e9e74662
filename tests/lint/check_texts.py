#!/usr/bin/env python3
"""Checks that texts of the window can be translated: what a widget shows is given through tr(), translate() or as a value.

QT_NO_CAST_FROM_ASCII keeps plain literals out of Qt's setters; this finds those that were wrapped to get past it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = (r'setText|setPlainText|setWindowTitle|setTitle|addTab|setTabText|setAccessibleName|setAccessibleDescription|setToolTip|'
         r'setStatusTip|setWhatsThis|setPlaceholderText|setInformativeText|addItem|addAction|addRow|addButton|set_message|set_refusal|'
         r'set_problem|set_notice|Label|PushButton|CheckBox|RadioButton|ToolButton|GroupBox|QAction|QMessageBox|say')
WRAPPED = r'(?:QStringLiteral|QString::from\w+|QLatin1String|QLatin1StringView|QString)'
LITERAL = re.compile(r'\bQ?(?:' + SHOWN + r')\s*[({][^;]*?(?<!arg\()\b' + WRAPPED + r'\s*[({]\s*"((?:[^"\\]|\\.)*)"')
WORD = re.compile(r'[A-Za-z]{2,}')
COMMAND = re.compile(r'^(?:gridtorrent|gridtorrentd)\b')  # what is typed is the same in every language


def faults_of(name, text):
    for found in LITERAL.finditer(text):
        words = found.group(1)
        if WORD.search(words) and not COMMAND.match(words):
            yield f'{name}:{text.count(chr(10), 0, found.start(1)) + 1}: "{words[:60]}" is shown and cannot be translated; use tr()'


def check_itself():
    bad = 'label->setText(QStringLiteral("Hello there"));\nauto* b = new QPushButton(QLatin1String("Go on"));\n'
    good = 'label->setText(tr("Hello"));\nline->setText(QStringLiteral("%1"));\nx.setText(tr("a %1").arg(QStringLiteral("gridtorrent doctor")));\n'
    assert len(list(faults_of('bad', bad))) == 2, list(faults_of('bad', bad))
    assert not list(faults_of('good', good)), list(faults_of('good', good))


def main():
    check_itself()
    files = sorted(path for path in (ROOT / 'gui').rglob('*') if path.suffix in {'.h', '.cc'})
    faults = [fault for path in files for fault in faults_of(path.relative_to(ROOT), path.read_text())]
    if faults:
        print('\n'.join(faults))
        sys.exit(f'texts: {len(faults)} faults')
    print(f'texts: {len(files)} files of the window can be translated')


main()
