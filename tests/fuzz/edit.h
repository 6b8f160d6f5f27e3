// SPDX-License-Identifier: GPL-3.0-or-later
// A mutator for HDF5 files that goes through the library.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Changes one thing in the HDF5 file of `size` bytes at `data`: values of a data set or an
// attribute, its shape and type, or what is there at all. Of a file without the mark of soundness
// behind its end (edit.c) nothing is left: one that had it is changed in its place. Returns the new
// size, at most `max`; 0: no file with that mark was seen yet, and `data` is as it was. `change`
// mutates plain bytes, as LLVMFuzzerMutate().
size_t hn_fuzz_edit(uint8_t *data, size_t size, size_t max, unsigned seed,
                    size_t (*change)(uint8_t *, size_t, size_t));

// Changes plain bytes, but into nothing on which HDF5 is known never to end.
size_t hn_fuzz_damage(uint8_t *data, size_t size, size_t max,
                      size_t (*change)(uint8_t *, size_t, size_t));
