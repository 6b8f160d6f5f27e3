#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figure of docs/notes/front-and-training.md from its tables of runs, with gnuplot:

    front-and-training-figure.py FROZEN.csv END-TO-END.csv FIGURE.png

Differences of `mosaic` to Uniform over lambda, paired by seed, with 95 % intervals. Needs numpy and scipy."""
import csv
import subprocess
import sys

import numpy as np
from scipy import stats

OUTCOMES = (("knn_acc", "kNN accuracy of z"), ("probe_acc", "linear probe on h"))


def differences(path, outcome):
    """{(batch norm, temperature): [(lambda, mean, half of the interval)]}"""
    with open(path, encoding="utf-8", newline="") as file:
        runs = {(row["batch_norm"], row["temperature"], row["setting"], row["seed"]): float(row[outcome])
                for row in csv.DictReader(file)}
    found = {}
    for norm, temperature, setting in sorted({key[:3] for key in runs}):
        if not setting.startswith("mosaic") or "hcl" in setting:
            continue
        own = np.array([value - runs[norm, temperature, "uniform", key[3]] for key, value in sorted(runs.items())
                        if key[:3] == (norm, temperature, setting)])
        half = stats.t.ppf(.975, len(own) - 1) * own.std(ddof=1) / len(own) ** .5
        found.setdefault((norm, temperature), []).append((float(setting.split()[1]), own.mean(), half))
    return found


def main():
    frozen, whole, target = sys.argv[1:]
    script = [f"set terminal pngcairo size 1500,520 font ',15'; set output '{target}'",
              "set multiplot", "set xlabel 'lambda'; set xrange [-.08:.98]; set grid ytics lc rgb '#e0e0e0'",
              "set border 3; set tics nomirror; set xtics (0, .3, .7, .9); set lmargin 10; set bmargin 4"]
    blocks, colours = 0, {"yes": "#0072b2", "no": "#d55e00"}
    for outcome, title in OUTCOMES:
        curves = []
        for path, what in ((frozen, "frozen features"), (whole, "end to end")):
            for (norm, temperature), points in differences(path, outcome).items():
                shift = .012 * (len(curves) - 2)  # so that intervals do not hide each other
                script += [f"$b{blocks} << EOD", *(f"{x + shift} {mean} {half}" for x, mean, half in points), "EOD"]
                dash = {"0.2": 1, "0.5": 2}[temperature] if path == frozen else 4
                name = f"{what}, {'with' if norm == 'yes' else 'no'} batch norm, {temperature}"
                curves.append(f"$b{blocks} with yerrorlines lw 2 dt {dash} pt {7 if path == frozen else 4} "
                              f"lc rgb '{colours[norm]}' title '{name}'")
                blocks += 1
        last = outcome == OUTCOMES[-1][0]  # its panel has the key of both
        script.append("set origin .36,0; set size .64,1; set rmargin 37; set key at screen .995, screen .85 right" if last
                      else "set origin 0,0; set size .36,1; set rmargin 2; set key off")
        script += [f"set ylabel '{title}, minus Uniform (points)' offset .5", "plot 0 lc rgb '#000000' notitle, " + ", ".join(curves)]
    subprocess.run(["gnuplot"], input="\n".join(script + ["unset multiplot"]), text=True, check=True)


main()
