// SPDX-License-Identifier: GPL-3.0-or-later
// Canonical texts of option values: the same value gives the same text, in every locale. And what
// such texts hold.
#include "core/options/option_text.h"

#include "core/options/option.h"
#include "core/real_text.h"
#include "core/text.h"
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int schedule_text(struct hn_schedule s, char *buffer, size_t size) {
    if (isnan(s.from))
        return snprintf(buffer, size, "%s", "");
    bool constant = s.from == s.to;
    return snprintf(buffer, size, "%s%s%s", hn_real_text(s.from).text, constant ? "" : "~",
                    constant ? "" : hn_real_text(s.to).text);
}

// Puts text behind what is there, as far as it fits; returns the length that it would have.
static int append(char *buffer, size_t size, int used, const char *text) {
    size_t at = (size_t)used < size ? (size_t)used : size;
    return used + snprintf(size ? buffer + at : NULL, size - at, "%s", text);
}

static int list_text(const struct hn_text_list *list, char *buffer, size_t size) {
    int used = append(buffer, size, 0, "");
    for (int64_t i = 0; i < list->count; i++) {
        used = append(buffer, size, used, i ? "," : "");
        used = append(buffer, size, used, list->item[i]);
    }
    return used;
}

int hn_option_text(const struct hn_option *option, const void *params, char *buffer, size_t size) {
    const void *v = (const char *)params + option->offset;
    switch (option->kind) {
    case HN_OPTION_INT:
    case HN_OPTION_SIZE: {
        int64_t i = *(const int64_t *)v;
        int64_t unset = option->kind == HN_OPTION_INT ? INT64_MIN : 0;
        if (!option->initial && i == unset)
            break;
        if (option->kind == HN_OPTION_INT && option->choices && i == 0)
            return snprintf(buffer, size, "%s", option->choices[0]);
        return snprintf(buffer, size, "%" PRId64, i);
    }
    case HN_OPTION_REAL:
        if (isnan(*(const double *)v))
            break;
        return snprintf(buffer, size, "%s", hn_real_text(*(const double *)v).text);
    case HN_OPTION_BOOL:
        if (!option->initial && !*(const bool *)v)
            break;
        return snprintf(buffer, size, "%s", *(const bool *)v ? "true" : "false");
    case HN_OPTION_CHOICE:
        if (!option->initial && *(const int *)v == 0)
            break;
        return snprintf(buffer, size, "%s", option->choices[*(const int *)v]);
    case HN_OPTION_SCHEDULE: return schedule_text(*(const struct hn_schedule *)v, buffer, size);
    case HN_OPTION_TEXT: {
        const char *text = *(char *const *)v;
        return snprintf(buffer, size, "%s", text ? text : "");
    }
    case HN_OPTION_LIST: return list_text(v, buffer, size);
    }
    return snprintf(buffer, size, "%s", "");
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct hn_option *const *)a)->name,
                  (*(const struct hn_option *const *)b)->name);
}

char *hn_options_text(struct hn_context *ctx, const struct hn_option *table, const void *params) {
    int n = 0;
    while (table[n].name)
        n++;
    HN_SCOPE(ctx);
    const struct hn_option **sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return NULL;
    for (int i = 0; i < n; i++)
        sorted[i] = &table[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    char *text = hn_strdup(ctx, "");
    for (int i = 0; i < n && text; i++) {
        int length = hn_option_text(sorted[i], params, NULL, 0);
        char *value = hn_alloc(ctx, length + 1, 1);
        if (!value)
            return NULL;
        hn_option_text(sorted[i], params, value, (size_t)length + 1);
        if (length > 0)
            text = hn_format(ctx, "%s%s%s=%s", text, *text ? ", " : "", sorted[i]->name, value);
    }
    hn_own(ctx, scope.outer);
    return text ? hn_strdup(ctx, text) : NULL;
}

bool hn_option_next(const char **rest, struct hn_option_part *o) {
    if (!**rest)
        return false;
    const char *end = strstr(*rest, ", ");
    o->text = *rest;
    o->length = end ? (size_t)(end - *rest) : strlen(*rest);
    *rest = end ? end + 2 : *rest + o->length;
    return true;
}

bool hn_option_has(const char *params, struct hn_option_part wanted) {
    struct hn_option_part o;
    while (hn_option_next(&params, &o))
        if (o.length == wanted.length && memcmp(o.text, wanted.text, o.length) == 0)
            return true;
    return false;
}

struct hn_phrase hn_option_name(struct hn_option_part o) {
    struct hn_phrase name;
    hn_put_text(name.text, sizeof name.text, "%.*s", (int)o.length, o.text);
    name.text[strcspn(name.text, "=")] = '\0';
    return name;
}

struct hn_phrase hn_option_value(const char *params, const char *option) {
    struct hn_option_part o;
    struct hn_phrase value = {""};
    size_t length = strlen(option);
    while (!*value.text && hn_option_next(&params, &o))
        if (o.length > length && o.text[length] == '=' && memcmp(o.text, option, length) == 0)
            hn_put_text(value.text, sizeof value.text, "%.*s", (int)(o.length - length - 1),
                        o.text + length + 1);
    return value;
}
