#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controls of a report's first screen, worked by mouse and keys in Chromium: tests/browser.py PAGE

Chromium is driven over its debugging pipe, so that pointer and keys go the way a person's do. A line a check; exit
code 1 if one failed."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile


class Browser:
    def __init__(self, page, size=(1280, 800)):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # its children end a little later
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        # The program reads from descriptor 3 and writes to 4.
        launch = f"exec 3<&{there_in} 4>&{there_out}; exec chromium \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", launch, "bash", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self.folder.name}"],
            pass_fds=(there_in, there_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(there_in), os.close(there_out)
        self.reads, self.out, self.number, self.rest, self.messages = here_in, here_out, 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime":
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        # Pages scroll smoothly: on a busy machine a scroll that a key began moved an element from below the pointer.
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        self.open(page)

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.reads, 1 << 16)
            if not more:
                sys.exit("browser.py: Chromium ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            got = self.receive()
            if got.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                self.messages.append(json.dumps(got["params"])[:300])
            if got.get("method") == "Page.loadEventFired":
                self.loaded = True
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(method + ": " + str(got["error"]))
                return got["result"]

    def open(self, address):
        self.loaded = False
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        while not self.run("document.readyState === 'complete' && location.protocol !== 'about:'"):
            pass
        if self.run("location.protocol !== 'file:'"):
            sys.exit("browser.py: Chromium cannot open " + address)

    def run(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(expression + ": " + str(got["exceptionDetails"])[:400])
        return got["result"].get("value")

    def wait(self, expression, tries=50):
        while tries and not self.run(expression):
            self.run("new Promise(done => setTimeout(done, 50))")
            tries -= 1

    def place(self, element):
        return self.run(f"""(() => {{ const e = {element}; e.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")

    def point(self, element):
        x, y = self.place(element)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, element):
        self.point(element)
        x, y = self.place(element)
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    # A click at a share of a slider's track.
    def slide(self, element, share):
        self.place(element)
        x, y = self.run(f"""(() => {{ const r = {element}.getBoundingClientRect(); return [r.x + 3 + {share} * (r.width - 6), r.y + r.height / 2]; }})()""")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name, text=None, code=0):
        codes = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38, " ": 32}
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code="Space" if name == " " else name,
                      windowsVirtualKeyCode=codes.get(name, code), **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        for letter in text:
            self.key(letter, letter, ord(letter.upper()))

    def focus(self, element):
        self.run(f"({element}).focus()")

    def close(self):
        os.close(self.out)
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


failed = 0


def check(name, good, said=""):
    global failed
    failed += not good
    print(("ok " if good else "FAILED ") + name + ("" if good else f": {said}"))


Q = "document.querySelector"
WORDS = """(() => { const part = document.createRange(); part.setStart(document.body, 0);
    const table = [...document.querySelectorAll(".take")].find(t => !t.hidden); part.setEndAfter(table);
    const walk = node => node.nodeType === 3 ? node.data : node.nodeType !== 1 ? "" : !part.intersectsNode(node) ||
        ["svg", "STYLE", "SCRIPT"].includes(node.tagName) || node.matches(".skip, .sr, details:not([open]) > :not(summary)") || getComputedStyle(node).display === "none" ? "" :
        (node.tagName === "SELECT" ? node.selectedOptions[0].text : [...node.childNodes].map(walk).join(" "));
    return walk(document.body).replace(/\\s+/g, " ").trim(); })()"""


# By a click, and by Enter.
def copied(b, link, text, what):
    b.run(f"window.link = {link}")
    for how, act in ("a click", lambda: b.click("window.link")), ("Enter", lambda: (b.focus("window.link"), b.key("Enter", "\r"))):
        b.wait("!('copied' in window.link.dataset)")
        act()
        b.wait("'copied' in window.link.dataset")
        check(f"{how} copies {what}", b.run(f"window.link.dataset.copied === {text}"), b.run("window.link.outerHTML"))
    b.wait("!('copied' in window.link.dataset)")


# What a button saves: its name and contents.
def saved(b, text, within, by_key=False):
    b.run("""window.got = null; URL.createObjectURL = blob => { window.blob = blob; return "#"; };
        HTMLAnchorElement.prototype.click = function () { window.got = this.download; };""")
    element = f"[...document.querySelectorAll('{within} button')].find(b => b.textContent === '{text}')"
    if by_key:
        b.focus(element)
        b.key("Enter", "\r")
    else:
        b.click(element)
    return b.run("window.got"), b.run("window.got ? window.blob.text() : ''")


# Rows of the table that are seen, and columns.
SEEN = """[[...document.querySelectorAll("#settings tbody tr:not([hidden])")].length,
    [...document.querySelector("#settings thead tr").cells].filter(c => getComputedStyle(c).display !== "none").length]"""


def saves(b):
    rows, columns = b.run(SEEN)
    for by_key in False, True:
        name, text = saved(b, "CSV", "#samplers .downloads, .downloads", by_key)
        lines = list(csv.reader(io.StringIO(text)))
        check("the CSV has the rows that are seen" + (", by Enter" if by_key else ""), name == "settings.csv" and len(lines) == rows + 1, (name, len(lines), rows))
        wide = sum(head.endswith(" low") for head in lines[0])
        check("and its columns, with the ends of intervals", len({len(line) for line in lines}) == 1 and len(lines[0]) == columns + 2 * wide and wide > 0, (columns, wide, lines[0]))
    at = lines[0].index("False negatives (%)")
    shown = b.run("""[...document.querySelectorAll("#settings tbody tr:not([hidden])")].map(r => 100 * parseFloat(r.cells[[...r.closest("table").tHead.rows[0].cells].findIndex(h => h.dataset.column === "fn_ratio")].dataset.v))""")
    check("its numbers are the table's", all(
        line[at] == "" and v is None or abs(float(line[at]) - v) < 0.06 and float(line[at + 1] or line[at]) <= float(line[at]) for line, v in zip(lines[1:], shown)), shown)
    name, text = saved(b, "LaTeX", ".downloads")
    body = text[text.index("\\toprule"):text.index("\\bottomrule")]
    check("LaTeX has them, too", name == "settings.tex" and body.count("\\\\\n") == rows + 1, (name, body.count("\\\\\n")))
    check("in as many columns", all(line.replace("\\&", "").count("&") == columns - 1 for line in body.split("\n") if line.endswith("\\\\")))
    name, text = saved(b, "SVG", "figure")
    check("a figure is saved as SVG", name.endswith(".svg") and text.startswith("<svg") and "xmlns=" in text, (name, text[:80]))


# Every menu above the table, by keys; its rows are those of the value, and the address has it.
def menus(b):
    kept = "[...document.querySelectorAll('#settings tbody tr:not([hidden])')]"
    for i in range(b.run("document.querySelectorAll('.filter select').length")):
        menu = f"document.querySelectorAll('.filter select')[{i}]"
        first, name = b.run(menu + ".value"), b.run(menu + ".name")
        b.focus(menu)
        b.key("End")
        value = b.run(menu + ".value")
        check(f"the menu {name} chooses rows", value != first and b.run(
            f"{kept}.length > 0 && {kept}.every(r => '=' + (r.querySelector('[data-axis=\"{name}\"]')?.dataset.value ?? '–') === {menu}.value)"), (first, value))
        kept_sign = value[1:2].isalpha()  # "=all" is a value, "all" is all
        check("and is in the address", b.run(f"new URLSearchParams(location.hash.slice(1)).get('{name}')") == (value if kept_sign else value.lstrip("=")), b.run("location.hash"))
        b.focus(menu)
        b.key("Home")
        for _ in range(b.run(f"[...{menu}.options].findIndex(o => o.value === '{first}')")):
            b.key("ArrowDown")
        check("and back", b.run(menu + ".value") == first and b.run(f"!new URLSearchParams(location.hash.slice(1)).has('{name}')"))


def main():
    page = "file://" + os.path.abspath(sys.argv[1])
    b = Browser(page)
    said = b.run(WORDS)
    words = [w for w in said.split() if any(c.isalpha() for c in w)]
    check("at most 60 words before the table's end", len(words) <= 60, f"{len(words)}: {said}")
    check("the table and the front are on the first screen",
          b.run(f"""Math.max({Q}(".take:not([hidden])").getBoundingClientRect().bottom, {Q}(".chart svg").getBoundingClientRect().bottom)""") <= 800)
    check("names in the front are whole, and cover neither marks nor each other", b.run("""(() => {
        const whole = document.querySelector(".chart svg").getBoundingClientRect(), boxes = s => [...document.querySelectorAll(s)].map(e => e.getBoundingClientRect());
        const names = boxes(".chart .name"), marks = boxes(".chart .mark path:not(.whisker)");
        const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
        return names.length > 0 && names.every((n, i) => n.left >= whole.left && n.right <= whole.right + 1 &&
            marks.every(m => !meet(n, m)) && names.every((o, k) => k <= i || !meet(n, o))); })()"""))
    check("nor whiskers and the front's line, where there is space beside", b.run("""(() => {
        const boxes = s => [...document.querySelectorAll(s)].map(e => e.getBoundingClientRect()), names = boxes(".chart .name");
        const over = (n, l) => Math.min(n.right, l.right) - Math.max(n.left, l.left) > 8 && l.top > n.top + 4 && l.bottom < n.bottom - 4;
        return names.filter(n => boxes(".chart .whisker").some(l => l.height < 4 && over(n, l))).length <= names.length / 4; })()"""))
    heights = "[...document.querySelectorAll('.mark')].map(m => m.getAttribute('transform')).join()"
    axis = "[...document.querySelectorAll('.chart text')].map(t => t.textContent).find(t => t.startsWith('hardness'))"
    measures = b.run("[...document.querySelectorAll('[name=measure]')].map(r => r.value)")
    if len(measures) > 1:
        before = b.run(heights), b.run(axis), b.run("document.querySelector('.take:not([hidden])').innerText")
        b.click(Q + f"('[name=measure][value={measures[1]}]')")
        after = b.run(heights), b.run(axis), b.run("document.querySelector('.take:not([hidden])').innerText")
        check("the switch changes the picture, its axis and the table", all(x != y for x, y in zip(before, after)), after[1])
        row = "[...document.querySelectorAll('#fronts .plot')].filter(p => p.offsetParent).map(p => p.dataset.measure).join()"
        check("and the row of fronts", b.run(row) == "1", b.run(row))
        check("and stands in the address", b.run("location.hash") == "#measure=" + measures[1], b.run("location.hash"))
        b.key("ArrowLeft")
        check("by key, too", b.run(heights) == before[0] and b.run("location.hash") == "", b.run("location.hash"))
    # A mark: its numbers, its row, and back.
    mark = Q + "('.mark:last-of-type')"
    label = b.run(mark + ".getAttribute('aria-label')")
    b.point(mark)
    tip = Q + "('.tip')"
    check("pointing at a mark shows its numbers", b.run(f"!{tip}.hidden && {tip}.textContent.includes('false negatives')"))
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    check("and pointing elsewhere hides them", b.run(f"{tip}.hidden"))
    b.focus(mark)
    check("so does the focus", b.run(f"!{tip}.hidden"))
    row = b.run(mark + ".dataset.row")
    numbers = b.run(f"""(() => {{ const row = {Q}("#{row}").parentElement, heads = [...row.closest("table").tHead.rows[0].cells];
        return (100 * parseFloat(row.cells[heads.findIndex(h => h.dataset.column === "fn_ratio")].dataset.v)).toFixed(2); }})()""")
    check("they are the row's", f"false negatives {numbers}" in label, (label, numbers))
    b.key("Enter", "\r")
    check("Enter goes to its row", b.run("document.activeElement.id") == row and b.run("location.hash") == "#row=" + row,
          b.run("document.activeElement.id") + b.run("location.hash"))
    back = "[...document.querySelectorAll('.picked button')].pop()"
    b.click(back)
    check("a click comes back to it", b.run("document.activeElement.dataset.row") == row)
    b.click(mark)
    check("a click goes to the row", b.run(f"{Q}('#{row}').parentElement.classList.contains('here')"))
    b.focus(back)
    b.key("Enter", "\r")
    check("and Enter comes back", b.run("document.activeElement.dataset.row") == row)
    # A budget.
    budget = Q + "('.takes input[type=range]')"
    b.focus(budget)
    b.key("ArrowRight")
    value = b.run("new URLSearchParams(location.hash.slice(1)).get('budget')")
    slid = "[...document.querySelectorAll('.take:not([hidden]) .slid')].find(r => r.offsetParent).innerText"
    check("the budget's slider answers another budget", b.run(slid).startswith(f"+{value}"), b.run(slid))
    wanted = b.run("""(() => { const body = [...document.querySelector('.take:not([hidden])').tBodies].find(x => x.offsetParent);
        const rows = [...body.rows].filter(r => r.hidden && parseFloat(r.dataset.budget) <= %s); return rows.pop().cells[1].textContent; })()""" % value)
    check("by the last row whose budget is no larger", wanted in b.run(slid), (wanted, b.run(slid)))
    b.slide(budget, 0)
    check("a click on it, too", b.run(slid).startswith("+0") and b.run("new URLSearchParams(location.hash.slice(1)).get('budget')") == "0", b.run(slid))
    b.slide(budget, 1)
    check("to its other end", b.run(slid).startswith("+50"), b.run(slid))
    b.slide(budget, 0)
    command = "[...document.querySelectorAll('.take:not([hidden]) a[data-command]')].find(a => a.offsetParent)"
    if b.run(f"!!{command}"):
        copied(b, command, "link.dataset.command", "the command that decides")
        check("for the budget that was asked for", b.run("window.link.closest('tr').cells[0].textContent.slice(1) === /--max-excess ([^ ]+)/.exec(window.link.dataset.command)[1]"))
    # Against cost, by keys.
    against = Q + "('.choices select:last-of-type')"
    selects = "[...document.querySelectorAll('.choices label')].find(l => l.textContent.startsWith('against')).firstElementChild"
    b.focus(selects)
    b.key("ArrowDown")
    check("cost on a logarithmic axis", b.run("[...document.querySelectorAll('.chart text')].some(t => t.textContent.includes('logarithmic'))"))
    check("which the address has", "against=log" in b.run("location.hash"))
    b.key("ArrowUp")
    check("and false negatives again", "against" not in b.run("location.hash"), b.run("location.hash"))
    # Steps.
    step = "[...document.querySelectorAll('.choices label')].find(l => l.textContent.startsWith('step'))"
    if b.run(f"!{step}.hidden"):
        before = b.run(heights)
        b.focus(step + ".firstElementChild")
        b.key("ArrowLeft")
        check("the step's slider draws another step", b.run(heights) != before)
        now = b.run("new URLSearchParams(location.hash.slice(1)).get('step')")
        check("and the table's rows are of it", b.run(
            f"[...document.querySelectorAll('#settings tbody tr:not([hidden]) th')].every(th => th.dataset.step === '{now}')"), now)
        b.open(page + f"#step={now}")
        check("an address with a step opens at it", b.run(step + ".querySelector('output').textContent") == now)
        b.focus(step + ".firstElementChild")
        b.key("ArrowRight")
        slider = step + ".firstElementChild"
        b.slide(slider, 0)
        least = b.run("""(file => Math.min(...[...document.querySelectorAll('#settings tbody th')].filter(th => th.dataset.file === file)
            .map(th => parseFloat(th.dataset.step))))(document.getElementById(document.querySelector('.mark').dataset.row).dataset.file)""")
        check("a click on the slider goes to a step", b.run(step + ".querySelector('output').textContent") == f"{least:g}")
        b.slide(slider, 1)
    # Which data and batch size.
    of = "[...document.querySelectorAll('.choices label')].find(l => l.textContent.startsWith('of'))?.firstElementChild"
    if b.run(f"!!{of}"):
        before = b.run(heights)
        b.focus(of)
        b.key("ArrowDown")
        front = b.run(of + ".value")
        check("another front is drawn, in the address, with its own table", b.run(heights) != before and
              b.run("new URLSearchParams(location.hash.slice(1)).get('front')") == front and
              b.run("[...document.querySelectorAll('.take')].filter(t => !t.hidden).map(t => t.dataset.front).join()") == front)
        check("and its marks are of its rows", b.run(
            f"[...document.querySelectorAll('.mark')].every(m => document.getElementById(m.dataset.row).dataset.front === {of}.value)"))
        b.open(page + "#" + b.run("location.hash.slice(1)"))
        check("which an address opens", b.run(of + ".value") == front)
        b.focus(of)
        b.key("ArrowUp")
        check("and back", b.run(heights) == before and "front" not in b.run("location.hash"), b.run("location.hash"))
    # Two rows: their difference, against one computed here.
    rows = b.run("[...document.querySelectorAll('#settings tbody tr:not([hidden]) th')].filter(th => th.dataset.base !== th.id.slice(1)).slice(0, 2).map(th => th.id)")
    b.click(Q + f"('#{rows[0]} .tick')")
    b.focus(Q + f"('#{rows[1]} .tick')")
    b.key(" ", " ")
    data = json.loads(b.run("document.getElementById('by-seed').textContent"))
    seed, at = data["columns"].index("seed"), data["columns"].index("fn_ratio")
    one, other = (dict(zip(data[r][seed] or data["s0"][seed], data[r][at])) for r in rows)
    values = [one[s] - other[s] for s in one if s in other]
    mean = sum(values) / len(values)
    said = b.run(Q + "('.picked').textContent")
    check("two ticked rows have their difference", f"false negatives {'+' if mean > 0 else ''}{100 * mean:.2f}".replace("-", "−") in said, said)
    if len(values) == 3:
        half = 4.30265273 * (sum((v - mean) ** 2 for v in values) / 2 / 3) ** .5
        check("with its interval, paired by seed", f"± {100 * half:.2f} points" in said, (said, half))
    # A setting as YAML.
    link = "[...document.querySelectorAll('.take:not([hidden]) a[data-yaml]')].find(a => a.offsetParent)"
    if b.run(f"!!{link}"):
        copied(b, link, "'- ' + link.dataset.yaml", "a setting as YAML")
    # A sampler highlighted is highlighted in the front, and in print it is not.
    chip = "[...document.querySelectorAll('.chips button')][1]"
    b.click(chip)
    check("the front follows the highlight", b.run("document.querySelectorAll('.mark.off').length > 0 && document.querySelectorAll('.mark:not(.off)').length > 0"))
    rows = "[...document.querySelectorAll('#gc-bounds .plot svg g[id]')].filter(g => g.querySelector('title')).flatMap(g => [...g.querySelectorAll('use')])"
    marks = b.run(f"{rows}.length")
    check("so do figures whose series are no samplers", not marks or b.run(f"{rows}.some(u => u.matches('.off')) && {rows}.some(u => !u.matches('.off'))"))
    b.run("addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('.off').length; })")
    b.call("Page.printToPDF")
    check("paper does not", b.run("window.printed") == 0, b.run("window.printed"))
    check("and the screen does again", b.run("document.querySelectorAll('.mark.off').length > 0"))
    b.focus(chip)
    b.key("Enter", "\r")
    check("Enter ends it", b.run("document.querySelectorAll('.off').length === 0"))
    # The table: its order, and which rows.
    head = "[...document.querySelectorAll('#settings th button')].find(b => b.parentElement.dataset.column === 'fn_ratio')"
    column = f"[...document.querySelectorAll('#settings tbody tr')].map(r => parseFloat(r.cells[{head}.parentElement.cellIndex].dataset.v)).filter(isFinite)"
    b.click(head)
    check("a heading sorts", b.run(f"{column}.every((v, i, all) => i === 0 || all[i - 1] <= v)"))
    b.focus(head)
    b.key("Enter", "\r")
    check("by key, the other way", b.run(f"{column}.every((v, i, all) => i === 0 || all[i - 1] >= v) && {head}.parentElement.ariaSort === 'descending'"))
    kept = "[...document.querySelectorAll('#settings tbody tr:not([hidden])')]"
    before = b.run(f"{kept}.length")
    menus(b)
    saves(b)
    words = "document.querySelector('.filter input')"
    if b.run(f"!{words}"):
        return end(b, page)
    b.click(words)
    b.type("knn")
    check("typed words choose rows", b.run(f"{kept}.length > 0 && {kept}.length < {before} && {kept}.every(r => r.innerText.includes('knn'))"))
    b.click("[...document.querySelectorAll('.filter button')].find(b => b.textContent === 'all rows')")
    check("a button brings all back", b.run(f"{kept}.length === document.querySelectorAll('#settings tbody tr').length"))
    return end(b, page)


def end(b, page):
    thumb = "document.querySelector('.thumbs a')"
    if b.run(f"!!{thumb}"):
        for by_key in False, True:
            b.run("scrollTo(0, 0)")
            b.focus(thumb) if by_key else b.click(thumb)
            b.key("Enter", "\r") if by_key else None
            b.wait(f"Math.abs(document.querySelector({thumb}.getAttribute('href')).getBoundingClientRect().top - 80) < 40")
            check("a thumbnail goes to its figure" + (", by Enter" if by_key else ""), b.run(f"(r => r.top >= 0 && r.top < innerHeight)(document.querySelector({thumb}.getAttribute('href')).getBoundingClientRect())"))
    check("thumbnails lead to all figures", b.run("document.querySelectorAll('.thumbs a').length === document.querySelectorAll('#figures figure').length || document.querySelectorAll('#figures figure').length < 3"))
    check("no message", not b.messages, b.messages)
    b.close()
    narrow = Browser(page, (420, 900))
    check("at 420 px nothing is cut", narrow.run("document.documentElement.scrollWidth <= 420 && [...document.querySelectorAll('.takes')].every(t => t.scrollWidth <= t.clientWidth)"),
          narrow.run("[document.documentElement.scrollWidth, ...[...document.querySelectorAll('.takes')].flatMap(t => [t.scrollWidth, t.clientWidth])].join()"))
    narrow.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
