#include "topology/link_class.h"

#include <stddef.h>

const struct fr_link_class fr_link_classes[] = {
#define FR_LINK_CLASS(name, share, in_switch, ll_us, ll128_us, simple_us, source)              \
    {#name, share, in_switch, {1e-6 * (ll_us), 1e-6 * (ll128_us), 1e-6 * (simple_us)}, source},
#include "topology/link_class_list.h"
#undef FR_LINK_CLASS
};

const char *const fr_link_class_names[] = {
#define FR_LINK_CLASS(name, ...) #name,
#include "topology/link_class_list.h"
#undef FR_LINK_CLASS
    NULL};
