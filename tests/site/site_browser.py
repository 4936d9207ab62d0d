"""The browser of tests/report, with what a test of a whole site needs beside it."""

import base64
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "report" / "browser"))
import browser

find = browser.find


class SiteBrowser(browser.Browser):
    """One page, which goes from address to address."""

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme):
        """What the system prefers: "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, address):
        """Loads a page and waits for its load event."""
        self.loaded = False
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 60
        while not self.loaded:
            if time.monotonic() > end:
                raise RuntimeError(f"{address}: not loaded in 60 seconds")
            self.receive()

    def wait_for(self, expression, seconds=20):
        """Evaluates an expression until it is true; returns its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(expression)
            if value:
                return value
            if time.monotonic() > end:
                raise RuntimeError(f"not true in {seconds} seconds: {expression}")
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
