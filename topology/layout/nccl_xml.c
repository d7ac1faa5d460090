/* NCCL's topology, as it dumps it or as it is given (NCCL_TOPO_FILE), where GPUs are PCI devices of class 0x0302: <system> of <cpu numaid=...>, <pci>, <gpu dev=... sm=...>, <nvlink count=...>, <net name=... speed=...>. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/layout.h"

enum { NUMA_MAX = 64 };

static bool applicable(const char *text) {
    const char *system = strstr(text, "<system");
    return system &&
           (strstr(system, "<cpu ") || strstr(system, "<gpu ") || strstr(system, "<pci "));
}

/* The value of @p key within the tag at @p tag; "" where it has none. */
static const char *value_of(const char *tag, const char *key, char *out, size_t capacity) {
    const char *end = strchr(tag, '>');
    size_t n = strlen(key);
    *out = '\0';
    for (const char *at = tag; (at = strstr(at, key)) && end && at < end; at += n)
        if (isspace((unsigned char)at[-1]) && at[n] == '=' && at[n + 1] == '"') {
            snprintf(out, capacity, "%.*s", (int)strcspn(at + n + 2, "\""), at + n + 2);
            return out;
        }
    return out;
}

static bool begins(const char *tag, const char *name) {
    size_t n = strlen(name);
    return strncmp(tag, name, n) == 0 &&
           (isspace((unsigned char)tag[n]) || tag[n] == '>' || tag[n] == '/');
}

/* Links of the GPU whose tag is at @p gpu, to whatever they lead.  AMD's are not counted. */
static int links_of(const char *gpu, bool *xgmi) {
    const char *end = strstr(gpu, "</gpu>"), *next = strstr(gpu + 1, "<gpu ");
    char count[24];
    int links = 0;
    const char *amd = strstr(gpu, "<xgmi");
    *xgmi = false;
    if (!end || (next && next < end)) return 0;
    *xgmi = amd && amd < end;
    for (const char *at = gpu; (at = strstr(at, "<nvlink")) && at < end; at++) {
        long n = strtol(value_of(at, "count", count, sizeof count), NULL, 10);
        if (n > 0 && n < 1024) links += (int)n;
    }
    return links;
}

static fr_status read(const char *text, const char *name, struct fr_layout *layout,
                      struct fr_error *err) {
    int gpus = 0, nets = 0, cpus = 0, of_cpu[NUMA_MAX] = {0}, links = 0;
    double rate_B_per_s = 0;
    int pci_gpus = 0, pci_nets = 0;
    bool same = true, all = true, xgmi = false;
    char value[64];
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        const char *tag = at + 1;
        if (begins(tag, "cpu") && cpus < NUMA_MAX) cpus++;
        if (begins(tag, "gpu")) {
            int own = links_of(at, &xgmi);
            gpus++;
            if (cpus) of_cpu[cpus - 1]++;
            all &= own > 0 || xgmi;
            if (own > links) links = own;
        }
        if (begins(tag, "pci")) {
            value_of(tag, "class", value, sizeof value);
            pci_gpus += strncmp(value, "0x0302", 6) == 0;
            pci_nets += strncmp(value, "0x0207", 6) == 0 || strncmp(value, "0x0200", 6) == 0;
        }
        /* A collective's entry is another of the same adapter. */
        if (begins(tag, "net") &&
            strcmp(value_of(tag, "coll", value, sizeof value), "1") != 0) {
            double Mbit_per_s = strtod(value_of(tag, "speed", value, sizeof value), NULL);
            double own_B_per_s = Mbit_per_s > 0 && Mbit_per_s < 1e9 ? Mbit_per_s * 1e6 / 8 : 0;
            same &= nets == 0 || own_B_per_s == rate_B_per_s;
            if (nets++ == 0) rate_B_per_s = own_B_per_s;
        }
    }
    if (gpus == 0 && pci_gpus > 0) {
        gpus = pci_gpus;
        all = false;
        cpus = 0;
        if (nets == 0) nets = pci_nets;
        fr_text_addf(layout->notes,
                     "%s: does not say how GPUs are joined, as what NCCL itself dumps does "
                     "(NCCL_TOPO_DUMP_FILE)\n",
                     name);
    }
    if (gpus < 1 || gpus > FR_LAYOUT_COUNT_MAX)
        return fr_fail(err, FR_ERR_INPUT, name, "shows no GPU (<gpu ...>)");
    layout->gpus = gpus;
    layout->adapters = nets;
    layout->links = links;
    layout->joined = all && gpus > 1;
    if (same) layout->adapter_rate_B_per_s = rate_B_per_s;
    if (!same)
        fr_text_addf(layout->notes,
                     "%s: its adapters are of several speeds; the rate is left open\n", name);
    layout->gpus_of_package = layout->joined || cpus < 2 ? 0 : of_cpu[0];
    for (int i = 1; i < cpus; i++)
        if (of_cpu[i] && of_cpu[i] != of_cpu[0]) layout->gpus_of_package = 0;
    return FR_OK;
}

const struct fr_layout_form fr_layout_nccl_xml = {
    .name = "NCCL's topology",
    .source = "NCCL_TOPO_DUMP_FILE=FILE.xml",
    .applicable = applicable,
    .read = read,
};
