#include "models/plan/compression.h"

#define FR_COMPRESSION(name) extern const struct fr_compression fr_compression_##name;
#include "models/plan/compression_list.h"
#undef FR_COMPRESSION

const struct fr_compression *const fr_compressions[] = {
#define FR_COMPRESSION(name) &fr_compression_##name,
#include "models/plan/compression_list.h"
#undef FR_COMPRESSION
    NULL};

const char *const fr_compression_names[] = {
#define FR_COMPRESSION(name) #name,
#include "models/plan/compression_list.h"
#undef FR_COMPRESSION
    NULL};
