#!/usr/bin/env python3
"""The programs of bench/native in JAX, for `bench/native.py --jax PYTHON`, which runs this by a Python that has it.

    jax_peer.py NAME FOLDER

FOLDER holds the point and what Cotan's derivative gives of it, as bench/native.c has written them. What is printed is one line
of JSON: seconds of the derivative, the least of several samples, and by how much its numbers differ from Cotan's. There is none of
`minors`: JAX would write out the recursion, more than 10⁵ products. One processor is used.
"""
import json
import os
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
import numpy  # noqa: E402
from jax import numpy as np  # noqa: E402
from jax.scipy.special import logsumexp  # noqa: E402

jax.config.update("jax_enable_x64", True)


def rotations(vx, vy, vz, x, y, z, s):
    def total(vx, vy, vz, x, y, z, s):
        v, u = np.stack([vx, vy, vz]), np.stack([x, y, z])
        return np.sum(2 * np.dot(u, v) * u + (s * s - np.dot(u, u)) * v + 2 * s * np.cross(u, v))
    return np.sum(jax.vmap(total)(vx, vy, vz, x, y, z, s))


def mixture(alphas, means, logs, lower, xs):
    row, column = numpy.tril_indices(means.shape[1], -1)
    factors = jax.vmap(lambda scales, below: np.diag(scales).at[row, column].set(below))(np.exp(logs), lower)
    rows = np.einsum("krc,nkc->nkr", factors, xs[:, None, :] - means)
    components = alphas + np.sum(logs, 1) - 0.5 * np.sum(rows * rows, 2)
    return np.sum(logsumexp(components, axis=1)) - len(xs) * logsumexp(alphas)


def bundle(p, seen_x, seen_y):
    r, moved = p[0:3], p[11:14] - p[3:6]
    angle = np.sqrt(np.dot(r, r))
    u = r / angle
    turned = moved * np.cos(angle) + np.cross(u, moved) * np.sin(angle) + u * np.dot(u, moved) * (1 - np.cos(angle))
    x, y = turned[0] / turned[2], turned[1] / turned[2]
    r2 = x * x + y * y
    distortion = 1 + p[9] * r2 + p[10] * r2 * r2
    return np.stack([p[14] * (p[6] * x * distortion + p[7] - seen_x), p[14] * (p[6] * y * distortion + p[8] - seen_y)])


def lstm(weights, bias, inputs, wanted):
    def turn(before, given):
        (cell, state), (x, want) = before, given
        keep, write, out, new = np.split(weights @ np.concatenate([x, state]) + bias, 4)
        cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(write) * np.tanh(new)
        state = jax.nn.sigmoid(out) * np.tanh(cell)
        return (cell, state), np.sum((state - want) ** 2)
    zeros = np.zeros(len(bias) // 4)
    return np.sum(jax.lax.scan(turn, (zeros, zeros), (inputs, wanted))[1])


def k_means(points, centres):
    return np.sum(np.min(np.sum((points[:, None, :] - centres) ** 2, 2), 1))


def k_means_and_hessian(points, centres):
    gradient, diagonal = jax.jvp(jax.grad(lambda c: k_means(points, c)), (centres,), (np.ones_like(centres),))
    return k_means(points, centres), gradient, diagonal


def perceptron(w1, b1, w2, b2, images, labels):
    answers = np.tanh(images @ w1.T + b1) @ w2.T + b2
    chosen = np.take_along_axis(answers, labels.astype(int)[:, None], 1)[:, 0]
    return np.mean(logsumexp(answers, axis=1) - chosen)


def gradient(f, *places):
    return jax.value_and_grad(f, places)


DERIVATIVES = {
    "scalar": jax.vmap(gradient(lambda x, y: x * y, 0, 1)),
    "dot": gradient(np.dot, 0, 1),
    "matvec": gradient(lambda m, v: np.sum(m @ v), 0, 1),
    "rotations": gradient(rotations, *range(7)),
    "sines": gradient(lambda xs: np.sum(np.sin(xs) * xs), 0),
    "logsumexp": gradient(logsumexp, 0),
    "mixture": gradient(mixture, 0, 1, 2, 3),
    "bundle": jax.vmap(jax.jacrev(bundle)),
    "lstm": gradient(lstm, 0, 1),
    "kmeans": k_means_and_hessian,
    "perceptron": gradient(perceptron, 0, 1, 2, 3),
}


def differ(results, expected):
    """The greatest difference, over the greatest number; of the value, over the value: as bench/native.c has it."""
    over = numpy.full(len(expected), numpy.max(numpy.abs(expected[1:])))
    over[0] = abs(expected[0])
    return float(numpy.max(numpy.abs(results - expected) / over))


def measure(run):
    """As many runs a sample as take twenty milliseconds; the least of nine."""
    run()
    start = time.process_time()
    run()
    runs, least = max(1, int(0.02 / (time.process_time() - start + 1e-6))), float("inf")
    for _ in range(9):
        start = time.process_time()
        for _ in range(runs):
            run()
        least = min(least, (time.process_time() - start) / runs)
    return least


def main(name, folder):
    with open(os.path.join(folder, "dims")) as file:
        dims = json.load(file)
    point = [np.asarray(numpy.fromfile(os.path.join(folder, f"point{i}")).reshape(shape)) for i, shape in enumerate(dims)]
    derivative = jax.jit(DERIVATIVES[name])
    results = numpy.concatenate([numpy.ravel(part) for part in jax.tree.leaves(derivative(*point))])
    print(json.dumps({"jax_differs": differ(results, numpy.fromfile(os.path.join(folder, "results"))),
                      "jax": measure(lambda: jax.block_until_ready(derivative(*point)))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
