# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels, rows and groups from text files of many programs: `import_texts.py PROGRAM` in an empty folder. Each case is
read as written here, with the note, or refused with the remedy."""
import gzip
import lzma
import re
import subprocess
import sys

import h5py
import numpy as np

ROWS = 4


def run(*words):
    done = subprocess.run([sys.argv[1], "import", *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr


def labels_of(path):
    with h5py.File(path) as f:
        labels = f["labels"]
        names = labels.attrs.get("label_names")
        return [int(k) if names is None or k < 0 else names[k] for k in labels[:]]


def check(failed, what, code, text, wanted, read, said):
    """wanted: a refusal's pattern, or values that are read; said: a note's pattern, None: no note of the reader's."""
    if isinstance(wanted, str):
        good = code == 3 and re.search(wanted, text)
    else:
        notes = [line for line in text.splitlines() if line.startswith("note:") and "without --labels" not in line
                 and "class of its own" not in line]
        good = code == 0 and read() == wanted and (re.search(said, text) if said else not notes)
    if not good:
        failed.append(what)
        print(f"{what}: exit code {code}: {text}", file=sys.stderr)


# name, bytes, words, labels or refusal, note
LABELS = [
    ("bom.txt", b"\xef\xbb\xbfcat\ncat\ndog\ndog\n", [], ["cat", "cat", "dog", "dog"], None),
    ("bom-numbers.txt", b"\xef\xbb\xbf1\n1\n2\n2\n", [], [1, 1, 2, 2], None),
    ("bom-table.tsv", b"\xef\xbb\xbflabel\tid\ncat\t1\ncat\t2\ndog\t3\ndog\t4\n", ["--label-tensor", "label"], ["cat", "cat", "dog", "dog"], None),
    ("utf16.txt", "cat\ncat\ndog\ndog\n".encode("utf-16"), [], "is text in UTF-16 or UTF-32; save it as UTF-8", None),
    ("utf16be.txt", b"\xfe\xff" + "cat\ndog\n".encode("utf-16-be"), [], "is text in UTF-16 or UTF-32; save it as UTF-8", None),
    ("utf32.txt", "cat\ncat\ndog\ndog\n".encode("utf-32"), [], "is text in UTF-16 or UTF-32; save it as UTF-8", None),
    ("utf32be.txt", b"\0\0\xfe\xff" + "cat\ndog\n".encode("utf-32-be"), [], "as text in UTF-16 or UTF-32 does: save text as UTF-8", None),
    ("unmarked.txt", "cat\ncat\ndog\ndog\n".encode("utf-16-le"), [], "as text in UTF-16 or UTF-32 does: save text as UTF-8", None),
    ("packed.csv.gz", gzip.compress(b"cat\ncat\ndog\ndog\n"), [], r"packed.csv.gz: is compressed \(gzip\): unpack it, with gunzip -k$", None),
    ("packed.txt", gzip.compress(b"cat\ncat\ndog\ndog\n"), [], r"is compressed \(gzip\)", None),
    ("packed.xz", lzma.compress(b"cat\ncat\ndog\ndog\n"), [], r"is compressed \(xz\): unpack it, with unxz -k", None),
    ("packed.zst", b"\x28\xb5\x2f\xfd\0\0", [], r"is compressed \(zstd\): unpack it, with unzstd", None),
    ("twice.txt", b"\xef\xbb\xbf\xef\xbb\xbfcat\ncat\ndog\ndog\n", [], ["cat", "cat", "dog", "dog"], None),
    ("joined.txt", b"cat\ndog\n\xef\xbb\xbfcat\ndog\n", [], ["cat", "dog", "\ufeffcat", "dog"], "two classes .* unseen characters"),
    ("latin.txt", b"caf\xe9\ncaf\xe9\nb\nb\n", [], "row 0 is not printable UTF-8", None),
    ("mac.txt", b"cat\rcat\rdog\rdog", [], ["cat", "cat", "dog", "dog"], None),
    ("dos.csv", b"id,label\r\n0,cat\r\n1,cat\r\n2,dog\r\n3,dog\r\n", [], ["cat", "cat", "dog", "dog"], "'id' counts the rows"),
    ("ends-mixed.csv", b"id,label\r\n0,cat\n1,cat\r\n2,dog\n3,dog", [], ["cat", "cat", "dog", "dog"], "'id' counts the rows"),
    ("ends-lone.txt", b"cat\r\ncat\ndog\rdog\r\n", [], "has 3 labels but four.npy has 4 rows; they must agree; its rows have 3 values: if items are its columns, give --transpose$", None),
    ("ends-lone.txt", b"cat\r\ncat\ndog\rdog\r\na\n", [], "row 2 is not printable UTF-8; write labels as UTF-8 without control characters", None),
    ("sheet.csv", b"sep=;\r\nid;label\r\n0;cat\r\n1;dog\r\n2;dog\r\n3;cat\r\n", [], ["cat", "dog", "dog", "cat"], "'id' counts the rows"),
    ("alone.csv", b"label\n", [], "has 1 labels but four.npy has 4 rows", None),
    ("alone.csv", b"id,label\n", ["--label-tensor", "label"], "has 0 labels but four.npy has 4 rows", None),
    ("index.csv", b",kind\n0,a\n1,b\n2,b\n3,a\n", [], ["a", "b", "b", "a"], "labels are the column 'kind'"),
    ("index.csv", b",wine,kind\n0,u,a\n1,v,b\n2,v,b\n3,w,a\n", [], "3 arrays that could be labels .*: 1, wine, kind", None),
    ("from-one.csv", b"nr,kind\n1,7\n2,8\n3,8\n4,7\n", [], [7, 8, 8, 7], "'nr' counts the rows"),
    ("two.csv", b"a,b\nx,1\ny,2\ny,2\nx,3\n", [], "2 arrays that could be labels .*a, b", None),
    ("two.csv", b"a,b\nx,1\ny,2\ny,2\nx,3\n", ["--label-tensor", "b"], [1, 2, 2, 3], None),
    ("two.csv", b"a,b\nx,1\ny,2\ny,2\nx,3\n", ["--label-tensor", "1"], ["x", "y", "y", "x"], None),
    ("same.csv", b"label,label\nx,1\ny,2\ny,2\nx,3\n", ["--label-tensor", "label"], "2 columns have the name 'label'; give the column's number", None),
    ("same.csv", b"label,label\nx,1\ny,2\ny,2\nx,3\n", ["--label-tensor", "2"], [1, 2, 2, 3], None),
    ("bare.csv", b"x,1\ny,2\ny,2\nx,3\n", ["--label-tensor", "2", "--header", "no"], [1, 2, 2, 3], None),
    ("bare.csv", b"0,x\n1,y\n2,y\n3,x\n", [], "3 labels .* give --header no", None),
    ("excel.csv", b"id;label\n0;cat\n1;dog\n2;dog\n3;cat\n", [], ["cat", "dog", "dog", "cat"], "'id' counts the rows"),
    ("quoted.csv", b'"cat"\n"dog, large"\n"dog, large"\n"say ""hm"""\n', [], ["cat", "dog, large", "dog, large", 'say "hm"'], None),
    ("lines.csv", b'label,n\n"two\nlines",1\nb,2\nb,3\nb,4\n', ["--label-tensor", "n"], [1, 2, 3, 4], None),
    ("windows.csv", b'label,n\r\n"two\r\nlines",1\r\nb,2\r\nb,3\r\nb,4\r\n', ["--label-tensor", "n"], [1, 2, 3, 4], None),
    ("windows.csv", b'label,n\r\n"two\r\nlines",1\r\nb,2\r\nb,3\r\nb,4\r\n', ["--label-tensor", "label"], "row 0 is not .* control characters", None),
    ("tabs.tsv", b'id\tlabel\n0\t"a\tb"\n1\tc\n2\tc\n3\tc\n', [], "line 2: has 3 columns, .*in double quotes, in a file named .csv", None),
    ("tabs.csv", b'id\tlabel\n0\t"a; b"\n1\tc\n2\tc\n3\ta; b\n', [], ["a; b", "c", "c", "a; b"], "'id' counts the rows"),
    ("r.txt", b'"cat"\n"cat"\ndog\ndog\n', [], ['"cat"', '"cat"', "dog", "dog"], "the quotes of \"cat\" belong to the label; a file named .csv"),
    ("open.csv", b'label,n\n"a,1\nb,2\n', [], "line 2: a quote does not end", None),
    ("behind.csv", b'"a"x\n"b"\nc\nc\n', [], "line 1: there is more behind a quote", None),
    ("ragged.csv", b"kind\ncat\ndog, large\ncat\ncat\n", [], "line 3: has 2 columns, the first line 1; .*double quotes", None),
    ("commas.txt", b"dog, large\ncat\ncat\na, b, c\n", [], ["dog, large", "cat", "cat", "a, b, c"], None),
    ("spaced.csv", b"id, label\n5, cat\n6, cat\n7, dog\n9, dog\n", ["--label-tensor", "label"], ["cat", "cat", "dog", "dog"], None),
    ("header.csv", b"label\n0\n1\n1\n0\n", [], [0, 1, 1, 0], "'label' on line 1 names the column"),
    ("trimmed.csv", b'id ,label \n"5"\t,cat \n6 , cat\n7,dog\n9,dog\n', ["--label-tensor", "label"], ["cat", "cat", "dog", "dog"], None),
    ("named.csv", b"label\n0\n1\n1\n0\n", ["--label-tensor", "label"], [0, 1, 1, 0], None),
    ("header.txt", b"label\ncat\ndog\ndog\ncat\n", [], "has 5 labels .*'label' is the name of a column, give --header yes", None),
    ("header.txt", b"label\ncat\ndog\ndog\ncat\n", ["--header", "yes"], ["cat", "dog", "dog", "cat"], None),
    ("header.txt", b"kind\ncat\ndog\ndog\ncat\n", ["--label-tensor", "kind"], ["cat", "dog", "dog", "cat"], None),
    ("series.csv", b"0\ncat\ndog\ndog\ncat\n", [], "'0' is the name of a column, give --header yes", None),
    ("empty.csv", b"id,label\n0,1\n1,\n2,\n3,1\n", [], [1, -1, -1, 1], "counts the rows"),
    ("blank.txt", b"cat\n\ndog\ncat\n", [], ["cat", -1, "dog", "cat"], None),
    ("below.txt", b"cat\ncat\ndog\ndog\n\n\n", [], "has 6 labels .*; the 2 beyond are empty: delete them", None),
    ("missing.csv", b"label,n\nNA,1\nnan,2\n-1,3\ncat,4\n", ["--label-tensor", "label"], ["NA", "nan", "-1", "cat"], "'-1' is a class like others; leave the text of an item empty(.|\n)*'NA' is a class(.|\n)*'nan' is a class"),
    ("ends.txt", b"cat\ncat \ndog\ncat\n", [], ["cat", "cat ", "dog", "cat"], "'cat' and 'cat ' are two classes that look alike: they differ in blanks"),
    ("wide-blank.txt", "a b\na\u00a0b\nc\nc\n".encode(), [], ["a b", "a\u00a0b", "c", "c"], "two classes that look alike: they differ in blanks"),
    ("forms.txt", "caf\u00e9\ncafe\u0301\ndog\ndog\n".encode(), [], ["caf\u00e9", "cafe\u0301", "dog", "dog"], "two classes .* Unicode form"),
    ("viet.txt", "Ti\u1ebfng\nTie\u0302\u0301ng\na\na\n".encode(), [], ["Ti\u1ebfng", "Tie\u0302\u0301ng", "a", "a"], "two classes .* Unicode form"),
    ("hangul.txt", "\ud55c\n\u1112\u1161\u11ab\na\na\n".encode(), [], ["\ud55c", "\u1112\u1161\u11ab", "a", "a"], "two classes .* Unicode form"),
    ("syllables.txt", "\ud55c\n\ud558\na\na\n".encode(), [], ["\ud55c", "\ud558", "a", "a"], None),
    ("cyrillic.txt", "\u0439\u0451\n\u0438\u0306\u0435\u0308\na\na\n".encode(), [], ["\u0439\u0451", "\u0438\u0306\u0435\u0308", "a", "a"], "two classes .* Unicode form"),
    ("cyrillic2.txt", "\u0439\n\u0438\na\na\n".encode(), [], ["\u0439", "\u0438", "a", "a"], None),
    ("kana.txt", "\u304c\u30d1\n\u304b\u3099\u30cf\u309a\na\na\n".encode(), [], ["\u304c\u30d1", "\u304b\u3099\u30cf\u309a", "a", "a"], "two classes .* Unicode form"),
    ("greek.txt", "\u0390\n\u03b9\u0308\u0301\na\na\n".encode(), [], ["\u0390", "\u03b9\u0308\u0301", "a", "a"], "two classes .* Unicode form"),
    ("wide.txt", "\uff21\nA\na\na\n".encode(), [], ["\uff21", "A", "a", "a"], "two classes .* Unicode form"),
    ("joiner.txt", "a\u200bb\nab\nc\nc\n".encode(), [], ["a\u200bb", "ab", "c", "c"], "two classes .* unseen characters"),
    ("blanks.txt", "a\u2003b\na\u202fb\na\u205fb\na\u3000b\n".encode(), [], ["a\u2003b", "a\u202fb", "a\u205fb", "a\u3000b"], "differ in blanks, .*the first of 3 such pairs"),
    ("blanks2.txt", b" a\na\na  b\na b\n", [], [" a", "a", "a  b", "a b"], "differ in blanks, .*the first of 2 such pairs"),
    ("unseen.txt", "a\u00adb\na\u202cb\na\u2060b\na\ufe0fb\n".encode(), [], ["a\u00adb", "a\u202cb", "a\u2060b", "a\ufe0fb"], "unseen characters .*the first of 3 such pairs"),
    ("seen.txt", "a\u2014\na\u2030\na\u2070\na\ufe30\n".encode(), [], ["a\u2014", "a\u2030", "a\u2070", "a\ufe30"], None),
    ("faces.txt", "\U0001f600\n\U0001f601\n\U0001f600\u200d\nb\n".encode(), [], ["\U0001f600", "\U0001f601", "\U0001f600\u200d", "b"], "unseen characters .*the first of 1 such pairs"),
    ("marks.txt", "\u0301\nb\n\u200b\nb\n".encode(), [], ["\u0301", "b", "\u200b", "b"], "unseen characters .*the first of 1 such pairs"),
    ("accents.txt", "d\u00e9\nd\u00e8\nde\nde\n".encode(), [], ["d\u00e9", "d\u00e8", "de", "de"], None),
    ("zeros.txt", b"007\n07\n7\n8\n", [], ["007", "07", "7", "8"], None),
    ("zeros2.txt", b"0108775\n108775\n108775\n0108775\n", [], ["0108775", "108775", "108775", "0108775"], None),
    ("lists.txt", b"0 1\n2\n3\n0 1\n", [], ["0 1", "2", "3", "0 1"], "'0 1' is one class; where it is several labels of an item, give --label-separator"),
    ("ends-list.txt", b"0 1;\n2\n3\n0 1;\n", [], ["0 1;", "2", "3", "0 1;"], None),
    ("all-blank.txt", b"\n\n\n\n", [], [-1, -1, -1, -1], None),
    ("signs.txt", b"+1\n1\n-1\n1\n", [], ["+1", "1", "-1", "1"], "'-1' is a class like others"),
    ("minus.txt", b"-0\n0\n0\n1\n", [], ["-0", "0", "0", "1"], None),
    ("power.txt", b"1e3\n1000\n1e3\n1000\n", [], ["1e3", "1000", "1e3", "1000"], None),
    ("digits.txt", "\u0663\n3\n\u0663\n3\n".encode(), [], ["\u0663", "3", "\u0663", "3"], None),
    ("hex.txt", b"0x10\n16\n16\n0x10\n", [], ["0x10", "16", "16", "0x10"], None),
    ("floats.txt", b"0.0\n0\n0\n1\n", [], ["0.0", "0", "0", "1"], None),
    ("long.txt", b"18446744073709551615\n5\n5\n18446744073709551614\n", [], [2, 0, 0, 1], r"go beyond 2\^31 - 1"),
    ("lower.txt", b"-9223372036854775809\n5\n5\n5\n", [], ["-9223372036854775809", "5", "5", "5"], None),
    ("apart.txt", b"-1\n18446744073709551615\n5\n5\n", [], ["-1", "18446744073709551615", "5", "5"], "'-1' is a class like others"),
    ("long-holes.txt", b"18446744073709551615\n\n5\n5\n", [], ["18446744073709551615", -1, "5", "5"], None),
    ("longer.txt", b"18446744073709551616\n5\n5\n5\n", [], ["18446744073709551616", "5", "5", "5"], None),
    ("ignore.txt", b"-100\n3\n3\n-1\n", [], [-1, 3, 3, -1], "every label below 0 is none.*-100 of row 0"),
    ("hash.txt", b"-100\n8589934592\n3\n-1\n", [], "as hashes do: store hashes as unsigned", None),
    ("ids.txt", b"a\nb\nc\nd\n", [], ["a", "b", "c", "d"], "class of its own.*name another column"),
    ("one.txt", b"a\na\na\na\n", [], ["a", "a", "a", "a"], "all items have one class"),
]
X = [[0.5, 1, -2], [3, 4, 5], [6, 7, 8.25], [1, 1, 2]]
ROW_FILES = [
    ("names.csv", "d0,d1,d2\n0.5,1,-2\n3,4,5\n6,7,8.25\n1,1,2\n", [], X, "line 1 names the columns"),
    ("count.csv", "0,1,2\n0.5,1,-2\n3,4,5\n6,7,8.25\n1,1,2\n", [], X, "line 1 names the columns"),
    ("count.csv", "0,1,2\n3,4,5\n6,7,8\n1,1,2\n", [], "counts 0, 1, 2 .*--header yes.*--header no", None),
    ("count.csv", "0,1,2\n3,4,5\n6,7,8\n1,1,2\n", ["--header", "no"], [[0, 1, 2], [3, 4, 5], [6, 7, 8], [1, 1, 2]], None),
    ("count.csv", "0,1\n3,4\n6,7\n1,1\n2,1\n", ["--header", "yes"], [[3, 4], [6, 7], [1, 1], [2, 1]], None),
    ("index.csv", ",0,1,2\n0,0.5,1,-2\n1,3,4,5\n2,6,7,8.25\n3,1,1,2\n", [], X, "first column has no name and is left out"),
    ("id.csv", "id,a,b\n0,3,4\n1,5,6\n2,7,8\n3,9,7\n", [], "column 1 counts the rows: --skip-columns 1 leaves it out", None),
    ("id.csv", "id,a,b\n0,3,4\n1,5,6\n2,7,8\n3,9,7\n", ["--skip-columns", "1"], [[3, 4], [5, 6], [7, 8], [9, 7]], "names the columns"),
    ("id.csv", "1 3\n2 3\n3 4\n4 1\n", ["--skip-columns", "0"], [[1, 3], [2, 3], [3, 4], [4, 1]], None),
    ("bom.csv", "\ufeff0.5,1,-2\n3,4,5\n6,7,8.25\n1,1,2\n", [], X, None),
    ("mac.txt", "0.5 1 -2\r3 4 5\r6 7 8.25\r1 1 2\r", [], X, None),
    ("spaced.txt", " 0.5   1 -2 \n3 4\t5\n\n6 7 8.25  \r\n1 1 2", [], X, None),
    ("excel.csv", "0.5;1;-2\n3;4;5\n6;7;8.25\n1;1;2\n", [], X, None),
    ("german.csv", "0,5;1,25\n3,5;4\n1;1\n2;1\n", [], "write decimal points, not commas", None),
    ("quoted.csv", '"0.5","1","-2"\n3,4,5\n6,7,8.25\n1,1,2\n', [], X, None),
    ("joined.csv", "0.5,1,-2\n\ufeff3,4,5\n", [], "line 2: value 1 is not a number: .*behind a byte order mark; delete it", None),
    ("brackets.txt", "[0.5, 1]\n[3, 4]\n", [], "line 2: value 1 is not a number: .3; write numbers without brackets", None),
    ("hex.txt", "1 2\n0x10 4\n", [], "line 2: value 1 is not a number: 0x10", None),
    ("bars.txt", "1|2\n3|4\n", [], "line 2: value 1 is not a number: 3.4$", None),
    ("alone.csv", "a,b\n", [], "holds no line with numbers", None),
    ("separator.csv", "sep=;", [], "holds no line with numbers", None),
    ("fortran.txt", "1d3 2D-3\n3 4\n", ["--header", "no"], "line 1: value 1 is not a number: 1d3", None),
    ("holes.csv", "0.5,1,-2\n3,,5\n6,7,8.25\n1,1,2\n", [], "line 2: value 2 is missing", None),
    ("last.csv", "0.5,1,-2\n3,4,\n6,7,8.25\n1,1,2\n", [], "line 2: value 3 is missing", None),
    ("glove.txt", "the 0.5 1 -2\nof 3 4 5\nto 6 7 8.25\nand 1 1 2\n", [], "value 1 is not a number: the; --skip-columns 1", None),
    ("glove.txt", "the 0.5 1 -2\nof 3 4 5\nto 6 7 8.25\nand 1 1 2\n", ["--skip-columns", "1"], X, None),
    ("word2vec.txt", "4 3\nthe 0.5 1 -2\nof 3 4 5\nto 6 7 8.25\nand 1 1 2\n", ["--skip-columns", "1"], "line 2: .*more than the line should hold.*--header yes", None),
    ("word2vec.txt", "4 3\nthe 0.5 1 -2\nof 3 4 5\nto 6 7 8.25\nand 1 1 2\n", ["--skip-columns", "1", "--header", "yes"], X, None),
    ("long.txt", "0.5 1 -2\n3 4 5\n6 7 8.25\n1 1 2\n9 9 9\n", ["--rows", "4"], X, None),
    ("short.txt", "0.5 1 -2\n3 4 5\n", ["--rows", "4"], "has 2 rows, fewer than the 4 of --rows", None),
    ("tiny.txt", "1e-300 2e-300\n3 4\n5 6\n7 7\n", [], [[0.5358983848622456, 1.0717967697244912], [3, 4], [5, 6], [7, 7]], "scaled"),
]


def main():
    failed = []
    np.save("four.npy", np.random.default_rng(1).standard_normal((ROWS, 3)).astype("f4"))
    for k, (name, data, words, wanted, said) in enumerate(LABELS):
        with open(name, "wb") as f:
            f.write(data)
        code, text = run("-e", "four.npy", "-l", name, *words, "-o", f"text{k}.h5")
        check(failed, f"{name} {words}", code, text, wanted, lambda k=k: labels_of(f"text{k}.h5"), said)
    for k, (name, text, words, wanted, said) in enumerate(ROW_FILES):
        with open(name, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        code, text = run("-e", name, *words, "-o", f"rows{k}.h5")
        tiny = name == "tiny.txt"

        def read(k=k, tiny=tiny):
            with h5py.File(f"rows{k}.h5") as f:
                x = f["embeddings"][0].astype("f8")
            if tiny:  # only its direction is that of the file
                assert abs(x[0, 1] / x[0, 0] - 2) < 1e-6 and 0.1 < x[0, 1] < 10
                x[0] = wanted[0]
            return x.tolist()
        check(failed, f"{name} {words}", code, text, wanted, read, None if tiny else said)
    for name, data, wanted in (("group.csv", "g\n5\n5\n7\n5\n", [5, 5, 7, 5]), ("group.txt", "07\n7\n7\n07\n", [0, 1, 1, 0])):
        with open(name, "w", encoding="utf-8") as f:
            f.write(data)
        code, text = run("-e", "four.npy", "--group", name, "-o", name + ".h5")
        with h5py.File(name + ".h5") as f:
            if code or list(f["group"][:]) != wanted:
                failed.append(name)
    print(f"{len(LABELS) + len(ROW_FILES) + 2} texts, {len(failed)} failed")
    return bool(failed)


sys.exit(main())
