#!/usr/bin/env python3
"""Loads x {with transport, without} x {mcap, sqlite3} x cache x split: what was published, recorded and lost.

    unshare -n sh -c 'ip link set lo up; exec "$@"' sh \
        scripts/load_matrix.py --timeloom target/release/timeloom --work /tmp/matrix --scale 0.1 --seconds 10

Prints a Markdown table. Every bag is read byte by byte (`timeloom-bench verify`); the exit code is 1 when a message
is damaged or not accounted for.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

PROFILES = ["100MBs_raw", "200MBs_raw", "300MBs_raw", "mixed_110Mbs", "mixed_110Mbs_low_pubs_count", "automotive"]


def finish(process):
    """CPU seconds and the largest memory in MiB of a process that ends."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(options, profile, transport, storage, cache, split):
    bag, ledger = options.work / "bag", options.work / "ledger.json"
    shutil.rmtree(bag, ignore_errors=True)
    load = [options.bench, "load", profile, "--scale", str(options.scale)]
    load += ["--duration", str(options.seconds), "--format", "json"]
    writer = ["-s", storage, "--max-cache-size", str(cache * 1_000_000), "-b", split]
    errors = open(options.work / "errors.log", "w")
    with open(ledger, "w") as file:
        if transport:
            record = [options.timeloom, "record", "--all-topics", "--localhost", "-o", str(bag), *writer]
            recorder = subprocess.Popen(record, stdout=errors, stderr=errors)
            subprocess.run([*load, "--localhost"], stdout=file, stderr=errors)
            time.sleep(1)
            recorder.send_signal(signal.SIGINT)
            cost = finish(recorder)
        else:
            cost = finish(subprocess.Popen([*load, "--without-transport", str(bag), *writer], stdout=file, stderr=errors))
    verify = [options.verifier or options.bench, "verify", str(bag), "--ledger", str(ledger), "--format", "json"]
    checked = subprocess.run(verify, capture_output=True, text=True)
    topics = json.loads(checked.stdout)["topics"].values()
    total = lambda key: sum(topic[key] or 0 for topic in topics)
    published, recorded = total("published"), total("recorded")
    transit, here = total("lost_in_transport"), total("lost_in_recorder")
    # A topic without an account of the recorder explains nothing.
    unexplained = sum(t["missing"] if t["unexplained"] is None else abs(t["unexplained"]) for t in topics)
    lost = f"{transit} in transport, {here} in the recorder, {total('unknown')} unknown"
    lost = "0" if published == recorded else lost
    seconds = json.loads(ledger.read_text())["seconds"]
    print(f"| {profile} | {'DDS' if transport else 'none'} | {storage} | {cache} | {split} | {published} | {recorded} "
          f"| {100 * recorded / max(published, 1):.2f} % | {lost} | {unexplained} | {100 * cost[0] / seconds:.0f} % "
          f"| {cost[1]:.0f} |", flush=True)
    if unexplained:
        # Kept to find the reason: the topics, and the output of the recorder.
        name = "-".join([profile, "dds" if transport else "none", storage, str(cache), split])
        (options.work / f"{name}.json").write_text(checked.stdout)
        shutil.copy(options.work / "errors.log", options.work / f"{name}.log")
    shutil.rmtree(bag, ignore_errors=True)
    return checked.returncode in (0, 3) and total("damaged") == 0 and unexplained == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeloom", required=True, help="the binary; timeloom-bench is beside it")
    parser.add_argument("--verifier", help="another timeloom-bench for `verify`")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--profiles", nargs="*", default=PROFILES)
    parser.add_argument("--caches", nargs="*", type=int, default=[100, 500], help="megabytes")
    parser.add_argument("--splits", nargs="*", default=["0", "1000000000"], help="bytes")
    options = parser.parse_args()
    options.bench = str(pathlib.Path(options.timeloom).with_name("timeloom-bench"))
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ["ROS_DOMAIN_ID"] = os.environ.get("ROS_DOMAIN_ID", "79")
    print("| load | transport | storage | cache MB | split | published | recorded | | lost | unexplained | CPU | max MiB |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|---:|---:|---:|")
    cases = itertools.product(options.profiles, (True, False), ("mcap", "sqlite3"), options.caches, options.splits)
    results = [run(options, *case) for case in cases]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
