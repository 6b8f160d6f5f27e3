# SPDX-License-Identifier: GPL-3.0-or-later
"""A small encoder trained with a sampler in the loop, in PyTorch, in one process or several.

    python3 train.py                                   8 x 8 images of digits (scikit-learn's), one process
    torchrun --nproc_per_node 2 train.py --split deal  each process its own batches
    torchrun --nproc_per_node 2 train.py --split batch one batch over both, which gather their negatives

--sampler takes any of hardneg.samplers(). The loop is that of docs/guide/python.md."""
import argparse
import os

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

import hardneg


class Gather(torch.autograd.Function):
    """Rows of all processes; the gradient of a process's own rows comes back from all."""

    @staticmethod
    def forward(ctx, z):
        parts = [torch.empty_like(z) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, z.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, grad):
        dist.all_reduce(grad)
        return grad.chunk(dist.get_world_size())[dist.get_rank()]


def view(x, ids, step):
    """Images moved by up to a pixel, with noise; the same for every process."""
    out = []
    for i in ids:
        own = torch.Generator().manual_seed(step * 1000003 + int(i))
        dy, dx = torch.randint(-1, 2, (2,), generator=own).tolist()
        out.append(torch.roll(x[i].view(8, 8), (dy, dx), (0, 1)).flatten() + 0.1 * torch.randn(64, generator=own))
    return torch.stack(out)


def contrastive(z1, z2, temperature=0.2):
    """InfoNCE over both views: every other item of the batch is a negative."""
    logits = z1 @ z2.T / temperature
    target = torch.arange(len(z1))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def knn_accuracy(z, labels, train):
    s = z[~train] @ z[train].T
    return (labels[train][s.argmax(1)] == labels[~train]).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sampler", default="{batchsampler: {M: 200, K: 50, alpha: 0.2}}")
    parser.add_argument("--split", default="deal", choices=["deal", "batch"])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--accumulate", type=int, default=1, help="batches of a step")
    parser.add_argument("--output", help="embeddings after the training (.npy)")
    args = parser.parse_args()
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    from sklearn.datasets import load_digits
    x, labels = load_digits(return_X_y=True)
    x = torch.tensor(x / 16, dtype=torch.float32)
    train = np.arange(len(x)) % 5 > 0
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 32))
    adam = torch.optim.Adam(model.parameters(), 1e-3)

    def embed(images):
        with torch.no_grad():
            return F.normalize(model(images), dim=1)

    own, step = x[torch.tensor(train)], 0
    sampler = hardneg.BatchSampler(embed(own), args.sampler, args.batch_size, seed=1, rank=rank, world_size=world,
                                   split=args.split, drop_last=True, group=world > 1)
    for epoch in range(args.epochs):
        if epoch:
            sampler.refresh(embed(own))  # on the embeddings of now
        sampler.set_epoch(epoch)
        for number, ids in enumerate(sampler):
            z1, z2 = (F.normalize(model(view(own, ids, 2 * step + k)), dim=1) for k in (0, 1))
            if args.split == "batch" and world > 1:
                z1, z2 = Gather.apply(z1), Gather.apply(z2)
            loss = contrastive(z1, z2)
            (loss / args.accumulate).backward()
            if (number + 1) % args.accumulate:
                continue
            for p in model.parameters() if world > 1 else ():
                dist.all_reduce(p.grad)
                p.grad /= world
            adam.step()
            adam.zero_grad()
            step += 1
        adam.zero_grad()
        if rank == 0:
            like = hardneg.measure([ids], own.numpy(), labels[train])
            print(f"epoch {epoch}: loss {loss.item():.3f}, nearest neighbour {knn_accuracy(embed(x), labels, train):.3f}, "
                  f"false negatives {like['fn_ratio']:.3f}", flush=True)
    if args.output and rank == 0:
        np.save(args.output, embed(x).numpy())


if __name__ == "__main__":
    main()
