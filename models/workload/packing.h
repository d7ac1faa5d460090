/** @file
 *  Sequences packed of several documents, none of which attends to another.
 *
 *  For documents of l_i tokens, sum l_i = s, fused attention computes sum l_i^2 / 2 pairs in place of s^2 / 2.  That
 *  is a share L / s with L = sum l_i^2 / sum l_i: the length of a token's document, in the mean over tokens (not over
 *  documents).  Plain attention masks the other pairs but computes them all the same.  Keys still travel round a ring
 *  of ranks that share a sequence.  Left out: a rank's share of pairs then differs from the next one's. */
#ifndef FR_MODELS_WORKLOAD_PACKING_H
#define FR_MODELS_WORKLOAD_PACKING_H

#include "models/workload/workload.h"

/** Read `document` of a transformer's file, whose sequence and window are known. */
fr_status fr_document_read(const struct fr_json *object, struct fr_transformer *t,
                           struct fr_error *err);

#endif
