<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1">
<context>
    <name>Connection</name>
    <message>
        <source>Trying again in %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>○ No node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>◌ Asking the node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ Node does not answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>● Node running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>● Node running · reachable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ Node running · not reachable from outside</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ Login has ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>○ Not logged in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>◌ Asking the server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>⚠ Server does not answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>● Server connected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node does not answer since %1. What is shown is as it was then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your login has ended. Transfers go on. Log in again with this command, and the window goes on by itself: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The server does not answer since %1. Transfers go on.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Content</name>
    <message>
        <source>complete, served now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>its node is off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>complete, not served</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2: %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copies: %1 of %2 complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>And more: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Access: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Ending</name>
    <message>
        <source>Cancel transfer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop seeding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel the selected transfers (%1)? Data sets that are not complete are removed from this node, with what has come of them. Complete ones and files that are published stay. Pause keeps everything.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop seeding the selected data sets (%1)? Others can no longer get them from this node. The files stay where they are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget the selected transfers (%1)? They leave this list. Complete files stay where they are; what has come of a failed one is removed.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LimitWord</name>
    <message>
        <source>window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seeder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CPU here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>disk here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>target rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>settings here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Pages</name>
    <message>
        <source>Join a server first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This window has no session with a server. Whoever invited you sent a link. The command checks the server, makes your account, and starts a node on this computer. The window goes on by itself then. Who has an account logs in instead: gridtorrent login --server HOST:PORT --ca ca.pem --user NAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a node on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node sends and receives the data, also while this window is closed. None answers here. The command starts the one that you have, or makes one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This window does not show it yet. The command does:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Transfers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Inbox</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>People</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Activity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What waits for you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups and buddies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tasks of your nodes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limits of this node</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Plot</name>
    <message>
        <source>lanes %1 to %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, then %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 down, %3 up, lanes %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>▲ now %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now %1 ▲</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lanes %1: median %2, %3 to %4, seen for %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rate by lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing measured yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>down</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lanes (right)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decision</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is known of this time.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Publish</name>
    <message>
        <source>Choose the file or folder to publish.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter the whole path, from &quot;/&quot; on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This path is not UTF-8, and the window cannot pass it on. Use this command: gridtorrent publish PATH --name NAME</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter a name for the data set.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name is too long: 128 characters at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The name has a &quot;/&quot;: take another character.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter a group or a person, or tick your buddies.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A tag is too long: 64 characters at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are too many tags: 32 at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only you can find and get it, on your own nodes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everyone who has an account on this server can find and get it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>members of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>your buddies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nobody is chosen yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These can find and get it: %1. Nobody else sees that it exists.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files: %1, size: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files so far: %1, size: %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TransferState</name>
    <message>
        <source>fetching</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verifying</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hashing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>queued</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seeding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown state</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::CommandPage</name>
    <message>
        <source>&amp;Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::ContentPane</name>
    <message>
        <source>About the data set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Description, access and copies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter files by a part of their path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A&amp;ll</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose all files that are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose none of the files that are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files to get</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking for the list of files…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chosen: %1 of %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::CursorPlot</name>
    <message>
        <source>Arrow keys read the values.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::DetailsPane</name>
    <message>
        <source>Details of the transfer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Overview</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers and lanes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why this speed?</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::FilesModel</name>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder %1, %2 in files: %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File %1, %2.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::FilesTab</name>
    <message>
        <source>Fetch the&amp;se</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As &amp;before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fetch the chosen files and no others</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose the files that are being fetched</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chosen: %1 of %2, %3</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::FindPage</name>
    <message>
        <source>&amp;Get</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data sets found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Part of a name…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find data sets by a part of their name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Filters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search by owner, tag, access, group, size and time. Filters that are hidden do not count.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder to put it in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder for fetched data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fold&amp;er…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needs %1, free %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a data set at the left.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of %1, %2 in files: %3, complete copies served now: %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a file at least.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These are too many single files. Choose whole folders, or %1 files and folders at most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file comes, too, whose name cannot be told from a chosen one: %1. Choose its folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 and more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 found</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::Format</name>
    <message>
        <source>%1 B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 kB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 MB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 TB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 PB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 EB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 bit/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 kbit/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Mbit/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Gbit/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 Tbit/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 d</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2 h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::LanesPlot</name>
    <message>
        <source>Rate by number of lanes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::MainWindow</name>
    <message>
        <source>Pages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GridTorrent</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::NoticeBar</name>
    <message>
        <source>Tr&amp;y now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Doctor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checks what keeps server or node from answering</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::Overview</name>
    <message>
        <source>Choose a transfer above.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limited by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 left</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::PeersModel</name>
    <message>
        <source>Node or lane</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Down</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Received</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round trip</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Retransmits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has all of it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>has a part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::PublishControl</name>
    <message>
        <source>This node is too old to count files before it publishes them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node is too old to publish for the window. Use this command: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::PublishDialog</name>
    <message>
        <source>Only &amp;me</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>T&amp;hese:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>E&amp;veryone on this server</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My &amp;buddies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refuse lin&amp;ks and devices instead of skipping them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Clear</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Publish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the data set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Description</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags, with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As in CC-BY-4.0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is skipped, and why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;File or folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Description</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Licence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who gets it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File or folder to publish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;ile…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;older…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups, with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Names with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>People by their exact user names, with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exact user names with commas between them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Groups</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;eople</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node does the work: it goes on where you close this window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clo&amp;se</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you have entered stays here (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>You dropped %n things, and a data set is one file or folder: this is the first of them. To publish them together, put them into one folder.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Folder to publish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File to publish</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counting…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Skipped in all: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the node…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::RateDialog</name>
    <message>
        <source>As in 200 Mbit or 25 MB (a second); 0: none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is no rate. Write it like 200 Mbit or 25 MB (a second).</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::RatePlot</name>
    <message>
        <source>Rate and lanes over time</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::RateTab</name>
    <message>
        <source>Last %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time to show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Values as &amp;CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Picture as PNG…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the values</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV (*.csv)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PNG (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::SearchFilters</name>
    <message>
        <source>any</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>public</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>private</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 or more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at any time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the last week</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the last month</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the last year</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Owner</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tag</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Access</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>G&amp;roup</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;ublished</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::SearchModel</name>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Owner</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Access</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seeders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Published</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tags</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2, %3 in files: %4, access %5, seeders: %6</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, on this node</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::StatusStrip</name>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>↓ %1   ↑ %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 down, %2 up</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::TransfersModel</name>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Down</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lanes × seeders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limited by</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 × %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2, %3, %4 of %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 down, lanes %2, seeders %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, limited by %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::TransfersPage</name>
    <message>
        <source>Transfers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter transfers…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter transfers by name or owner</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Any state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter transfers by state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Publish…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give a folder to others (Ctrl+N)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limit…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verify</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limit, verify, cancel, stop seeding, forget</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 what is selected (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;ublish…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;ind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing here yet. Drop a folder to publish it, or find a data set.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None of %1 transfers fits the filter.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::WhyTab</name>
    <message>
        <source>&amp;Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Hold at…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Limit…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Command that helps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decisions of the tuner, the newest first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold a rate, also where others use the path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go no faster than a rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Decisions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is known of what limits this transfer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limited by: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>gridtorrent::gui::WindowControl</name>
    <message>
        <source>Doctor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This command checks ports, certificates, clock and disk, and says what to set:
%1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long it takes is not known: nothing came from its seeders lately.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No faster than this, for each of the selected transfers (%1); 0 takes the limit off:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hold this rate, also where others use the path:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave as it is</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was not written: %2. Choose another place.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
