/** @file
 *  Which key did somebody mean who wrote a word that is none?
 *
 *  A key without a prefix is one of the plan, so "layers=4" and "seq_len=4096" lead nowhere; they are the model's. */
#ifndef FR_MODELS_JOB_KEY_MEANT_H
#define FR_MODELS_JOB_KEY_MEANT_H

#include "base/status.h"
#include "base/text/meant.h"

enum { FR_KEY_NAME = 80 };

/** The key, with its prefix, that @p word most likely means, into @p key; empty: none is near.
 *  @param[out] hint  how it differs, or ""
 *  @return how sure that is */
fr_meant_how fr_key_meant(const char *word, char key[FR_KEY_NAME], const char **hint);

/** Refuse @p word, which is no key that @p where takes. @return @p status */
fr_status fr_key_unknown(const char *word, const char *where, fr_status status,
                         struct fr_error *err);

#endif
