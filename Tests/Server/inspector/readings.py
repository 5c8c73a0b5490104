"""The databases of the inspector's tests: stations and their readings, of many hands.

python3 readings.py CAMBIUM DB COUNT [NODES]     makes one by itself, for measurements
"""

import json
import subprocess
import sys

ACTORS = ["anna", "ben", "chris", "dora"]
STATIONS = ["north", "south", "east", "west", "harbour"]
FIRST_TEXT = (
    "Fog was dense before nine, so that half of the morning's readings came late. "
    "The station asked for another sensor."
)
SECOND_TEXT = (
    "Fog was dense before ten, so that most of the morning's readings came late. "
    "The station asked for another sensor, and got it."
)

DEFINITIONS = {
    "stations": {
        "version": 1,
        "model": "Station",
        "keys": "string",
        "properties": [
            {"name": "name", "type": "string", "required": True},
            {"name": "height", "type": "integer"},
        ],
    },
    "readings": {
        "version": 1,
        "model": "Reading",
        "keys": "string",
        "properties": [
            {"name": "station", "type": {"reference": "stations"}, "onDelete": "nullify"},
            {"name": "value", "type": "integer"},
            {"name": "checked", "type": "bool"},
        ],
        "indexes": [{"terms": ["station", {"property": "value", "descending": True}]}],
        "views": [{"groups": {"by": ["station"], "measures": ["count", {"sum": "value"}]}}],
    },
    "notes": {
        "version": 1,
        "model": "Note",
        "keys": "string",
        "properties": [
            {"name": "title", "type": "string"},
            {"name": "text", "type": "string"},
            {"name": "about", "type": {"reference": "stations"}},
        ],
    },
}


def transaction(actor, operations, reason=None):
    metadata = {"actor": actor}
    if reason:
        metadata["reason"] = reason
    return {"metadata": metadata, "operations": operations}


# So many nodes of the archive are set by one transaction.
BATCH = 1000


def transactions(count, nodes=0):
    """All transactions: `count` of them, of which the last ten are told apart by name, and the
    third and those after it set `nodes` nodes that stay as they are."""
    yield transaction(
        "import",
        [{"op": "declare", "path": p, "definition": d} for p, d in DEFINITIONS.items()],
        "the models",
    )
    yield transaction(
        "import",
        [
            {
                "op": "set",
                "path": f"stations/{key}",
                "value": {"name": f"Station {key.title()}", "height": 10 * index},
            }
            for index, key in enumerate(STATIONS)
        ],
    )
    for first in range(0, nodes, BATCH):
        yield transaction(
            "import",
            [
                {"op": "set", "path": f"archive/{key:07d}", "value": {"value": key}}
                for key in range(first, min(first + BATCH, nodes))
            ],
        )
    keys = max(40, min(200_000, count // 5))
    for index in range(count - 12 - -(-nodes // BATCH)):
        value = {
            "station": STATIONS[index % len(STATIONS)],
            "value": index * 7919 % 1000,
            "checked": index % 3 == 0,
        }
        yield transaction(
            ACTORS[index % len(ACTORS)],
            [{"op": "set", "path": f"readings/{index % keys:06d}", "value": value}],
        )
    yield transaction(
        "anna",
        [
            {
                "op": "set",
                "path": "notes/fog",
                "value": {"title": "Fog", "text": FIRST_TEXT, "about": "north"},
            }
        ],
        "from the shift book",
    )
    yield transaction(
        "ben",
        [{"op": "update", "path": "notes/fog", "set": {"text": SECOND_TEXT}}],
        "after the review",
    )
    for height in range(6):
        yield transaction(
            "survey", [{"op": "update", "path": "stations/harbour", "set": {"height": 40 + height}}]
        )
    yield transaction(
        "eve", [{"op": "update", "path": "stations/north", "set": {"name": "The North"}}], "shorter"
    )
    yield transaction("eve", [{"op": "remove", "path": "readings/000001"}], "a broken sensor")


def make(cambium, path, count, nodes=0):
    """Makes a database of `count` transactions, with two tags."""
    command = [cambium, "apply", "--create", path, "-", "-q", "--progress", "never"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as applying:
        for one in transactions(count, nodes):
            print(json.dumps(one), file=applying.stdin)
    assert applying.returncode == 0
    for name, moment in (("first-half", count // 2), ("surveyed", count - 2)):
        subprocess.run([cambium, "tag", path, name, str(moment), "-q"], check=True)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
