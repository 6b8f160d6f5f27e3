# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle of training: the encoder of recipe B in NumPy, in double precision, forward, back and Adam.

oracle_training.py FOLDER OUT STEPS   settings (float64: temperature, rate, warm-up, decay, batch norm), value and x
                                      (float32: parameters at first; both views of every batch, channels
                                      last), gradient (of the first step), loss (float64, of every step),
                                      plain, z (images without augmentation, their embeddings at the end)

Prints what differs; exit status 1 if anything.
"""
import sys

import numpy as np

SIDE, CHANNELS, EPSILON, MOMENTUM = 32, (3, 32, 64, 128), 1e-5, 0.1


def load(name, kind=np.float32):
    return np.fromfile(sys.argv[1] + "/" + name, kind).astype(np.float64)


class Linear:
    def __init__(self, inputs, outputs, bias):
        self.shapes = [(inputs, outputs)] + [(outputs,)] * bias

    def forward(self, x, training):
        self.x = x
        return x @ self.p[0] + (self.p[1] if len(self.p) > 1 else 0)

    def backward(self, dy):
        self.g = [self.x.T @ dy, dy.sum(0)][: len(self.p)]
        return dy @ self.p[0].T


class Convolution:
    """3 x 3, stride 2, one row of zeros around; the kernel's rows, its columns, channels by turns."""

    def __init__(self, inputs, outputs, bias):
        self.shapes = [(3, 3, inputs, outputs)] + [(outputs,)] * bias

    def seen(self, padded, i, j):
        size = (padded.shape[1] - 2) // 2
        return padded[:, i : i + 2 * size : 2, j : j + 2 * size : 2]

    def forward(self, x, training):
        self.padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        y = sum(self.seen(self.padded, i, j) @ self.p[0][i, j] for i in range(3) for j in range(3))
        return y + (self.p[1] if len(self.p) > 1 else 0)

    def backward(self, dy):
        self.g, dx = [np.zeros(self.shapes[0]), dy.sum((0, 1, 2))][: len(self.p)], np.zeros_like(self.padded)
        for i in range(3):
            for j in range(3):
                self.g[0][i, j] = np.einsum("nhwc,nhwo->co", self.seen(self.padded, i, j), dy)
                self.seen(dx, i, j)[...] += dy @ self.p[0][i, j].T
        return dx[:, 1:-1, 1:-1]


class BatchNorm:
    def __init__(self, channels):
        self.shapes = [(channels,), (channels,)]
        self.running = [np.zeros(channels), np.ones(channels)]

    def forward(self, x, training):
        axes = tuple(range(x.ndim - 1))
        mean, variance = (x.mean(axes), x.var(axes)) if training else self.running
        if training:
            n = x.size // x.shape[-1]
            for old, new in zip(self.running, (mean, variance * n / (n - 1))):
                old += MOMENTUM * (new - old)
        self.root = np.sqrt(variance + EPSILON)
        self.hat = (x - mean) / self.root
        return self.p[0] * self.hat + self.p[1]

    def backward(self, dy):
        axes = tuple(range(dy.ndim - 1))
        self.g = [(dy * self.hat).sum(axes), dy.sum(axes)]
        along = dy.mean(axes) + self.hat * (dy * self.hat).mean(axes)
        return self.p[0] / self.root * (dy - along)


class Simple:
    """Without parameters: y, and what dy becomes."""

    shapes = []

    def __init__(self, run):
        self.run = run

    def forward(self, x, training):
        y, self.back = self.run(x)
        return y

    def backward(self, dy):
        self.g = []
        return self.back(dy)


def relu(x):
    return np.maximum(x, 0), lambda dy: dy * (x > 0)


def pool(x):
    n, side, _, c = x.shape
    y = x.reshape(n, side // 2, 2, side // 2, 2, c).mean((2, 4))
    spread = lambda dy: np.repeat(np.repeat(dy.reshape(y.shape), 2, 1), 2, 2) / 4
    return y.reshape(n, -1), spread


def unit(x):
    length = np.linalg.norm(x, axis=1, keepdims=True)
    y = x / length
    return y, lambda dy: (dy - y * (dy * y).sum(1, keepdims=True)) / length


def encoder(outputs, norm):
    layers = []
    for c, o in zip(CHANNELS, CHANNELS[1:]):
        layers += [Convolution(c, o, not norm)] + [BatchNorm(o)] * norm + [Simple(relu)]
    layers += [Simple(pool), Linear(512, 256, not norm)] + [BatchNorm(256)] * norm + [Simple(relu)]
    return layers + [Linear(256, outputs, True), Simple(unit)]


def give(layers, value):
    at = 0
    for layer in layers:
        layer.p = []
        for shape in layer.shapes:
            n = int(np.prod(shape))
            layer.p.append(value[at : at + n].reshape(shape))
            at += n
    assert at == len(value)


def forward(layers, x, training):
    x = x.reshape(-1, SIDE, SIDE, 3)
    for layer in layers:
        x = layer.forward(x, training)
    return x


def ntxent(z, temperature):
    """The mean over all 2 B views of -log softmax of the other view, itself left out; and its gradient."""
    n = len(z)
    score = z @ z.T / temperature
    np.fill_diagonal(score, -np.inf)
    other = (np.arange(n) + n // 2) % n
    top = score.max(1, keepdims=True)
    weight = np.exp(score - top)
    loss = np.mean(np.log(weight.sum(1)) + top[:, 0] - score[np.arange(n), other])
    weight /= weight.sum(1, keepdims=True)
    weight[np.arange(n), other] -= 1
    return loss, (weight + weight.T) @ z / (n * temperature)


def agree(name, ours, theirs, tolerance):
    worst = abs(ours - theirs).max() / abs(theirs).max()
    print("%s: off by %.2e, allowed %.0e" % (name, worst, tolerance))
    return worst <= tolerance


def main():
    outputs, steps = int(sys.argv[2]), int(sys.argv[3])
    temperature, rate, warmup, decay, norm = load("settings", np.float64)
    value, layers = load("value"), encoder(outputs, int(norm))
    give(layers, value)
    m, v, losses = np.zeros_like(value), np.zeros_like(value), []
    for step, x in enumerate(load("x").reshape(steps, -1)):
        loss, d = ntxent(forward(layers, x, True), temperature)
        losses.append(loss)
        for layer in reversed(layers):
            d = layer.backward(d)
        gradient = np.concatenate([g.ravel() for layer in layers for g in layer.g])
        if step == 0:
            good = agree("gradient", load("gradient"), gradient, 2e-5)
        gradient += decay * value
        m += 0.1 * (gradient - m)
        v += 0.001 * (gradient**2 - v)
        if step < warmup:
            now = rate * (step + 1) / warmup
        else:
            now = rate * (1 + np.cos(np.pi * (step - warmup) / (steps - warmup))) / 2
        t = step + 1
        value -= now * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    good = agree("losses", load("loss", np.float64), np.array(losses), 2e-4) and good
    plain = forward(layers, load("plain"), False)
    return agree("embeddings", load("z").reshape(-1, outputs), plain, 1e-2) and good


sys.exit(not main())
