#include "base/json/quantity.h"

void fr_json_add_quantity(struct fr_json_writer *w, const char *key, double si,
                          fr_quantity quantity) {
    char text[64];
    fr_json_add_string(w, key, fr_quantity_write(si, quantity, text, sizeof text));
}
