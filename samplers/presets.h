// The settings of the BatchSampler paper and of its code, by data set.
#ifndef HN_SAMPLERS_PRESETS_H
#define HN_SAMPLERS_PRESETS_H

// NULL-terminated; the first is "none".
extern const char *const hn_batchsampler_presets[];
// Settings of the preset numbered so: pairs of option and value, NULL-terminated; NULL for "none".
const char *const *hn_batchsampler_preset(int preset);

#endif
