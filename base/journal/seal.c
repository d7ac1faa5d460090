#define _GNU_SOURCE /* memmem */
#include "base/journal/seal.h"

#include <inttypes.h>
#include <string.h>

#include "base/digest.h"

enum { DIGITS = 16 };
static const char digest_key[] = ", \"digest\": \"", question_key[] = ", \"question\": \"";

/* Every bit of the digest shall depend on the last bytes too. */
static uint64_t digest_of(const char *line, size_t length) {
    uint64_t hash = fr_digest_bytes(FR_DIGEST_START, line, length);
    return (hash ^ hash >> 32) * FR_DIGEST_GOLDEN;
}

void fr_seal_add(struct fr_text *out, const char *line, size_t length,
                 const uint64_t *question) {
    size_t begin = out->length, body_B = length > 0 ? length - 1 : 0; /* without "}" */
    fr_text_add(out, line, body_B);
    if (question) fr_text_addf(out, "%s%016" PRIx64 "\"", question_key, *question);
    if (out->failed) return;
    uint64_t digest = digest_of(out->data + begin, out->length - begin);
    fr_text_addf(out, "%s%016" PRIx64 "\"}\n", digest_key, digest);
}

/* As they are written, and in no other way: "0A" is none. */
static bool read_digits(const char *at, uint64_t *value) {
    static const char digits[] = "0123456789abcdef";
    *value = 0;
    for (int i = 0; i < DIGITS; i++) {
        const char *digit = at[i] ? strchr(digits, at[i]) : NULL;
        if (!digit) return false;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

/* @p length bytes at the end of @p line are KEY DIGITS END. */
static bool ends_with(const char *line, size_t length, const char *key, const char *end,
                      size_t *before_B, uint64_t *value) {
    size_t key_B = strlen(key), end_B = strlen(end), all_B = key_B + DIGITS + end_B;
    if (length < all_B) return false;
    const char *at = line + length - all_B;
    *before_B = length - all_B;
    return memcmp(at, key, key_B) == 0 && memcmp(at + key_B + DIGITS, end, end_B) == 0 &&
           read_digits(at + key_B, value);
}

fr_seal fr_seal_check(const char *line, size_t length, size_t *body_B, uint64_t *digest) {
    if (!ends_with(line, length, digest_key, "\"}", body_B, digest)) return FR_SEAL_NONE;
    return digest_of(line, *body_B) == *digest ? FR_SEAL_GOOD : FR_SEAL_BROKEN;
}

size_t fr_seal_question(const char *body, size_t body_B, uint64_t *question) {
    size_t before_B = body_B;
    uint64_t value = 0;
    if (!ends_with(body, body_B, question_key, "\"", &before_B, &value)) return body_B;
    *question = value;
    return before_B;
}

bool fr_seal_is_stated(const char *line, size_t length) {
    return memmem(line, length, digest_key, sizeof digest_key - 1) ||
           memmem(line, length, question_key, sizeof question_key - 1);
}
