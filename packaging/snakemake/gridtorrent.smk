# Data sets as inputs of a workflow: the node of this machine fetches what a rule asks for, verifies every file, and goes on after a break.
#
#     config["gridtorrent"] = {"to": "data", "folders": {"run42": "mia/run42"}, "files": {"index.h5": "mia/index"}}
#     include: "gridtorrent.smk"
#
#     rule count:
#         input: "data/run42"
#         output: "lines.txt"
#         shell: "cat {input}/* | wc -l > {output}"
#
# `folders` and `files` map the name that arrives (`gridtorrent show CONTENT` tells it as base name) to the content. `options` are those of
# `gridtorrent get`, as "--limit 200Mbit". A content that was fetched stays as it is; to fetch it anew, or a new version, remove it.
# (`gridtorrent get --update` refuses such a folder: Snakemake keeps a file .snakemake_timestamp in it, which counts as an addition.)
import re
import types

gridtorrent = {"to": "data", "folders": {}, "files": {}, "options": "", **config.get("gridtorrent", {})}
# An object, since Snakemake records none: where a param that it has recorded changes, it deletes what was fetched and runs the rule again.
gridtorrent_how = types.SimpleNamespace(to=gridtorrent["to"], options=gridtorrent["options"])


def gridtorrent_names(kind):
    """A pattern of the names of that kind; without any, one that fits nothing."""
    return "|".join(map(re.escape, gridtorrent[kind])) or "(?!)"


rule gridtorrent_folder:
    output:
        directory(gridtorrent["to"] + "/{base}"),
    wildcard_constraints:
        base=gridtorrent_names("folders"),
    params:
        content=lambda wildcards: gridtorrent["folders"][wildcards.base],
        how=gridtorrent_how,
    shell:
        "gridtorrent get {params.content:q} --to {params.how.to:q} {params.how.options}"


rule gridtorrent_file:
    output:
        gridtorrent["to"] + "/{base}",
    wildcard_constraints:
        base=gridtorrent_names("files"),
    params:
        content=lambda wildcards: gridtorrent["files"][wildcards.base],
        how=gridtorrent_how,
    shell:
        "gridtorrent get {params.content:q} --to {params.how.to:q} {params.how.options}"
