/** @file
 *  What joins the ranks of a level, as far as collectives of NCCL and RCCL care.
 *
 *  A level that states its "link" is run by such a library.  Its collectives are rings over all adapters, trees, and
 *  reductions in the switch (models/network/nccl.h); no other algorithm is taken.  A class says how much of the stated
 *  rate collectives keep up, and what each further hop takes once a collective has started.  Both are properties of a
 *  kind of fabric, not of a machine.
 *
 *  To add one: a row in topology/link_class_list.h. */
#ifndef FR_TOPOLOGY_LINK_CLASS_H
#define FR_TOPOLOGY_LINK_CLASS_H

/** Protocols of NCCL: flags beside every word, beside every 120 bytes, or beside every piece. */
typedef enum {
    FR_PROTOCOL_LL,
    FR_PROTOCOL_LL128,
    FR_PROTOCOL_SIMPLE,
    FR_PROTOCOLS
} fr_protocol;

struct fr_link_class {
    const char *name;
    double share; /**< of the stated rate, 0 to 1 */
    double
        in_switch; /**< rate of a reduction in the switch over the stated rate; 0: it has none */
    double hop_s[FR_PROTOCOLS];
    const char *source;
};

/** Rows in table order; their names, then NULL. */
extern const struct fr_link_class fr_link_classes[];
extern const char *const fr_link_class_names[];

#endif
