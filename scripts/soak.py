#!/usr/bin/env python3
"""Hours of recording under a steady load, with an account of every message.

    unshare -n sh -c 'ip link set lo up; exec "$@"' sh \
        scripts/soak.py --timeloom target/release/timeloom --seconds 7200 --work /tmp/soak

Each file of the bag is read to its last byte as soon as the next one is begun, and then deleted, so that the
disk does not fill. RSS, CPU and open files of both processes go to samples.csv every ten seconds. The verdict
goes to verdict.txt; the exit code is 0 when published = recorded + lost for every topic and nothing grows.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeloom", required=True, help="the binary; timeloom-bench is beside it")
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a directory, which is replaced")
    parser.add_argument("--profile", default=str(pathlib.Path(__file__).with_name("soak.yaml")))
    parser.add_argument("--split-bytes", default="512MB")
    parser.add_argument("--every", type=float, default=10, help="seconds between samples")
    parser.add_argument("--least-free-gb", type=float, default=15, help="end early when less is free on the disk")
    return parser.parse_args()


class Process:
    """One process, and what the kernel says about it."""

    tick = os.sysconf("SC_CLK_TCK")

    def __init__(self, name, command, output, errors):
        self.name = name
        self.child = subprocess.Popen(command, stdout=output, stderr=errors)

    def sample(self):
        root = pathlib.Path(f"/proc/{self.child.pid}")
        status = dict(
            line.split(":", 1) for line in (root / "status").read_text().splitlines() if ":" in line
        )
        behind = (root / "stat").read_text().rsplit(")", 1)[1].split()
        return {
            "rss_kb": int(status["VmRSS"].split()[0]),
            "cpu_s": (int(behind[11]) + int(behind[12])) / self.tick,
            "files": len(os.listdir(root / "fd")),
            "threads": int(status["Threads"]),
        }


class Counted:
    """What a reader found of each topic in files that are gone by now."""

    def __init__(self, bench, bag):
        self.bench, self.bag = bench, bag
        self.topics = collections.defaultdict(lambda: {"recorded": 0, "damaged": 0, "disordered": 0, "first": None, "last": None})
        self.next, self.failures = 0, []

    def file(self, number):
        return self.bag / f"{self.bag.name}_{number}.mcap"

    def sealed(self, all_of_them=False):
        """Counts and deletes files; the one that is written comes last, and only at the end."""
        while self.file(self.next).exists() and (all_of_them or self.file(self.next + 1).exists()):
            self.read(self.file(self.next))
            self.file(self.next).unlink()
            self.next += 1

    def read(self, path):
        run = subprocess.run(
            [self.bench, "verify", str(path), "--format", "json"], capture_output=True, text=True
        )
        if run.returncode not in (0, 3):
            self.failures.append(f"{path.name}: exit code {run.returncode}: {run.stderr.strip()}")
        try:
            topics = json.loads(run.stdout)["topics"]
        except ValueError:
            self.failures.append(f"{path.name}: no report")
            return
        for name, found in topics.items():
            of = self.topics[name]
            for key in ("recorded", "damaged", "disordered"):
                of[key] += found[key]
            if found["first"] is not None:
                # Numbers go on from file to file.
                of["disordered"] += of["last"] is not None and found["first"] <= of["last"]
                of["first"] = found["first"] if of["first"] is None else of["first"]
                of["last"] = found["last"]


def losses(log):
    """What the recorder says at its end, per topic: recorded, lost in transport, lost by itself."""
    said = {}
    for line in log.read_text().splitlines():
        words = line.split()
        # Topic, Hz, bandwidth with its unit, recorded, lost on the wire, lost here, left out, unknown.
        if len(words) == 9 and words[0].startswith("/"):
            said[words[0]] = tuple(int(word.replace(",", "")) for word in words[4:7])
    return said


def slope(samples, key):
    """Least squares over the second half, per hour: the first half may still fill caches."""
    points = [(row["t"], row[key]) for row in samples[len(samples) // 2 :]]
    n = len(points)
    if n < 3:
        return 0.0
    mean_t, mean_v = sum(t for t, _ in points) / n, sum(v for _, v in points) / n
    over = sum((t - mean_t) * (v - mean_v) for t, v in points)
    under = sum((t - mean_t) ** 2 for t, _ in points)
    return over / under * 3600 if under else 0.0


def watch(options, processes, counted, samples):
    begin = time.monotonic()
    with open(options.work / "samples.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t_s", "process", "rss_kb", "cpu_s", "files", "threads", "disk_free_gb", "load_1m"])
        while processes["load"].child.poll() is None and processes["record"].child.poll() is None:
            now, free = time.monotonic() - begin, shutil.disk_usage(options.work).free / 1e9
            for process in processes.values():
                try:
                    row = process.sample()
                except (FileNotFoundError, KeyError, ProcessLookupError):
                    continue
                samples[process.name].append({"t": now, **row})
                values = [f"{now:.1f}", process.name, row["rss_kb"], f"{row['cpu_s']:.2f}", row["files"], row["threads"]]
                writer.writerow([*values, f"{free:.1f}", f"{os.getloadavg()[0]:.1f}"])
            file.flush()
            counted.sealed()
            if free < options.least_free_gb or now > options.seconds * 1.5 + 120:
                processes["load"].child.send_signal(signal.SIGINT)
            end = time.monotonic() + options.every
            while time.monotonic() < end and processes["load"].child.poll() is None:
                time.sleep(0.2)


def account(ledger, counted, said):
    lines, wrong = [], []
    totals = collections.Counter()
    for name, entry in sorted(ledger["topics"].items()):
        found = counted.topics[name]
        recorded, transport, recorder = said.get(name, (None, 0, 0))
        here = found["recorded"] + found["damaged"]
        unexplained = entry["published"] - here - transport - recorder
        # What lies before the first and behind the last message seen, the recorder calls unknown, and says so.
        edges = entry["published"] if found["last"] is None else found["first"] + entry["published"] - 1 - found["last"]
        unknown = unexplained if unexplained == edges else 0
        unexplained -= unknown
        totals.update(published=entry["published"], refused=entry["refused"], recorded=found["recorded"])
        totals.update(transport=transport, recorder=recorder, damaged=found["damaged"])
        totals.update(disordered=found["disordered"], unexplained=abs(unexplained), unknown=unknown)
        bad = unexplained or found["damaged"] or found["disordered"] or recorded != here
        if bad:
            wrong.append(f"{name}: published {entry['published']}, read {here}, the recorder says {recorded} recorded, "
                         f"{transport} lost in transport, {recorder} in the recorder; unexplained {unexplained}, "
                         f"damaged {found['damaged']}, disordered {found['disordered']}")
    for key in ("published", "recorded", "transport", "recorder", "refused", "damaged", "disordered", "unknown", "unexplained"):
        lines.append(f"{key:<12} {totals[key]:>14,}")
    return lines, wrong


def verdict(options, processes, counted, samples, codes):
    ledger = json.loads((options.work / "ledger.json").read_text())
    said = losses(options.work / "record.log")
    lines, wrong = account(ledger, counted, said)
    lines.insert(0, f"{ledger['seconds']:.0f} s, {len(ledger['topics'])} topics, {counted.next} files, "
                    f"exit codes {codes}, at worst {ledger['latest_seconds']:.2f} s late")
    wrong += counted.failures
    for name, rows in samples.items():
        half = rows[len(rows) // 2 :]
        if not half:
            wrong.append(f"no samples of {name}")
            continue
        rss, files = [row["rss_kb"] for row in half], [row["files"] for row in half]
        grows = slope(rows, "rss_kb")
        cpu = (rows[-1]["cpu_s"] - rows[0]["cpu_s"]) / max(rows[-1]["t"] - rows[0]["t"], 1)
        lines.append(f"{name:<7} rss {rows[0]['rss_kb'] / 1024:.1f} MiB at first, then {min(rss) / 1024:.1f} to "
                     f"{max(rss) / 1024:.1f} MiB, slope {grows / 1024:+.2f} MiB an hour; cpu {cpu * 100:.1f} %; "
                     f"open files {min(files)} to {max(files)}; {len(rows)} samples")
        # A twentieth of what is there in an hour, or 4 MiB, may be the allocator's; a leak of a small message a second is more.
        if grows > max(rss) * 0.05 and grows > 4096:
            wrong.append(f"{name} grows by {grows / 1024:.1f} MiB an hour")
        if max(files) - min(files) > 2:
            wrong.append(f"{name} has {min(files)} to {max(files)} open files")
    lines += [f"WRONG: {line}" for line in wrong] or ["verdict: holds"]
    text = "\n".join(lines) + "\n"
    (options.work / "verdict.txt").write_text(text)
    print(text, end="")
    return 1 if wrong else 0


def main():
    options = arguments()
    options.bench = str(pathlib.Path(options.timeloom).with_name("timeloom-bench"))
    options.work.mkdir(parents=True, exist_ok=True)
    bag = options.work / "bag"
    shutil.rmtree(bag, ignore_errors=True)
    (options.work / "verdict.txt").unlink(missing_ok=True)
    os.environ["ROS_DOMAIN_ID"] = os.environ.get("ROS_DOMAIN_ID", "77")
    log = open(options.work / "record.log", "w")
    record = [options.timeloom, "record", "--all-topics", "-o", str(bag), "-b", options.split_bytes, "--localhost"]
    load = [options.bench, "load", options.profile, "--duration", str(options.seconds)]
    processes = {"record": Process("record", record, log, log)}
    with open(options.work / "ledger.json", "w") as ledger, open(options.work / "load.log", "w") as errors:
        processes["load"] = Process("load", [*load, "--format", "json", "--localhost"], ledger, errors)
        counted, samples = Counted(options.bench, bag), {"record": [], "load": []}
        watch(options, processes, counted, samples)
        codes = {"load": processes["load"].child.wait()}
    # The last heartbeats close the account of publishers that have left.
    time.sleep(3)
    processes["record"].child.send_signal(signal.SIGINT)
    codes["record"] = processes["record"].child.wait()
    counted.sealed(all_of_them=True)
    return verdict(options, processes, counted, samples, codes)


if __name__ == "__main__":
    sys.exit(main())
