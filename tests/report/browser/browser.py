"""A headless Chromium, driven through its DevTools protocol over a pipe: needs nothing but Python."""
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """Returns the path of Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. Collects what goes wrong in it: errors of scripts and requests to the network."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="halfgrad-chromium-")
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def use_pipes():
            # Both ends may be called 3 or 4 already: copies out of the way come first.
            source, sink = os.dup(to_browser), os.dup(from_browser)
            source, sink = (os.dup2(old, new) for old, new in ((source, 30), (sink, 31)))
            os.dup2(source, 3)
            os.dup2(sink, 4)

        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=use_pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.ids = itertools.count(1)
        self.buffer = b""
        self.session = None
        self.errors, self.requests = [], []
        self.loaded = False
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Calls a method of the protocol, and returns its result."""
        number = next(self.ids)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self, seconds=60):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], seconds)
            chunk = os.read(self.into, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("browser: expected an answer, got none")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.notice(message.get("method"), message.get("params", {}))
        return message

    def notice(self, event, about):
        if event == "Runtime.exceptionThrown":
            self.errors.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(str([argument.get("value") for argument in about["args"]]))
        elif event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif event == "Page.loadEventFired":
            self.loaded = True

    def open(self, path, width=1200, height=900, dark=False, media="", script=True):
        """Opens a file in a window of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.loaded = False
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        end = time.monotonic() + 60
        while not self.loaded and time.monotonic() < end:
            self.receive()
        if script:
            self.settle()

    def settle(self):
        """Waits until the page has been drawn."""
        if self.run("document.visibilityState") == "visible":
            self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def run(self, expression):
        """Returns the value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:80]}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        self.settle()
