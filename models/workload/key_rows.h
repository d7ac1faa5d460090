/* Words of rows of key lists (base/json/key.h), for the file that includes this once with INTO, the struct that fields
 * are of. */
#include "base/json/key.h"

#define INTEGER(low, high)                                                                     \
    .type = FR_KEY_INTEGER, .least = (double)(low), .most = (double)(high)
#define NUMBER(low, high) .type = FR_KEY_NUMBER, .least = low, .most = high
#define QUANTITY(what, high)                                                                   \
    .type = FR_KEY_QUANTITY, .quantity = FR_QUANTITY_##what, .most = high
#define BOOL() .type = FR_KEY_BOOL
#define CHOICE(names) .type = FR_KEY_CHOICE, .words = names
#define TEXT(high) .type = FR_KEY_TEXT, .most = high
#define OTHER() .type = FR_KEY_OTHER
#define REQUIRED .required = true
#define OPTIONAL .required = false
#define TAKEN(of) .field = offsetof(INTO, of) + 1
#define BY_CODE .field = 0
#define FR_KEY_ROW(word, what, asked, place, plain, sentence)                                  \
    { .name = #word, what, asked, place, .otherwise = plain, .help = sentence }
/* A key of a list, whose rows no comma separates. */
#define FR_KEY_LISTED(word, what, asked, place, plain, sentence)                               \
    {.name = #word, what, asked, place, .otherwise = plain, .help = sentence},
