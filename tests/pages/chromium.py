"""A headless Chromium, driven through a pipe by its DevTools protocol; the standard library suffices.

    with Browser() as browser:
        page = browser.open("file:///tmp/page.html", 1280)
        page.value("document.title")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Missing(Exception):
    """There is no Chromium here, or it does not start."""


class Browser:
    def __init__(self):
        names = ("chromium", "chromium-browser", "google-chrome")
        program = next((p for p in map(shutil.which, names) if p), None)
        if not program:
            raise Missing("no Chromium here: apt-get install chromium")
        self.folder = tempfile.mkdtemp(prefix="forerun-browser-")
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--no-first-run", "--disable-extensions", "--disable-background-networking",
                 "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"]

        def pipes():  # the protocol reads descriptor 3 and writes 4
            a, b = os.dup(to_child), os.dup(from_child)
            a, b = (os.dup(a), os.dup(b)) if {a, b} & {3, 4} else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.child = subprocess.Popen(words, pass_fds=(3, 4), preexec_fn=pipes, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.number, self.buffer, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", limit_s=5)
        except (Missing, OSError):
            pass
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self, until):
        """The next message; None past the time `until`."""
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                return None
            part = os.read(self.back, 1 << 20)
            if not part:
                raise Missing("the browser ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, limit_s=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + limit_s
        while True:
            answer = self.read(until)
            if answer is None:
                raise Missing("no answer to " + method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def open(self, address, width, height=900):
        return Page(self, address, width, height)


class Page:
    def __init__(self, browser, address, width, height):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.target = target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        browser.events.clear()
        self.call("Page.navigate", url=address)
        until = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" for e in browser.events):
            event = browser.read(until)
            if event is None:
                raise Missing("the page does not load")
            browser.events.append(event)

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def value(self, script):
        """The value of an expression on the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(script + ": " + str(result["exceptionDetails"].get("exception")))
        return result["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key):
        code = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

    def screenshot(self, whole=True):
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def complaints(self):
        """Errors of scripts, of the policy, and requests that leave the file."""
        found = []
        for event in self.browser.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + json.dumps(params["exceptionDetails"])[:400])
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append("log: " + params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append("console: " + json.dumps(params["args"])[:400])
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
                found.append("request: " + params["request"]["url"])
        return found

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
