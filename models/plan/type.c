/* Kinds of values of plan keys: numbers, words, rows of a table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/key.h"

static const void *field(const struct fr_plan_key *key, const struct fr_plan *plan) {
    return (const char *)plan + key->offset;
}

static void *field_of(const struct fr_plan_key *key, struct fr_plan *plan) {
    return (char *)plan + key->offset;
}

static bool same_bytes(const struct fr_plan_key *key, const struct fr_plan *a,
                       const struct fr_plan *b) {
    return memcmp(field(key, a), field(key, b), key->size) == 0;
}

/* ---- integer ------------------------------------------------------------------------------- */

static fr_status read_integer(const struct fr_plan_key *key, const struct fr_json *object,
                              const char *member, struct fr_plan *plan,
                              struct fr_plan_lists *lists, struct fr_error *err) {
    (void)lists;
    return fr_json_get_integer(object, member, true, (int64_t)key->least, (int64_t)key->most,
                               field_of(key, plan), err);
}

static void write_integer(const struct fr_plan_key *key, const struct fr_plan *plan,
                          struct fr_json_writer *w) {
    fr_json_put_integer(w, *(const int64_t *)field(key, plan));
}

static const char *integer_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                                char *out, size_t capacity) {
    snprintf(out, capacity, "%" PRId64, *(const int64_t *)field(key, plan));
    return out;
}

static bool integer_open(const struct fr_plan_key *key, const struct fr_plan *plan) {
    return (double)*(const int64_t *)field(key, plan) < key->least;
}

const struct fr_plan_type fr_plan_integer = {.name = "integer",
                                             .read = read_integer,
                                             .write = write_integer,
                                             .text = integer_text,
                                             .same = same_bytes,
                                             .open = integer_open,
                                             .ranges = true};

/* ---- number, size -------------------------------------------------------------------------- */

static fr_status read_number(const struct fr_plan_key *key, const struct fr_json *object,
                             const char *member, struct fr_plan *plan,
                             struct fr_plan_lists *lists, struct fr_error *err) {
    (void)lists;
    return fr_json_get_number(object, member, true, key->least, key->most, field_of(key, plan),
                              err);
}

static void write_number(const struct fr_plan_key *key, const struct fr_plan *plan,
                         struct fr_json_writer *w) {
    fr_json_put_number(w, *(const double *)field(key, plan));
}

static const char *number_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                               char *out, size_t capacity) {
    return fr_number_write(*(const double *)field(key, plan), out, capacity);
}

static bool number_same(const struct fr_plan_key *key, const struct fr_plan *a,
                        const struct fr_plan *b) {
    return *(const double *)field(key, a) == *(const double *)field(key, b);
}

static bool number_open(const struct fr_plan_key *key, const struct fr_plan *plan) {
    return !(*(const double *)field(key, plan) >= key->least);
}

const struct fr_plan_type fr_plan_number = {.name = "number",
                                            .read = read_number,
                                            .write = write_number,
                                            .text = number_text,
                                            .same = number_same,
                                            .open = number_open};

static fr_status read_size(const struct fr_plan_key *key, const struct fr_json *object,
                           const char *member, struct fr_plan *plan,
                           struct fr_plan_lists *lists, struct fr_error *err) {
    (void)lists;
    return fr_json_get_quantity(object, member, true, FR_QUANTITY_SIZE, key->least, key->most,
                                field_of(key, plan), err);
}

/* @p size in the largest unit of a list that divides it, each @p step of the one before. */
static void in_units(double size, double step, const char *const units[5], char *out,
                     size_t capacity) {
    char number[32];
    int unit = 0;
    for (; unit < 4 && size >= step && fmod(size, step) == 0; unit++) size /= step;
    snprintf(out, capacity, "%s %s", fr_number_write(size, number, sizeof number), units[unit]);
}

/* Exact, in the unit with the shorter number: "25 MiB", "160 MB". */
static const char *size_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                             char *out, size_t capacity) {
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB"}, *const decimal[] = {
                                                                               "B", "kB", "MB",
                                                                               "GB", "TB"};
    double size = *(const double *)field(key, plan);
    char tens[48];
    in_units(size, 1024, binary, out, capacity);
    in_units(size, 1000, decimal, tens, sizeof tens);
    if (strcspn(tens, " ") < strcspn(out, " ")) snprintf(out, capacity, "%s", tens);
    return out;
}

static void write_size(const struct fr_plan_key *key, const struct fr_plan *plan,
                       struct fr_json_writer *w) {
    char text[48];
    fr_json_put_string(w, size_text(key, plan, text, sizeof text));
}

const struct fr_plan_type fr_plan_size = {.name = "size",
                                          .read = read_size,
                                          .write = write_size,
                                          .text = size_text,
                                          .same = number_same,
                                          .ranges = true,
                                          .sizes = true};

/* ---- words --------------------------------------------------------------------------------- */

static fr_status read_bool(const struct fr_plan_key *key, const struct fr_json *object,
                           const char *member, struct fr_plan *plan,
                           struct fr_plan_lists *lists, struct fr_error *err) {
    (void)lists;
    return fr_json_get_bool(object, member, true, field_of(key, plan), err);
}

static void write_bool(const struct fr_plan_key *key, const struct fr_plan *plan,
                       struct fr_json_writer *w) {
    fr_json_put_bool(w, *(const bool *)field(key, plan));
}

static const char *bool_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                             char *out, size_t capacity) {
    snprintf(out, capacity, "%s", *(const bool *)field(key, plan) ? "true" : "false");
    return out;
}

const struct fr_plan_type fr_plan_bool = {.name = "bool",
                                          .read = read_bool,
                                          .write = write_bool,
                                          .text = bool_text,
                                          .same = same_bytes};

/* A choice stands in an enumeration, or, one of two, in a bool. */
static int which(const struct fr_plan_key *key, const struct fr_plan *plan) {
    unsigned value = 0;
    if (key->size == sizeof(bool)) return *(const bool *)field(key, plan);
    memcpy(&value, field(key, plan), sizeof value);
    return (int)value;
}

static fr_status read_choice(const struct fr_plan_key *key, const struct fr_json *object,
                             const char *member, struct fr_plan *plan,
                             struct fr_plan_lists *lists, struct fr_error *err) {
    int choice = 0;
    (void)lists;
    FR_TRY(fr_json_get_choice(object, member, true, key->words, &choice, err));
    unsigned value = (unsigned)choice;
    if (key->size == sizeof(bool))
        *(bool *)field_of(key, plan) = choice == 1;
    else
        memcpy(field_of(key, plan), &value, sizeof value);
    return FR_OK;
}

static const char *choice_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                               char *out, size_t capacity) {
    snprintf(out, capacity, "%s", key->words[which(key, plan)]);
    return out;
}

static void write_choice(const struct fr_plan_key *key, const struct fr_plan *plan,
                         struct fr_json_writer *w) {
    fr_json_put_string(w, key->words[which(key, plan)]);
}

const struct fr_plan_type fr_plan_choice = {.name = "choice",
                                            .read = read_choice,
                                            .write = write_choice,
                                            .text = choice_text,
                                            .same = same_bytes};

/* ---- rows ---------------------------------------------------------------------------------- */

static const char *row_name(const struct fr_plan_key *key, const struct fr_plan *plan) {
    int i = 0;
    while (key->words[i + 1] && memcmp((const char *)key->rows + (size_t)i * sizeof(void *),
                                       field(key, plan), sizeof(void *)) != 0)
        i++;
    return key->words[i];
}

static fr_status read_row(const struct fr_plan_key *key, const struct fr_json *object,
                          const char *member, struct fr_plan *plan, struct fr_plan_lists *lists,
                          struct fr_error *err) {
    int choice = 0;
    (void)lists;
    FR_TRY(fr_json_get_choice(object, member, true, key->words, &choice, err));
    memcpy(field_of(key, plan), (const char *)key->rows + (size_t)choice * sizeof(void *),
           sizeof(void *));
    return FR_OK;
}

static const char *row_text(const struct fr_plan_key *key, const struct fr_plan *plan,
                            char *out, size_t capacity) {
    snprintf(out, capacity, "%s", row_name(key, plan));
    return out;
}

static void write_row(const struct fr_plan_key *key, const struct fr_plan *plan,
                      struct fr_json_writer *w) {
    fr_json_put_string(w, row_name(key, plan));
}

const struct fr_plan_type fr_plan_row = {.name = "choice",
                                         .read = read_row,
                                         .write = write_row,
                                         .text = row_text,
                                         .same = same_bytes};
