"""The databases of the inspector's tests: stations and their readings, of many hands.

python3 readings.py CAMBIUM DB COUNT     makes one by itself, for measurements
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


def transactions(count):
    """All transactions: `count` of them, of which the last ten are told apart by name."""
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
    keys = max(40, min(200_000, count // 5))
    for index in range(count - 12):
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


def make(cambium, path, count):
    """Makes a database of `count` transactions, with two tags."""
    lines = "\n".join(json.dumps(one) for one in transactions(count)) + "\n"
    subprocess.run(
        [cambium, "apply", "--create", path, "-", "-q", "--progress", "never"],
        input=lines,
        text=True,
        check=True,
    )
    for name, moment in (("first-half", count // 2), ("surveyed", count - 2)):
        subprocess.run([cambium, "tag", path, name, str(moment), "-q"], check=True)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], int(sys.argv[3]))
