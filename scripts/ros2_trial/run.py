"""Runs the cases of the trial with each RMW and prints the table."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import cases_bags
import cases_live
from trial import Failed, Trial, installed_rmws, remove, versions


def options():
    parser = argparse.ArgumentParser(prog="ros2_trial.sh")
    parser.add_argument("--timeloom", default="target/release/timeloom")
    parser.add_argument("--rmw", action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep")
    chosen = parser.parse_args()
    if not Path(chosen.timeloom).is_file():
        parser.error(f"no timeloom at {chosen.timeloom}: cargo build --release -p timeloom-cli")
    return chosen


def attempt(case, trial):
    begin = time.monotonic()
    try:
        result, passed = case(trial), True
    except Failed as failure:
        result, passed = str(failure), False
    finally:
        trial.close()
    return passed, result, time.monotonic() - begin


def main():
    chosen = options()
    rmws = chosen.rmw or installed_rmws()
    if not rmws:
        sys.exit("no RMW implementation found in AMENT_PREFIX_PATH")
    work = Path(chosen.keep or tempfile.mkdtemp(prefix="ros2_trial_"))
    work.mkdir(parents=True, exist_ok=True)
    timeloom = str(Path(chosen.timeloom).resolve())
    cases = [*cases_bags.cases(), *cases_live.cases(chosen.runs)]
    rows, failures, number = [], 0, 0
    first_domain = int(os.environ.get("ROS_DOMAIN_ID", "79"))
    for name, case in cases:
        if chosen.only not in name:
            continue
        cells = []
        for rmw in rmws:
            number += 1
            # A domain of its own: what a case leaves behind does not disturb the next one.
            trial = Trial(timeloom, rmw, work / f"{number:03}", first_domain + number % 20)
            passed, result, seconds = attempt(case, trial)
            failures += not passed
            cells.append(result if passed else f"**FAILED** {result}")
            verdict = "ok" if passed else "FAILED"
            print(f"{verdict:6} {rmw:20} {name}: {result} ({seconds:.0f} s)", file=sys.stderr, flush=True)
        rows.append((name, cells))
    print(f"{versions()}\n")
    print("| case | " + " | ".join(rmws) + " |")
    print("|---|" + "---|" * len(rmws))
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    print(f"\n{number - failures} passed, {failures} failed")
    if not chosen.keep and not failures:
        remove(work)
    elif not chosen.keep:
        print(f"bags and logs: {work}", file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
