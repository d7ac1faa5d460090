#include "sim/network.h"

#include <stddef.h>

#define FR_NETWORK(name) extern const struct fr_network fr_network_##name;
#include "sim/network_list.h"
#undef FR_NETWORK

const struct fr_network *const fr_networks[] = {
#define FR_NETWORK(name) &fr_network_##name,
#include "sim/network_list.h"
#undef FR_NETWORK
    NULL};

const char *const fr_network_names[] = {
#define FR_NETWORK(name) #name,
#include "sim/network_list.h"
#undef FR_NETWORK
    NULL};
