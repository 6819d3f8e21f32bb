#!/usr/bin/env python3
"""An outside host: leases runs over HTTP, renews its leases while it works, and reports how each run ended.

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
# Shorter than the timeout of a request.
WAIT = "20s"


class Refused(Exception):
    """A refusal by Belfry, with its code: `conflict` means that the lease is over."""

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
    """Asks again until the server answers. Use it only for requests that may be sent twice."""
    while True:
        try:
            return ask(verb, body)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
        except Refused as refusal:
            # The server is stopping, or too many calls are waiting.
            if refusal.code != "unavailable":
                raise
            time.sleep(0.5)


def keep(lease, lasts, over):
    """Renews a lease at a third of its length until the work has ended; sets `over` when the lease is lost."""
    while not over.wait(lasts / 3):
        try:
            if patiently("renew", {"lease": lease})["cancelRequestedAt"] is not None:
                over.set()
        except Refused:
            over.set()


def work(run, over):
    """Your work. Check `over` now and then, and stop when it is set."""
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
    except Exception as error:  # A failure is reported, and the run is tried again.
        end = ("release", {"lease": run["lease"], "failed": True, "reason": str(error)[:500] or "unknown"})
    finally:
        over.set()
    try:
        patiently(*end)
    except Refused as refusal:
        # The lease was reclaimed, or an earlier report arrived and its answer was lost. Belfry has recorded either.
        print(f"{run['runId']}: {refusal}", file=sys.stderr)


def say(what, run):
    """One line in one write, so that many hosts can write to one file."""
    os.write(1, f"{what} {run['runId']} {run['fence']} {sys.argv[1]}\n".encode())


def main():
    name, queue = sys.argv[1], (sys.argv[2:] or ["default"])[0]
    while True:
        # The server answers when there is work, or after `wait`. `requestKey` makes it safe to ask again when an answer was
        # lost: the same request is granted once.
        asked = {"host": name, "queue": queue, "limit": 1, "wait": WAIT, "requestKey": uuid.uuid4().hex}
        for run in patiently("lease", asked)["leases"]:
            execute(run)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
