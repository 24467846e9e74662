#pragma once

namespace gridtorrent::client::engine {

/// libtorrent 2.0 takes file names for UTF-8 and, unless LANG ends in ".UTF-8" when it handles its first path, converts
/// them to the C locale, which turns what is no ASCII into dots. Our names are bytes. This settles the matter before
/// main() and is true if it succeeded; the environment is put back as it was.
bool paths_are_bytes();

}  // namespace gridtorrent::client::engine
