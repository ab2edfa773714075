"""What a campaign has done so far, and the differences that it found."""

import json
import os
import shlex


class State:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.file = os.path.join(folder, "state.json")
        self.parts = {}
        if os.path.exists(self.file):
            with open(self.file) as file:
                self.parts = json.load(file)

    def part(self, name):
        return self.parts.setdefault(name, {"done": 0, "rows": {}, "skipped": {}})

    def save(self):
        with open(self.file + ".new", "w") as file:
            json.dump(self.parts, file, indent=1)
        os.replace(self.file + ".new", self.file)

    def skip(self, part, name, why):
        self.part(part)["skipped"][name] = why

    def count(self, part, name, differences=0, **figures):
        row = self.part(part)["rows"].setdefault(name, {"runs": 0, "differences": 0})
        row["runs"] += 1
        row["differences"] += differences
        for key, value in figures.items():
            row[key] = value if isinstance(value, str) else row.get(key, 0) + value

    def keep(self, part, number, words, texts):
        """Everything that somebody needs to see it again."""
        folder = os.path.join(self.folder, "differences", f"{part}-{number}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "command"), "w") as file:
            file.write(" ".join(map(shlex.quote, words)) + "\n")
        for name, text in texts.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text if isinstance(text, bytes) else str(text).encode())
        print(f"difference: {folder}: {texts.get('why', '')}", flush=True)

    def table(self):
        lines = ["| part | what | runs | differences | remarks |", "|---|---|---|---|---|"]
        for part, found in self.parts.items():
            for name, row in sorted(found["rows"].items()):
                remarks = ", ".join(f"{key} {value}" for key, value in row.items()
                                    if key not in ("runs", "differences"))
                lines.append(f"| {part} | {name} | {row['runs']:,} | {row['differences']} | {remarks} |")
            runs = sum(row["runs"] for row in found["rows"].values())
            differences = sum(row["differences"] for row in found["rows"].values())
            lines.append(f"| **{part}** | all | {runs:,} | {differences} | |")
            for name, why in sorted(found["skipped"].items()):
                lines.append(f"| {part} | {name} | – | – | skipped: {why} |")
        return "\n".join(lines)

    @property
    def differences(self):
        return sum(row["differences"] for found in self.parts.values()
                   for row in found["rows"].values())
