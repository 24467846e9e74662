#!/usr/bin/env python3
"""What every test ends with finds what it is there to find: each case breaks one thing by hand and expects the finding."""
import contextlib
import sqlite3

import cases
import harness
import sound


@contextlib.contextmanager
def found(*parts):
    """The scene inside ends as unsound, and the finding names all the parts."""
    try:
        yield
    except sound.Unsound as e:
        for part in parts:
            cases.check(part in str(e), f'the finding does not name {part!r}: {e}')
        return
    raise AssertionError(f'nothing was found, where {parts} are broken')


def alter(server, sql, *values):
    with contextlib.closing(sqlite3.connect(server.data / 'gridtorrent.db')) as database, database:
        cases.check(database.execute(sql, values).rowcount == 1, f'nothing was altered by: {sql}')


def a_membership_without_a_consent_is_found():
    with found('bob', 'lab', 'consent'), harness.Scene() as scene:
        server = scene.server()
        alice, _ = scene.user('alice'), scene.user('bob')
        alice.cli('group', 'create', 'lab')
        alice.cli('group', 'invite', 'lab', 'bob')
        server.stop()
        alter(server, "UPDATE membership SET standing = 'member', expires_ms = 0 WHERE standing = 'invited'")


def an_altered_audit_record_is_found():
    with found('audit record'), harness.Scene() as scene:
        server = scene.server()
        scene.user('alice')
        server.stop()
        with contextlib.closing(sqlite3.connect(server.data / 'gridtorrent.db')) as database, database:
            database.execute('DROP TRIGGER audit_keeps')
            database.execute("UPDATE audit SET actor_name = 'mallory' WHERE seq = (SELECT max(seq) FROM audit)")


def a_secret_in_a_log_in_an_argument_or_in_a_readable_file_is_found():
    for place in ('log', 'argument', 'file'):
        with found('secret'), harness.Scene() as scene:
            server = scene.server()
            scene.user('alice')
            password = scene.secret_files[0].read_text()
            if place == 'log':
                server.stop()
                with open(server.log_path, 'a') as log:
                    log.write(f'login of alice with {password}\n')
            elif place == 'argument':
                scene.commands.append(['gridtorrent', 'login', '--password', password])
            else:
                (scene.dir / 'note.txt').write_text(password)


def what_a_server_holds_beyond_its_start_is_found():
    for figure, least, named in (('descriptors', sound.DESCRIPTOR_SLACK, 'descriptors'), ('memory_kb', sound.MEMORY_SLACK_KB, 'kB more')):
        with found(named), harness.Scene() as scene:
            scene.server().at_start[figure] = -least


def a_sound_scene_passes():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alice.cli('group', 'create', 'lab')
        alice.cli('group', 'invite', 'lab', 'bob')
        bob.cli('group', 'accept', 'lab')
        alpha = scene.node(alice, 'alpha')
        alice.cli('publish', cases.make_file(scene.dir / 'in/data.bin', 1_000_000), '--name', 'data', node=alpha)


if __name__ == '__main__':
    cases.run(a_membership_without_a_consent_is_found, an_altered_audit_record_is_found,
              a_secret_in_a_log_in_an_argument_or_in_a_readable_file_is_found, what_a_server_holds_beyond_its_start_is_found,
              a_sound_scene_passes)
