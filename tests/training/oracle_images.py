# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle of the image front end. Prints what differs; exit status 1 if anything.

oracle_images.py augment FOLDER     image (uint8, planes), what (float64 per image: width height x y flip
                                    jitter brightness contrast saturation hue grey), out: against torch's
                                    grid_sample and the colour changes one after the other, in double
oracle_images.py patches FOLDER     image, filter, bias, raw: the features by scipy's convolution-free loops
oracle_images.py project FOLDER K   raw (features of all images), clean (projected): against NumPy's PCA
"""
import sys

import numpy as np

what, folder = sys.argv[1], sys.argv[2]
MEAN, DEVIATION = np.array([0.4914, 0.4822, 0.4465]), np.array([0.2023, 0.1994, 0.2010])
GREY = np.array([0.299, 0.587, 0.114])


def load(name, kind):
    return np.fromfile(folder + "/" + name, kind)


def agree(name, ours, theirs, tolerance):
    worst = abs(ours - theirs).max()
    print("%s: off by %.2e, allowed %.0e" % (name, worst, tolerance))
    return not (worst <= tolerance)


def turn(p, turns):
    """Hue: colours (last axis red, green, blue) turned about the axis of greys, by components."""
    axis = np.ones(3) / np.sqrt(3)
    along = (p @ axis)[..., None] * axis
    across = p - along
    angle = 2 * np.pi * turns
    return along + np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)


def augmented(image, w):
    import torch

    width, height, x, y, flip, jitter, brightness, contrast, saturation, hue, grey = w
    along = (np.arange(32) + 0.5) / 32 * 2 - 1
    u = (2 * x - 1) + width * (along[::-1] if flip else along)
    v = (2 * y - 1) + height * along
    grid = np.stack(np.broadcast_arrays(u[None, :], v[:, None]), -1)
    p = torch.nn.functional.grid_sample(
        torch.from_numpy(image[None] / 255.0), torch.from_numpy(grid[None].copy()), mode="bilinear",
        padding_mode="reflection", align_corners=False)[0].numpy().transpose(1, 2, 0)
    if jitter:
        p = brightness * p
        p = contrast * p + (1 - contrast) * (p @ GREY).mean()
        p = saturation * p + (1 - saturation) * (p @ GREY)[..., None]
        p = turn(p, hue)
    if grey:
        p = np.repeat((p @ GREY)[..., None], 3, -1)
    return (np.clip(p, 0, 1) - MEAN) / DEVIATION


def features(image, filters, bias):
    p = (image.transpose(1, 2, 0) / 255.0 - MEAN) / DEVIATION
    out = np.zeros((2, 2, 2, len(bias)))
    for i in range(14):
        for j in range(14):
            patch = p[2 * i:2 * i + 6, 2 * j:2 * j + 6].ravel()
            r = filters @ patch / (patch.std() + 0.1) + bias
            out[i // 7, j // 7] += [np.maximum(r - 0.5, 0), np.maximum(-r - 0.5, 0)]
    return out.ravel() / 49


if what == "augment":
    image = load("image", np.uint8).reshape(-1, 3, 32, 32)
    drawn = load("what", np.float64).reshape(-1, 11)
    ours = load("out", np.float32).reshape(-1, 32, 32, 3)
    sys.exit(agree("pixels", ours, np.stack([augmented(a, w) for a, w in zip(image, drawn)]), 2e-5))
elif what == "patches":
    image = load("image", np.uint8).reshape(-1, 3, 32, 32)
    filters = load("filter", np.float32).reshape(256, 108).astype(float)
    raw = load("raw", np.float32).reshape(len(image), 2048)
    theirs = np.stack([features(a, filters, load("bias", np.float32)) for a in image])
    sys.exit(agree("features", raw, theirs, 1e-4) or agree("mean of filters", filters.mean(1), 0, 1e-6))
else:
    keep = int(sys.argv[3])
    raw = load("raw", np.float32).reshape(-1, 2048).astype(float)
    ours = load("clean", np.float32).reshape(len(raw), keep)
    deviation = raw.std(0)
    z = (raw - raw.mean(0)) / np.where(deviation > 0, deviation, 1)
    values, vectors = np.linalg.eigh(z.T @ z / len(z))
    theirs = z @ vectors[:, ::-1][:, :keep] / np.sqrt(values[::-1][:keep] + 0.05)
    signs = np.sign((ours * theirs).sum(0))
    sys.exit(agree("projection", ours, theirs * signs, 2e-3))
