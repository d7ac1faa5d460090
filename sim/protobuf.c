#include "sim/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void fr_protobuf_varint(struct fr_text *text, uint64_t value) {
    do {
        unsigned char byte = value & 0x7F;
        value >>= 7;
        if (value) byte |= 0x80;
        fr_text_add(text, (const char *)&byte, 1);
    } while (value);
}

static void put_tag(struct fr_text *text, int field, int wire) {
    fr_protobuf_varint(text, (uint64_t)field << 3 | (uint64_t)wire);
}

void fr_protobuf_integer(struct fr_text *text, int field, int64_t value) {
    put_tag(text, field, WIRE_VARINT);
    fr_protobuf_varint(text, (uint64_t)value);
}

void fr_protobuf_bytes(struct fr_text *text, int field, const char *bytes, size_t length) {
    put_tag(text, field, WIRE_BYTES);
    fr_protobuf_varint(text, length);
    fr_text_add(text, bytes, length);
}

void fr_protobuf_string(struct fr_text *text, int field, const char *value) {
    fr_protobuf_bytes(text, field, value, strlen(value));
}

void fr_protobuf_delimited(struct fr_text *text, const struct fr_text *message) {
    fr_protobuf_varint(text, message->length);
    fr_text_add(text, fr_text_get(message), message->length);
    text->failed = text->failed || message->failed;
}
