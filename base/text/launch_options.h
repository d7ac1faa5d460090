/** @file
 *  Which ranks and nodes do the options of one command say? */
#ifndef FR_BASE_TEXT_LAUNCH_OPTIONS_H
#define FR_BASE_TEXT_LAUNCH_OPTIONS_H

#include "base/text/launch_command.h"

/** Starts zeroed ({0}). */
struct fr_launch_stated {
    struct fr_launch_facts facts;
    int64_t gpus, gpus_per_node, ranks_per_gpu, sets, sets_per_node, ranks_per_set;
    int64_t hosts, slots; /**< of a list of hosts */
    char host_list[1024];
    bool by_node, one_a_node;
    int64_t before, nodes_before; /**< ranks and nodes of parts before a ":" */
    bool parts;
    char unread[80]; /**< the first that no number follows from */
};

/** An option that no number follows from; the first is named. */
void fr_launch_leave_open(struct fr_launch_stated *stated, const char *name, const char *value);

/** Take options from word @p i on, up to what they start.  @return the word that it is */
int fr_launch_options(const struct fr_launcher *launcher,
                      const struct fr_launch_command *command, int i,
                      struct fr_launch_stated *stated);

/** Derive facts from those that were given. */
void fr_launch_complete(const struct fr_launcher *launcher, struct fr_launch_stated *stated);

#endif
