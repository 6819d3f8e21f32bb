#!/usr/bin/env python3
"""An outside host: leases work over HTTP, renews it while it works, and says how it ended.

    BELFRY_URL=http://127.0.0.1:4747 BELFRY_TOKEN=$(cat .belfry/token) ./host.py NAME [QUEUE]

It needs nothing but Python. The work here is to sleep for `payload.ms` and to write a line; put yours in `work`.
"""
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("BELFRY_URL", "http://127.0.0.1:4747")
TOKEN = os.environ["BELFRY_TOKEN"]


class Refused(Exception):
    """What Belfry refused, with its code: `conflict` is a lease that is over."""

    def __init__(self, problem):
        super().__init__(problem.get("detail"))
        self.code = problem.get("code")


def ask(verb, body):
    request = urllib.request.Request(
        f"{URL}/api/sched/{verb}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise Refused(json.load(error)) from None


def patiently(verb, body):
    """The same, for as long as the server cannot be reached. Only what may be asked twice is asked so."""
    while True:
        try:
            return ask(verb, body)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)


def keep(lease, lasts, over):
    """Renews a lease at a third of its time until the work is over; sets `over` when it is not ours any more."""
    while not over.wait(lasts / 3):
        try:
            if patiently("renew", {"lease": lease})["cancelRequestedAt"] is not None:
                over.set()
        except Refused:
            over.set()


def work(run, over):
    """Your work. It looks at `over` now and then: when that is set, somebody wants it to stop."""
    payload = run.get("payload") or {}
    over.wait(payload.get("ms", 0) / 1000)
    if payload.get("fails"):
        raise RuntimeError("it fails, as it was asked to")
    return {"by": sys.argv[1]}


def execute(run):
    over = threading.Event()
    began, until = (time.mktime(time.strptime(run[at][:19], "%Y-%m-%dT%H:%M:%S")) for at in ("leasedAt", "expiresAt"))
    threading.Thread(target=keep, args=(run["lease"], max(until - began, 1), over), daemon=True).start()
    try:
        say("begin", run)
        end = ("complete", {"lease": run["lease"], "result": work(run, over)})
        say("done", run)
    except Exception as error:  # Whatever went wrong with the work is told, and tried again.
        end = ("release", {"lease": run["lease"], "failed": True, "reason": str(error)[:500] or "unknown"})
    finally:
        over.set()
    try:
        patiently(*end)
    except Refused as refusal:
        # Somebody else has it by now, or an answer of ours was lost on its way. Both are known to Belfry.
        print(f"{run['runId']}: {refusal}", file=sys.stderr)


def say(what, run):
    """One line in one write, so that many hosts can write to one file."""
    os.write(1, f"{what} {run['runId']} {run['fence']} {sys.argv[1]}\n".encode())


def main():
    name, queue = sys.argv[1], (sys.argv[2:] or ["default"])[0]
    while True:
        # The key makes it safe to ask again when the answer was lost: the same request is granted once.
        asked = {"host": name, "queue": queue, "limit": 1, "requestKey": uuid.uuid4().hex}
        leases = patiently("lease", asked)["leases"]
        for run in leases:
            execute(run)
        if not leases:
            time.sleep(0.1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
