// Settings of BatchSampler, by data set: BS appendix E.1 (images), table 15 (graphs), E.3 (text),
// and the defaults of the authors' code.
//
// Batch size and temperature belong to the job and are not set here. Text: the graph is built once,
// before training, hence the very long t. `reference`: the code lowers alpha by
// 0.02 an epoch, from 0.16 at its second epoch to 0.05 at its eighth, of a thousand; a series of
// snapshots knows no epochs, so that the value of all but those is taken.
#include "samplers/presets.h"

#include <stddef.h>

enum { PAIRS_MAX = 16 }; // names and values, and the NULL at their end

#define DECAY "0.2~0.05"
#define ONCE "2147483647"

// Name, then pairs.
#define PRESETS(X)                                                                                 \
    X("paper", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                                \
    X("reference", "M", "1000", "K", "100", "alpha", "0.05", "t", "100", "candidates",             \
      "reference", "start", "unseen")                                                              \
    X("cifar10", "M", "500", "K", "100", "alpha", DECAY, "t", "100")                               \
    X("cifar100", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                             \
    X("stl10", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                                \
    X("imagenet100", "M", "1000", "K", "500", "alpha", "0.1", "t", "100")                          \
    X("imagenet", "M", "1000", "K", "500", "alpha", "0.1", "t", "100")                             \
    X("wikipedia", "M", "1000", "K", "500", "alpha", "0.7", "t", ONCE)                             \
    X("imdb-b", "M", "500", "K", "100", "alpha", DECAY, "t", "25")                                 \
    X("imdb-m", "M", "500", "K", "100", "alpha", DECAY, "t", "25")                                 \
    X("collab", "M", "1000", "K", "100", "alpha", DECAY, "t", "50")                                \
    X("reddit-b", "M", "500", "K", "100", "alpha", DECAY, "t", "50")                               \
    X("proteins", "M", "500", "K", "100", "alpha", DECAY, "t", "50")                               \
    X("mutag", "M", "100", "K", "50", "alpha", DECAY, "t", "50")                                   \
    X("nci1", "M", "1000", "K", "100", "alpha", DECAY, "t", "50")

#define NAME(name, ...) name,
#define PAIRS(name, ...) {__VA_ARGS__},

const char *const hn_batchsampler_presets[] = {"none", PRESETS(NAME) NULL};

static const char *const pairs[][PAIRS_MAX] = {{NULL}, PRESETS(PAIRS)};

const char *const *hn_batchsampler_preset(int preset) { return preset ? pairs[preset] : NULL; }
