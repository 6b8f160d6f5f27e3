// SPDX-License-Identifier: GPL-3.0-or-later
// The HDF5 library as every file here sees it. From HDF5 1.12 on, names without a number
// (H5O_info_t, H5Literate, ...) mean other types and calls than in 1.10: this holds them to those
// of 1.10, which every later release still has. So nobody includes <hdf5.h> or <hdf5_hl.h> but here
// (tests/modules.py).
#pragma once

#define H5_USE_110_API
#include <hdf5.h>
#include <hdf5_hl.h>
