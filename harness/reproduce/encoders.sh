# SPDX-License-Identifier: GPL-3.0-or-later
# Labelled encoders of several kinds of data, for front.sh and board.sh, which source it. They set program, data (a folder with
# sts/ and cifar10/ as docs/guide/training-data.md has them), output, size (full or quick: 3,300 items a series, for images after
# 300 steps on few views). A series lies at $output/encoders/KIND-SEED.h5.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python3=$(PATH=/usr/bin:$PATH command -v python3)
items=10000 steps=800 views='views: 8, dim: 256'
[ "$size" != quick ] || items=3300 steps=300 views='views: 4, dim: 128'

left_out() { echo "$1: left out: $2"; } # KIND SENTENCE

# Trains an encoder; its last step becomes $series.
train() { # JOB FOLDER-OF-DATA SEED LAST-STEP SETTING...
    local job=$1 from=$2 seed=$3 last=$4 run=$output/train/$kind-$3
    shift 4
    "$program" train -c "$here/jobs/$job.yaml" --data "$from" -o "$run" --quiet --set "seeds=[$seed]" \
        --set "evaluate=$last" --set "snapshots={every: $last}" "$@" || exit 1
    mv "$run"/runs/*/series.h5 "$series" || exit 1
    rm -rf "$run"
}
images() { # DATA-SET FOLDER SEED N
    train train-series "$2" "$3" "$steps" --set "steps=$steps" --set "task={views-mlp: {data: $1, n: $4, $views, data_seed: $3}}"
}

# The encoder of $kind with a seed, in $series. 3: what it takes is missing, which $reason says.
make_encoder() { # SEED
    local made=$output/made/$kind-$1
    case $kind in
    packages | functions | manuals | perl | headers | glyphs)
        reason=$("$python3" "$here/reproduce/front_data.py" "$kind" "$1" "$made" "$items") || return $?
        if [ "$kind" = glyphs ]; then
            mkdir -p "$made/cifar100"
            mv "$made"/*.bin "$made/cifar100"
            images cifar100 "$made" "$1" $(($(stat -c %s "$made/cifar100/train.bin") / 3074))
        else
            "$program" import -e "$made/x.npy" -l "$made/y.txt" -o "$series" --quiet || exit 1
        fi
        rm -rf "$made"
        ;;
    sentences)
        reason="${data:-DATA}/sts is not there"
        [ -r "$data/sts/sick-train.tsv" ] || return 3
        train train-text "$data" "$1" 333
        ;;
    cifar10)
        reason="${data:-DATA}/cifar10 is not there"
        [ -r "$data/cifar10/data_batch_1.bin" ] || return 3
        images cifar10 "$data" "$1" "$items"
        ;;
    *)
        reason="no such kind"
        return 3
        ;;
    esac
}

# The series of $kind, seeds 1 to $1, in $list, with commas. 3 as make_encoder(), once it has said so.
make_encoders() { # HOW-MANY
    local i reason
    list=
    for ((i = 1; i <= $1; i++)); do
        series=$output/encoders/$kind-$i.h5
        [ -r "$series" ] || make_encoder "$i" || { [ $? = 3 ] && left_out "$kind" "$reason" && return 3 || exit 1; }
        list=$list${list:+,}$series
    done
}
