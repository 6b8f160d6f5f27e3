// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the tables of results.h5 that do not depend on what is registered. Options,
// metrics and reports bring their own from the registries (harness/run/item.c), so that a new one
// needs no line here. All names of /runs share one namespace.
#pragma once

#include "core/table.h"

// Attribute of results of `price`: the command that mines with a setting, but for its option.
#define HN_PRICE_COMMAND "mine_command"

struct hn_schema {
    const struct hn_column *column;
    int n;
};
// /runs begins with hn_schema_cells; options of samplers, losses, options of weightings, settings,
// metrics and reports, and costs follow; of trainings more.
extern const struct hn_schema hn_schema_cells, hn_schema_losses, hn_schema_settings,
    hn_schema_costs, hn_schema_trainings;
extern const struct hn_schema hn_schema_snapshots, hn_schema_studies, hn_schema_timing;
