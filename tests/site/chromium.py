"""A headless Chromium, driven by its DevTools protocol over two pipes: no package is needed."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class BrowserError(RuntimeError):
    """The browser did not do what was asked."""


def find():
    """The path of an installed browser, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """A page of a browser. `errors` has its console's complaints, `requests` what it loaded."""

    def __init__(self, program, width=1280, height=900):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads file descriptor 3 and writes 4.
        redirect = f"exec 3<&{to_browser} 4>&{from_browser}; exec \"$@\""
        arguments = [program, "--headless=new", "--no-sandbox", "--disable-gpu",
                     "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--remote-debugging-pipe",
                     f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(
            ["bash", "-c", redirect, "chromium"] + arguments, pass_fds=(to_browser, from_browser),
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session = b"", 0, None
        self.errors, self.requests, self._loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.killpg(self._process.pid, signal.SIGKILL)  # its helpers, too
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def call(self, method, **parameters):
        """Sends a command and returns its result. Collects events that come before it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(30)
            if answer is None:
                raise BrowserError(f"{method}: no answer in 30 seconds")
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._event(answer)

    def _receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._read, 1 << 16)
            if not data:
                raise BrowserError("the browser ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _event(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.errors.append(" ".join(str(a.get("value", "")) for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme):
        """What the system prefers: "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        """Loads a page and waits for its load event."""
        self._loaded = False
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 30
        while not self._loaded:
            message = self._receive(max(0, end - time.monotonic()))
            if message is None:
                raise BrowserError(f"{address}: not loaded in 30 seconds")
            self._event(message)

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=20):
        """Evaluates an expression until it is true; returns its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f"not true in {seconds} seconds: {expression}")
            time.sleep(0.05)

    def type(self, text):
        """Types into the element that has the focus."""
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", text=character, key=character)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def shadow_elements(self, name):
        """How many elements of a tag are in the page, in closed shadow roots too."""
        def count(node):
            inner = node.get("children", []) + node.get("shadowRoots", [])
            return (node["nodeName"].lower() == name) + sum(map(count, inner))

        return count(self.call("DOM.getDocument", depth=-1, pierce=True)["root"])
