# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipe B (harness/jobs/train-cnn.yaml) once more, in PyTorch, written from its description alone.

    train_cnn.py FOLDER [--seeds 1 2 3] [--steps 2340]

FOLDER holds CIFAR-10's data_batch_1.bin to data_batch_5.bin and test_batch.bin. Per seed it prints
the accuracy of weighted kNN on z and h along the way, and of four linear probes on h at the end:
what a probe says depends on its fit, and which of them a number from elsewhere used is rarely
said. A seed takes eight minutes on one core. By hand: docs/notes/training.md has the numbers.
"""

import argparse
import math
import os
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

MEAN = torch.tensor([0.4914, 0.4822, 0.4465]).view(1, 3, 1, 1)
DEVIATION = torch.tensor([0.2023, 0.1994, 0.2010]).view(1, 3, 1, 1)
GREY = torch.tensor([0.299, 0.587, 0.114])
CLASSES, BATCH, TEMPERATURE, RATE, WARMUP = 10, 256, 0.2, 3e-3, 50


def read(folder, names):
    """Images [n x 3 x 32 x 32] from 0 to 1, and labels."""
    raw = [np.fromfile(os.path.join(folder, name), np.uint8).reshape(-1, 3073) for name in names]
    raw = np.concatenate(raw)
    images = torch.from_numpy(raw[:, 1:].reshape(-1, 3, 32, 32)).float() / 255
    return images, torch.from_numpy(raw[:, 0].astype(np.int64))


def crop_and_flip(x):
    n = len(x)
    area = torch.empty(n).uniform_(0.2, 1)
    aspect = torch.exp(torch.empty(n).uniform_(-math.log(4 / 3), math.log(4 / 3)))
    width, height = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
    move = torch.zeros(n, 2, 3)
    move[:, 0, 0] = width * torch.where(torch.rand(n) < 0.5, -1.0, 1.0)
    move[:, 1, 1] = height
    move[:, 0, 2] = (2 * torch.rand(n) - 1) * (1 - width)
    move[:, 1, 2] = (2 * torch.rand(n) - 1) * (1 - height)
    grid = F.affine_grid(move, x.shape, align_corners=False)
    return F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)


def turn_hue(turns):
    """Rotations about the grey axis, [n x 3 x 3]."""
    angle = 2 * math.pi * turns.view(-1, 1, 1)
    k = 1 / math.sqrt(3)
    cross = torch.tensor([[0, -k, k], [k, 0, -k], [-k, k, 0]])
    along = torch.full((3, 3), 1 / 3)
    return angle.cos() * torch.eye(3) + angle.sin() * cross + (1 - angle.cos()) * along


def grey(x):
    return (x * GREY.view(1, 3, 1, 1)).sum(1, keepdim=True)


def jitter(x):
    n = len(x)
    brightness, contrast, saturation = torch.empty(3, n, 1, 1).uniform_(0.6, 1.4)
    mixed = saturation * torch.eye(3) + (1 - saturation) * GREY.expand(3, 3)
    bright = x * brightness.view(n, 1, 1, 1)
    middle = grey(bright).mean((1, 2, 3), keepdim=True)
    contrasted = middle + (bright - middle) * contrast.view(n, 1, 1, 1)
    turned = turn_hue(torch.empty(n).uniform_(-0.1, 0.1)) @ mixed
    return torch.einsum("nij,njhw->nihw", turned, contrasted)


def augment(x):
    x = crop_and_flip(x)
    some = lambda share: (torch.rand(len(x)) < share).view(-1, 1, 1, 1)
    x = torch.where(some(0.8), jitter(x), x)
    x = torch.where(some(0.2), grey(x).expand_as(x), x)
    return (x.clamp(0, 1) - MEAN) / DEVIATION


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for channels, out in ((3, 32), (32, 64), (64, 128)):
            layers += [nn.Conv2d(channels, out, 3, 2, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.AvgPool2d(2), nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(512, 256, bias=False), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 128)
        )

    def forward(self, x):
        h = self.body(x)
        return h, F.normalize(self.head(h))


def embed(net, images):
    """h and z in evaluation mode."""
    net.eval()
    with torch.no_grad():
        parts = [net((x - MEAN) / DEVIATION) for x in images.split(1000)]
    net.train()
    return torch.cat([h for h, _ in parts]), torch.cat([z for _, z in parts])


def knn(train, labels, test, wanted):
    train, test = F.normalize(train), F.normalize(test)
    right = 0
    for x, y in zip(test.split(500), wanted.split(500)):
        near = (x @ train.T).topk(200)
        votes = torch.zeros(len(x), CLASSES)
        votes.scatter_add_(1, labels[near.indices], torch.exp(near.values / 0.5))
        right += (votes.argmax(1) == y).sum().item()
    return 100 * right / len(test)


def probe(train, labels, test, wanted, rate=None):
    """Without a penalty: 100 iterations of L-BFGS, or 20 epochs of Adam at a rate."""
    torch.manual_seed(0)
    linear = nn.Linear(train.shape[1], CLASSES)
    if rate is None:
        optimiser = torch.optim.LBFGS(linear.parameters(), max_iter=100, line_search_fn="strong_wolfe")
        chunks = [torch.arange(len(train))]
    else:
        optimiser = torch.optim.Adam(linear.parameters(), rate)
        chunks = [c for _ in range(20) for c in torch.randperm(len(train)).split(BATCH)]
    for chunk in chunks:

        def closure():
            optimiser.zero_grad()
            loss = F.cross_entropy(linear(train[chunk]), labels[chunk])
            loss.backward()
            return loss

        optimiser.step(closure)
    return 100 * (linear(test).argmax(1) == wanted).float().mean().item()


def step(net, optimiser, x):
    """NT-Xent over the 2 B - 2 negatives of two views."""
    _, z = net(torch.cat([augment(x), augment(x)]))
    score = (z @ z.T / TEMPERATURE).fill_diagonal_(-math.inf)
    loss = F.cross_entropy(score, torch.arange(len(z)).roll(len(x)))
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def train(seed, steps, images, labels, test, wanted):
    torch.manual_seed(seed)
    net = Encoder()
    optimiser = torch.optim.Adam(net.parameters(), weight_decay=1e-6)
    begin, left = time.time(), torch.empty(0, dtype=torch.int64)
    for number in range(steps + 1):
        if number in (0, steps // 12, steps // 4, steps // 2, steps):
            (h, z), (h_test, z_test) = embed(net, images), embed(net, test)
            print(
                f"seed {seed} step {number}: kNN z {knn(z, labels, z_test, wanted):.2f}"
                f" h {knn(h, labels, h_test, wanted):.2f} ({time.time() - begin:.0f} s)",
                flush=True,
            )
        if number == steps:
            break
        if len(left) < BATCH:
            left = torch.randperm(len(images))
        chosen, left = left[:BATCH], left[BATCH:]
        warm, cosine = min(1, (number + 1) / WARMUP), 0.5 * (1 + math.cos(math.pi * number / steps))
        for group in optimiser.param_groups:
            group["lr"] = RATE * warm * cosine
        step(net, optimiser, images[chosen])
    scale = lambda x: (x - h.mean(0)) / (h.std(0) + 1e-6)
    plain, standard = (h, labels, h_test, wanted), (scale(h), labels, scale(h_test), wanted)
    print(
        f"seed {seed} probe on h: L-BFGS {probe(*plain):.2f}, standardised {probe(*standard):.2f};"
        f" Adam {probe(*plain, rate=1e-3):.2f}, standardised {probe(*standard, rate=1e-3):.2f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=2340)
    a = parser.parse_args()
    torch.set_num_threads(1)
    data = read(a.folder, [f"data_batch_{i}.bin" for i in range(1, 6)]) + read(a.folder, ["test_batch.bin"])
    for seed in a.seeds:
        train(seed, a.steps, *data)


if __name__ == "__main__":
    main()
