"""The layers of src/, for the scripts that check them: each folder, in the order in which a program meets them, with the prefixes of its
external symbols (docs/layout.md). A folder uses those above it in this list."""
import os
import re

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SOURCE = os.path.join(ROOT, "src")

LAYERS = {
    "base": ["ct_"],
    "rt": ["ct_"],
    "prim": ["ct_prim_"],
    "syntax": ["ct_syntax_"],
    "types": ["ct_types_"],
    "core": ["ct_core_"],
    "elab": ["ct_elab_"],
    "ad": ["ct_ad_"],
    "ad/methods": ["ct_ad_"],
    "ad/chad": ["ct_chad_"],
    "ad/bulk/ir": ["ct_bulk_"],
    "ad/bulk/rewrite": ["ct_bulk_"],
    "ad/bulk/diff": ["ct_bulk_"],
    "ad/bulk/trace": ["ct_bulk_"],
    "ad/bulk/lower": ["ct_bulk_"],
    "ad/bulk": ["ct_bulk_"],
    "value": ["ct_value_"],
    "eval": ["ct_eval_"],
    "flow": ["ct_flow_"],
    "flow/analysis": ["ct_flow_"],
    "flow/lower": ["ct_flow_"],
    "flow/ad": ["ct_flow_"],
    "flow/opt": ["ct_flow_"],
    "flow/check": ["ct_flow_"],
    "emit": ["ct_emit_"],
    "emit/vector": ["ct_emit_vector_"],
    "emit/export": ["ct_emit_"],
    "run": ["ct_run_"],
    "io": ["ct_io_"],
    "driver": ["ct_driver_"],
    "session": ["ct_session_", "cotan_"],
    "explain": ["ct_explain_", "cotan_"],
    "cli": ["cli_"],
}
ORDER = {folder: number for number, folder in enumerate(LAYERS)}

# Of two folders, with all inside them, the first does not see the second although that is above it: the engines know nothing of each
# other, and what works on Core or Flow nothing of the language that they come from.
APART = [("flow", "eval"), ("emit", "eval"), ("run", "eval")] + [
    (late, early) for late in ("core", "ad", "value", "eval", "flow", "emit", "run", "io") for early in ("syntax", "types", "elab")
    if (late, early) != ("core", "elab")]

# A header that the folder above may include: the writer of C and that of vectorised loops call each other.
DOORS = {("emit", "emit/vector"): "emit/vector/vector.h"}

# The one file that names what lies below it: the table of methods.
TABLES = {"ad/methods.c": ("ad/methods", "ad/chad", "ad/bulk")}


def within(folder, outer):
    return folder == outer or folder.startswith(outer + "/")


def wrong(user, used):
    """Why the folder `user` may not use `used`; None when it may."""
    if user == used:
        return None
    for folder in (user, used):
        if folder not in ORDER:
            return f"the folder {folder} is not in scripts/layers.py"
    if ORDER[used] > ORDER[user]:
        return f"{used} comes behind {user}"
    if any(within(user, late) and within(used, early) for late, early in APART):
        return f"{user} does not see {used}"
    return None


def door(user, used):
    """What a door header declares: names of functions."""
    header = DOORS.get((user, used))
    if header is None:
        return set()
    with open(os.path.join(SOURCE, header), encoding="utf-8") as file:
        return set(re.findall(r"\bct_\w+(?=\()", file.read()))
