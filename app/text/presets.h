/** @file
 *  Clusters and models that can be named, as tables for people: what each is, and how its values were checked. */
#ifndef FR_APP_TEXT_PRESETS_H
#define FR_APP_TEXT_PRESETS_H

#include "base/text.h"

/** Device, devices a node, memory, peak at 16 bits and network of @p n clusters; below each its date and how it was
 *  checked.  One that cannot be read says why. */
void fr_list_clusters(struct fr_text *text, const char *const *names, int n);

/** Kind, layers, width, sequence, batch and number format of @p n models, likewise. */
void fr_list_models(struct fr_text *text, const char *const *names, int n);

#endif
