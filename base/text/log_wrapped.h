/** @file
 *  Lines of a log that a collector put into records, as their texts.
 *
 *      {"log":"TEXT\n","stream":"stdout",...}          Docker's files
 *      {"labels":{...},"line":"TEXT",...}              Loki
 *      {"textPayload":"TEXT",...}                      Google Cloud
 *      {"MESSAGE":"TEXT",...}                          journalctl -o json
 *      {"message":"TEXT",...}  {"msg":"TEXT",...}      other collectors
 *      time=... level=info msg="TEXT"                  logfmt: Go's programs, Argo
 *
 *  An object counts where nearly all lines are such and say more than the text, so that a program's own objects stay. */
#ifndef FR_BASE_TEXT_LOG_WRAPPED_H
#define FR_BASE_TEXT_LOG_WRAPPED_H

#include <stddef.h>

/** Take records off @p text in place; the n-th line stays the n-th.  @return its new length */
size_t fr_log_unwrap(char *text, size_t length);

#endif
