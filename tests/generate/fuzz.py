#!/usr/bin/env python3
"""Random programs, by tests/generate/make.py, in all the ways that they can run: tests/README.md tells what is compared.

  fuzz.py [--from SEED] [--count N] [--time SECONDS] [--workers N] [--breadth eval|sample|all] [--state FOLDER] [--lib PATH]
"""
import argparse
import json
import os
import select
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.setrecursionlimit(20000)

import library
import oracle
from make import make
from tree import program_text


def work_of(seed, breadth):
    def work(lib, tell):
        program = make(seed)
        found, notes, case = oracle.check_program(lib, program, seed, oracle.plan_for(seed, breadth), tell)
        return [[(r.key(), q.key(), kind, a[:3000], b[:3000]) for r, q, kind, a, b in found], notes]

    return work


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--time", type=float)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--breadth", default="sample", choices=["eval", "sample", "all"])
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--lib", default=library.default_path())
    o = parser.parse_args()
    lib = library.load(os.path.abspath(o.lib))
    cache = tempfile.mkdtemp(prefix="cotan-fuzz.")
    jobs, seed, done, notes, found, began = {}, o.first, 0, {}, 0, time.time()

    def wanted():
        return (o.count is None or seed < o.first + o.count) and (o.time is None or time.time() < began + o.time)

    try:
        while wanted() or jobs:
            while wanted() and len(jobs) < o.workers:
                jobs[seed] = oracle.Job(lib, work_of(seed, o.breadth), o.timeout, cache)
                seed += 1
            ready, _, _ = select.select([j.reader for j in jobs.values()], [], [], 0.5)
            for s, job in list(jobs.items()):
                late = time.time() > job.started + job.timeout
                if (job.reader in ready and job.read()) or late:
                    result, what = job.end(late)
                    del jobs[s]
                    done += 1
                    if result == "ok":
                        for k, v in what[1].items():
                            notes[k] = notes.get(k, 0) + v
                        for r, q, kind, a, b in what[0]:
                            found += 1
                            print(f"seed {s}: {q} against {r}: {kind}\n  {a[:400]}\n  {b[:400]}", flush=True)
                    else:
                        found += 1
                        print(f"seed {s}: {result}: {what}", flush=True)
    finally:
        for job in jobs.values():
            job.end(True)
        import shutil

        shutil.rmtree(cache, ignore_errors=True)
    took = time.time() - began
    for k, v in sorted(notes.items()):
        print(f"  {k}: {v}")
    print(f"{done} programs in {took:.1f} s ({done / took:.1f} a second), {found} discrepancies")


if __name__ == "__main__":
    main()
