/** @file
 *  Protocol Buffers' wire format, as far as it is written here
 *  (protobuf.dev/programming-guides/encoding): a field is its number and wire type in one varint, then a
 *  varint, or bytes behind their length.  Fields are appended to a fr_text. */
#ifndef FR_SIM_PROTOBUF_H
#define FR_SIM_PROTOBUF_H

#include <stdint.h>

#include "base/text.h"

/** Seven bits a byte, the least first; of the last one the eighth is 0. */
void fr_protobuf_varint(struct fr_text *text, uint64_t value);
/** A number of type (u)int32, (u)int64, bool or enum; negative ones as 64 bits. */
void fr_protobuf_integer(struct fr_text *text, int field, int64_t value);
void fr_protobuf_bytes(struct fr_text *text, int field, const char *bytes, size_t length);
void fr_protobuf_string(struct fr_text *text, int field, const char *value);
/** One message of several in a file: its length, then its fields. */
void fr_protobuf_delimited(struct fr_text *text, const struct fr_text *message);

#endif
