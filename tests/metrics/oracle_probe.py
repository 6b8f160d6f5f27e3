# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle of the probes: scikit-learn on the same rows. Prints what differs; exit status 1 if anything.

oracle_probe.py logistic FOLDER D CLASSES C      x, y, weight: the optimum of the penalised likelihood
oracle_probe.py accuracy FOLDER D TRAIN TEST C.. x, y (training rows, test rows, validation rows),
                                                 prints accuracy with C chosen by validation
oracle_probe.py svm FOLDER D FOLDS C             x, y, fold: prints the accuracy of every fold
"""
import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

warnings.filterwarnings("ignore")
what, folder, d = sys.argv[1], sys.argv[2], int(sys.argv[3])
x = np.fromfile(folder + "/x", np.float32).reshape(-1, d).astype(np.float64)
y = np.fromfile(folder + "/y", np.int32)


def logistic(c):
    return LogisticRegression(C=c, multi_class="multinomial", solver="newton-cg", tol=1e-10, max_iter=1000)


def objective(w, b, c):
    s = x @ w.T + b
    m = s.max(1)
    losses = m + np.log(np.exp(s - m[:, None]).sum(1)) - s[np.arange(len(y)), y]
    return losses.mean() + 0.5 * (w**2).sum() / (c * len(y))


if what == "logistic":
    classes, c = int(sys.argv[4]), float(sys.argv[5])
    ours = np.fromfile(folder + "/weight", np.float64).reshape(classes, d + 1)
    model = logistic(c).fit(x, y)
    best, found = objective(model.coef_, model.intercept_, c), objective(ours[:, :-1], ours[:, -1], c)
    p = model.predict_proba(x)
    s = x @ ours[:, :-1].T + ours[:, -1]
    q = np.exp(s - s.max(1, keepdims=True))
    q /= q.sum(1, keepdims=True)
    print("objective %.9f against %.9f, probabilities off by %.2e" % (found, best, abs(p - q).max()))
    sys.exit(not (found - best < 1e-6 and abs(p - q).max() < 5e-3))
elif what == "accuracy":
    train, test = int(sys.argv[4]), int(sys.argv[5])
    a, b = slice(0, train), slice(train, train + test)
    v = slice(train + test, None)
    models = [logistic(float(c)).fit(x[a], y[a]) for c in sys.argv[6:]]
    best = max(models, key=lambda m: m.score(x[v], y[v]))  # the first of equals
    print("%.9f" % best.score(x[b], y[b]))
else:
    folds, c = int(sys.argv[4]), float(sys.argv[5])
    fold = np.fromfile(folder + "/fold", np.int32)
    for f in range(folds):
        scale = StandardScaler().fit(x[fold != f])
        model = SVC(C=c, gamma=1.0 / d, tol=1e-5).fit(scale.transform(x[fold != f]), y[fold != f])
        print("%.9f" % model.score(scale.transform(x[fold == f]), y[fold == f]), end=" ")
