#!/usr/bin/env python3
"""The page of `cotan explain --html` in a real browser, headless, for every method: nothing is said on the console, nothing is
fetched, the buttons and the arrow keys step through the run, and what a program says is text on the page, never markup.

    tests/explain_page.py [--cotan PATH] [METHOD…]

The page is opened with a script behind its own that steps and writes down what it sees; the browser prints what became of it.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
passed = failed = 0

# An operator of hostile letters, and strings that would be markup if they were not escaped.
PROGRAM = r'''
(<&>) :: Double -> Double -> Double
x' <&> y =
  if x' > 1000 then error "</script><script>alert('<b>&amp;\"1\"')</script>" else sin x' * y + x'

data Point = Point { px :: Double, py :: [Double] }

near :: Point -> Double
near p = sum (map (\y -> y * px p <&> 2) (py p))

still :: Double -> Double
still _ = 1
'''

STEPS = r"""
<script>
"use strict";
(() => {
  const seen = { errors: [], trail: [] };
  window.addEventListener("error", (event) => seen.errors.push(String(event.message)));
  const find = (id) => document.getElementById(id);
  const note = () => seen.trail.push({
    at: Number(find("at").value), said: find("said").textContent,
    now: [...document.querySelectorAll("svg .now")].map((g) => g.id), row: [...document.querySelectorAll("tr.now")].map((r) => r.id),
    adjoints: [...document.querySelectorAll("tbody tr")].map((r) => (r.cells[4] ? r.cells[4].textContent : "")),
    disabled: [...document.querySelectorAll("button")].map((b) => b.disabled) });
  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  seen.buttons = document.querySelectorAll("button").length;
  if (find("at")) {
    seen.steps = Number(find("at").max);
    seen.nodes = document.querySelectorAll("svg .node").length;
    note();
    press("ArrowRight"); note();
    find("next").click(); note();
    press("ArrowLeft"); note();
    find("previous").click(); note();
    press("End"); note();
    find("first").click(); note();
    find("last").click(); note();
    press("Home"); note();
    find("at").value = "1"; find("at").dispatchEvent(new Event("input")); note();
  }
  seen.scripts = document.querySelectorAll("script").length;
  seen.bold = document.querySelectorAll("b").length;
  seen.text = document.body.innerText;
  seen.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
</script>
"""


def expect(what, found, wanted):
    global passed, failed
    if found == wanted:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}: found {found!r}, expected {wanted!r}")


def explain(cotan, folder, function, *words):
    page = os.path.join(folder, "page.html")
    done = subprocess.run([cotan, "explain", "program.cot", function, "--html", page, *words], cwd=folder, capture_output=True,
                          encoding="utf-8", timeout=120)
    if done.returncode != 0:
        return None, done.stderr
    with open(page, encoding="utf-8") as file:
        return file.read(), done.stderr


def browse(browser, folder, page):
    """What the stepping script saw, and what was said on the console."""
    path = os.path.join(folder, "stepped.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace("</body>", STEPS + "</body>"))
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
             "--user-data-dir=" + os.path.join(folder, "profile"), "file://" + path]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", timeout=180)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
    console = [line for line in done.stderr.split("\n") if ":CONSOLE" in line]
    return (json.loads(html.unescape(found[1])) if found else None), console


def values_of(page):
    data = re.search(r'<script type="application/json" id="data"[^>]*>(.*?)</script>', page, re.S)
    return json.loads(data[1])


def check_run(method, reverse, page, seen):
    data = values_of(page)
    steps, trail = data["steps"], seen["trail"]
    last = len(steps)
    arrivals = [step for step in steps if "g" in step]
    expect(f"{method}: steps", (seen["steps"], seen["nodes"]), (last, len(data["nodes"])))
    expect(f"{method}: places", [state["at"] for state in trail], [0, 1, 2, 1, 0, last, 0, last, 0, 1])
    expect(f"{method}: the first node", (trail[1]["now"], trail[1]["row"]), (["n1"], ["r1"]))
    expect(f"{method}: the second node", (trail[2]["now"], trail[2]["row"]), (["n2"], ["r2"]))
    expect(f"{method}: back", trail[3], trail[1])
    expect(f"{method}: the beginning", trail[6], trail[0])
    expect(f"{method}: the end", trail[7], trail[5])
    expect(f"{method}: the slider", trail[9], trail[1])
    expect(f"{method}: buttons at the ends", (trail[0]["disabled"], trail[5]["disabled"]),
           ([True, True, False, False], [False, False, True, True]))
    final = {}
    for step in arrivals:
        if step["n"] >= 0:
            final[step["n"]] = step["adjoint"]
    shown = [final.get(i, "") for i in range(len(data["nodes"]))]
    expect(f"{method}: adjoints at the end", trail[5]["adjoints"], shown)
    if method != "vector":
        expect(f"{method}: cotangents arrive", len(arrivals) > 0, reverse)


def check_page(what, page, seen, console, scripts):
    expect(f"{what}: the script has run", seen is not None, True)
    if seen is None:
        return False
    expect(f"{what}: errors", (seen["errors"], console), ([], []))
    expect(f"{what}: fetched", seen["fetched"], [])
    expect(f"{what}: scripts and markup of the program's", (seen["scripts"], seen["bold"]), (scripts, 0))
    links = [link for link in re.findall(r'(?:src|href)\s*=\s*["\']([^"\']*)', page) if link != "data:,"]
    expect(f"{what}: links", links, [])
    return True


# `bulk` shows stages, and no run number by number.
TITLES = ["the function", "the term", "stage 1: the bulk-operation transform", "stage 2: dual arrays",
          "stage 3: the symbolic reverse pass", "the gradient program", "the Delta term, drawn", "what the forward pass leaves", "the result"]


def check_stages(page, seen):
    expect("bulk: stages", re.findall("<h2>(.*?)</h2>", page), TITLES)
    expect("bulk: nothing to step through", seen["buttons"], 0)
    inputs = re.findall(r">(Input [^<]*)</text>", page)
    expect("bulk: the Delta term, each input once", (len(inputs) > 0, len(set(inputs))), (True, len(inputs)))
    expect("bulk: the term", "  ⊢ index" in seen["text"] or "  ⊢ let" in seen["text"], True)


# So do the methods of CHAD, which map terms.
def check_terms(name, page, seen):
    titles = ["the function", "the types", "the function, transformed", "the wrapper", "the wrapper, simplified",
              "what the forward pass leaves", *(["the reverse pass"] if name == "chad" else []), "the result"]
    expect(f"{name}: stages", re.findall("<h2>(.*?)</h2>", page), titles)
    expect(f"{name}: nothing to step through", (seen["buttons"], "<svg" in page), (0, False))
    expect(f"{name}: the pullback", "pulled back = " in seen["text"], True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cotan", default=os.path.join(ROOT, "build", "cotan"))
    parser.add_argument("methods", nargs="*")
    options = parser.parse_args()
    cotan = os.path.abspath(options.cotan)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    for what, there in (("Chromium", browser), ("Graphviz", shutil.which("dot"))):
        if not there:
            print(f"skipped: {what} is not installed\nthe page of explain: 0 passed, 0 failed")
            return
    listed = json.loads(subprocess.run([cotan, "methods", "--json"], capture_output=True, check=True).stdout)
    folder = tempfile.mkdtemp(prefix="cotan-page-")
    try:
        with open(os.path.join(folder, "program.cot"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for method in listed:
            name = method["name"]
            if name == "native":  # shows no run
                page, said = explain(cotan, folder, "near", "--method", name)
                expect("native: a page", (page is not None and all(title in page for title in ("lowered to Flow", "optimised", "the C")), said), (True, ""))
                continue
            if options.methods and name not in options.methods:
                continue
            if name == "bulk":
                continue
            page, said = explain(cotan, folder, "near", "--method", name, "--at", '{"px": 2, "py": [0.5, -1]}')
            expect(f"{name}: a page", (page is not None, said), (True, ""))
            if page is None:
                continue
            seen, console = browse(browser, folder, page)
            if name.startswith("chad"):
                if check_page(name, page, seen, console, 2):
                    check_terms(name, page, seen)
            elif check_page(name, page, seen, console, 3):
                check_run(name, method["reverse"], page, seen)
        page, _ = explain(cotan, folder, "<&>", "--at", "[1, 2]")
        seen, console = browse(browser, folder, page)
        if check_page("escaping", page, seen, console, 3):
            expect("escaping: the title", re.search("<title>(.*?)</title>", page)[1], "&lt;&amp;&gt; by tape")
            expect("escaping: the string", "alert('<b>&amp;" in seen["text"], True)
            expect("escaping: the operator", "<&> : (Double, Double)" in seen["text"], True)
        page, _ = explain(cotan, folder, "near", "--method", "bulk", "--at", '{"px": 2, "py": [0.5, -1]}')
        seen, console = browse(browser, folder, page)
        if check_page("bulk", page, seen, console, 2):
            check_stages(page, seen)
            expect("bulk: the string", "alert('<b>&amp;" in seen["text"], True)
        page, _ = explain(cotan, folder, "near")
        seen, console = browse(browser, folder, page)
        check_page("without a point", page, seen, console, 2)
        expect("without a point: buttons", seen["buttons"], 0)
        page, _ = explain(cotan, folder, "still", "--at", "1")
        seen, console = browse(browser, folder, page)
        check_page("nothing varies", page, seen, console, 3)
        expect("nothing varies: steps", seen["steps"], 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"the page of explain: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
