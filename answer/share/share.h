/** @file
 *  A cluster file to hand on: named by its user, without names of hosts and folders, with its provenance.
 *
 *  Names of hosts are those that the file's calibration states, and those that the caller adds.  They are taken out of every
 *  text, whole or by their first label, with the names that differ in their number alone: node7 takes node8 with it.  Words
 *  of the file format, quantities and numbers stay. */
#ifndef FR_ANSWER_SHARE_SHARE_H
#define FR_ANSWER_SHARE_SHARE_H

#include "base/json.h"

struct fr_share {
    const char *name;         /**< of the cluster */
    const char *by;           /**< who measured it; NULL: not stated */
    const char *const *hosts; /**< more names to take out, NULL-terminated; or NULL */
};

/** Append the file made of @p document, of a cluster.
 *  @return FR_OK; FR_ERR_USAGE for a name that is a host's; FR_ERR_INPUT where @p document is no cluster file; FR_ERR_NOMEM */
fr_status fr_share_make(const struct fr_json_document *document, const struct fr_share *share,
                        struct fr_text *text, struct fr_error *err);

#endif
