#include "base/json/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

fr_status fr_json_check_keys(const struct fr_json *object, const struct fr_json_key *rows,
                             const struct fr_json_key *more, struct fr_error *err) {
    const struct fr_json_key *const lists[] = {rows, more};
    size_t n = 0;
    for (int k = 0; k < 2; k++)
        for (const struct fr_json_key *at = lists[k]; at && at->name; at++) n++;
    const char **known = fr_calloc(n + 1, sizeof *known);
    if (!known) return fr_json_fail(object, err, "does not fit in memory");
    n = 0;
    for (int k = 0; k < 2; k++)
        for (const struct fr_json_key *at = lists[k]; at && at->name; at++)
            known[n++] = at->name;
    fr_status status = fr_json_object(object, known, err);
    free((void *)known);
    return status;
}

static fr_status read_key(const struct fr_json *object, const struct fr_json_key *row,
                          char *into, struct fr_error *err) {
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    int choice = 0;
    char *field = into && row->field ? into + row->field - 1 : NULL;
    struct fr_json node = fr_json_member(object, row->name);
    if (!row->required && !fr_json_present(&node)) return FR_OK;
    switch (row->type) {
    case FR_KEY_INTEGER:
        return fr_json_get_integer(object, row->name, true, (int64_t)row->least,
                                   (int64_t)row->most,
                                   field ? (int64_t *)(void *)field : &integer, err);
    case FR_KEY_NUMBER:
        return fr_json_get_number(object, row->name, true, row->least, row->most,
                                  field ? (double *)(void *)field : &number, err);
    case FR_KEY_QUANTITY:
        return fr_json_get_quantity(object, row->name, true, row->quantity, row->least,
                                    row->most, field ? (double *)(void *)field : &number, err);
    case FR_KEY_BOOL:
        return fr_json_get_bool(object, row->name, true, field ? (bool *)field : &truth, err);
    case FR_KEY_CHOICE:
        return fr_json_get_choice(object, row->name, true, row->words, &choice, err);
    case FR_KEY_TEXT:
        return fr_json_text(&node, &(const char *){NULL}, err);
    case FR_KEY_OTHER:
        break;
    }
    return FR_OK;
}

fr_status fr_json_read_keys(const struct fr_json *object, const struct fr_json_key *rows,
                            void *into, struct fr_error *err) {
    for (const struct fr_json_key *row = rows; row->name; row++)
        if (!into || row->field) FR_TRY(read_key(object, row, into, err));
    return FR_OK;
}

const struct fr_json_key *fr_json_key_find(const struct fr_json_key *rows, const char *name) {
    while (rows->name && strcmp(rows->name, name) != 0) rows++;
    return rows->name ? rows : NULL;
}
