"use strict";
// The run, step by step: first the numbers as the forward pass makes them, then the cotangents as they arrive.
(() => {
  const data = document.getElementById("data");
  if (!data) return;
  const { nodes, steps } = JSON.parse(data.textContent);
  const find = (id) => document.getElementById(id);
  const slider = find("at"), said = find("said");
  const rows = nodes.map((_, i) => find(`r${i + 1}`));
  const drawn = nodes.map((_, i) => find(`n${i + 1}`));
  const back = [find("first"), find("previous")], ahead = [find("next"), find("last")];
  let at = 0;

  const mark = (element, name, on) => { if (element) element.classList.toggle(name, on); };
  const setAdjoint = (i, text) => {
    if (rows[i] && rows[i].cells[4]) rows[i].cells[4].textContent = text;
    const lines = drawn[i] ? drawn[i].querySelectorAll("text") : [];
    if (data.dataset.reverse && lines.length > 2) lines[2].textContent = text === "" ? "\u00a0" : `adjoint ${text}`;
  };

  const sentence = (step, number) => {
    const head = `${number} of ${steps.length}  `;
    if (step.g === undefined) {
      const node = nodes[step.n];
      return `${head}forward\n#${step.n + 1} ${node.made} = ${node.primal}\nbeside it: ${node.second}`;
    }
    if (step.n < 0) return `${head}reverse\n${step.g} arrives at ${step.at}`;
    return `${head}reverse\n${step.g} arrives at #${step.n + 1} ${nodes[step.n].made}\nadjoint so far: ${step.adjoint}`;
  };

  const show = (to) => {
    at = Math.max(0, Math.min(steps.length, to));
    const adjoints = new Array(nodes.length).fill(""), made = new Array(nodes.length).fill(false);
    for (const step of steps.slice(0, at)) {
      if (step.n < 0) continue;
      made[step.n] = true;
      if (step.g !== undefined) adjoints[step.n] = step.adjoint;
    }
    const now = at > 0 ? steps[at - 1].n : -1;
    nodes.forEach((_, i) => {
      mark(drawn[i], "waiting", !made[i]);
      mark(drawn[i], "done", adjoints[i] !== "");
      mark(drawn[i], "now", i === now);
      mark(rows[i], "now", i === now);
      setAdjoint(i, adjoints[i]);
    });
    said.textContent = at > 0 ? sentence(steps[at - 1], at) : "Before the first step. The arrow keys go on and back.";
    slider.value = String(at);
    back.forEach((button) => { button.disabled = at === 0; });
    ahead.forEach((button) => { button.disabled = at === steps.length; });
    if (now >= 0 && drawn[now]) drawn[now].scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const moves = { first: () => 0, previous: () => at - 1, next: () => at + 1, last: () => steps.length };
  for (const [id, to] of Object.entries(moves)) find(id).addEventListener("click", () => show(to()));
  slider.addEventListener("input", () => show(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(moves[keys[event.key]]());
  });
  slider.max = String(steps.length);
  show(0);
})();
