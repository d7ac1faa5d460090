#include "topology/discover.h"

#include <hwloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/isolated.h"
#include "base/json.h"
#include "base/json/file_schema.h"
#include "base/json/quantity.h"
#include "topology/layout.h"

const char *const fr_rank_unit_names[] = {
#define FR_RANK_UNIT_NAME(name) #name,
    FR_RANK_UNIT_LIST(FR_RANK_UNIT_NAME)
#undef FR_RANK_UNIT_NAME
        NULL};

enum { DEVICES_MAX = 64 };

/* A GPU or an adapter: what the operating system calls it, and the PCI device under it. */
struct found {
    hwloc_obj_t os, pci;
};

struct node {
    hwloc_topology_t topology;
    int packages, numa, cores, threads, n_gpus, n_adapters;
    struct found gpu[DEVICES_MAX], adapter[DEVICES_MAX];
    double memory_B;
};

static const char *info(hwloc_obj_t obj, const char *name) {
    const char *value = obj ? hwloc_obj_get_info_by_name(obj, name) : NULL;
    return value && *value ? value : NULL;
}

/* ---- looking ---------------------------------------------------------------------------------- */

static hwloc_obj_t pci_of(hwloc_obj_t os) {
    while (os && os->type != HWLOC_OBJ_PCI_DEVICE) os = os->parent;
    return os;
}

/* One PCI device may have several names (card0, renderD128, cuda0): it counts once, under the name
 * that says most about it. */
static void add(struct found *list, int *n, hwloc_obj_t os) {
    hwloc_obj_t pci = pci_of(os);
    for (int k = 0; k < *n; k++)
        if (pci && list[k].pci == pci) {
            if (os->infos_count > list[k].os->infos_count) list[k].os = os;
            return;
        }
    if (*n < DEVICES_MAX) list[(*n)++] = (struct found){os, pci};
}

/* PCI class 0x03: display controllers; boards with nothing but a console are no GPUs to compute
 * with, and have no coprocessor name nor render node. */
static bool computes(hwloc_obj_t os) {
    if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC) return true;
    if (os->attr->osdev.type != HWLOC_OBJ_OSDEV_GPU) return false;
    return info(os, "GPUModel") || (os->name && strncmp(os->name, "renderD", 7) == 0);
}

/* Adapters sit on the PCI bus; loopback, bridges and virtual ports do not. */
static bool joins_nodes(hwloc_obj_t os) {
    hwloc_obj_osdev_type_t type = os->attr->osdev.type;
    return (type == HWLOC_OBJ_OSDEV_OPENFABRICS || type == HWLOC_OBJ_OSDEV_NETWORK) &&
           pci_of(os);
}

static void look(struct node *node) {
    hwloc_topology_t t = node->topology;
    node->packages = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE);
    node->numa = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    node->cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
    node->threads = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    node->memory_B = (double)hwloc_get_root_obj(t)->total_memory;
    bool fabric = false;
    for (hwloc_obj_t os = NULL; (os = hwloc_get_next_osdev(t, os));)
        fabric |= joins_nodes(os) && os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    for (hwloc_obj_t os = NULL; (os = hwloc_get_next_osdev(t, os));) {
        if (computes(os)) add(node->gpu, &node->n_gpus, os);
        /* Where there is InfiniBand or its like, Ethernet is for administration. */
        if (joins_nodes(os) && (!fabric || os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS))
            add(node->adapter, &node->n_adapters, os);
    }
}

/* "<topology version="3.0">", of a library that reads no more than its own. */
static bool is_newer(const char *xml) {
    char head[1024];
    FILE *file = HWLOC_API_VERSION < 0x30000 ? fopen(xml, "r") : NULL;
    if (!file) return false;
    size_t n = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    head[n] = '\0';
    const char *root = strstr(head, "<topology version=\"");
    return root && strtol(root + strlen("<topology version=\""), NULL, 10) >= 3;
}

static fr_status load(const char *xml, struct node *node, struct fr_error *err) {
    if (hwloc_topology_init(&node->topology) != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, "hwloc", "cannot be started");
    hwloc_topology_set_io_types_filter(node->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (xml && access(xml, R_OK) != 0) return fr_fail(err, FR_ERR_INPUT, xml, "cannot be read");
    if (xml && is_newer(xml))
        return fr_fail(err, FR_ERR_INPUT, xml,
                       "was written by hwloc 3, which this library (hwloc %d) does not read; "
                       "write it with lstopo --export-xml-flags v2 FILE.xml",
                       HWLOC_API_VERSION >> 16);
    if ((xml && hwloc_topology_set_xml(node->topology, xml) != 0) ||
        hwloc_topology_load(node->topology) != 0)
        return fr_fail(err, xml ? FR_ERR_INPUT : FR_ERR_EXTERNAL, xml ? xml : "hwloc", "%s",
                       xml ? "is no hwloc XML file; lstopo FILE.xml writes one"
                           : "does not see this machine");
    look(node);
    return FR_OK;
}

/* ---- ranks ------------------------------------------------------------------------------------ */

static int ranks_of(const struct node *node, fr_rank_unit unit) {
    switch (unit) {
    case FR_RANK_UNIT_gpu:
        return node->n_gpus;
    case FR_RANK_UNIT_core:
        return node->cores;
    case FR_RANK_UNIT_numa:
        return node->numa;
    case FR_RANK_UNIT_package:
        return node->packages;
    default:
        return node->n_gpus ? node->n_gpus : node->cores;
    }
}

/* Ranks of each package, where all have as many; else 0. */
static int ranks_of_package(const struct node *node, fr_rank_unit unit, int ranks) {
    int each = node->packages > 1 ? ranks / node->packages : 0;
    if (each < 1 || ranks % node->packages || unit == FR_RANK_UNIT_package || each == ranks)
        return 0;
    for (int p = 0; p < node->packages; p++) {
        hwloc_obj_t package =
            hwloc_get_obj_by_type(node->topology, HWLOC_OBJ_PACKAGE, (unsigned)p);
        int inside = 0;
        if (unit == FR_RANK_UNIT_core)
            inside = hwloc_get_nbobjs_inside_cpuset_by_type(node->topology, package->cpuset,
                                                            HWLOC_OBJ_CORE);
        else if (unit == FR_RANK_UNIT_numa)
            for (int m = 0; m < node->numa; m++)
                inside += hwloc_bitmap_isincluded(
                    hwloc_get_obj_by_type(node->topology, HWLOC_OBJ_NUMANODE, (unsigned)m)
                        ->cpuset,
                    package->cpuset);
        else
            for (int g = 0; g < node->n_gpus; g++) {
                hwloc_obj_t near =
                    hwloc_get_non_io_ancestor_obj(node->topology, node->gpu[g].os);
                inside += near && hwloc_bitmap_isincluded(near->cpuset, package->cpuset);
            }
        if (inside != each) return 0;
    }
    return each;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void add_devices(struct fr_json_writer *w, const char *key, const struct found *list,
                        int n) {
    fr_json_add_array(w, key);
    for (int k = 0; k < n; k++) {
        const char *model = info(list[k].os, "GPUModel");
        if (!model) model = info(list[k].pci, "PCIDevice");
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", list[k].os->name ? list[k].os->name : "");
        if (model) fr_json_add_string(w, "model", model);
        if (list[k].pci && list[k].pci->attr->pcidev.linkspeed > 0) {
            /* A float in the file: more digits than these say nothing. */
            double rate_B_per_s = 1e6 * round(1e3 * list[k].pci->attr->pcidev.linkspeed);
            fr_json_add_quantity(w, "pci_bandwidth", rate_B_per_s, FR_QUANTITY_RATE);
        }
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* A GPU's own memory where its driver told hwloc, or a core's, package's, ... share of the node's. */
static double memory_of_rank_B(const struct node *node, bool gpus, int ranks) {
    static const char *const keys[] = {"CUDAGlobalMemorySize", "RSMIVRAMSize",
                                       "OpenCLGlobalMemorySize", "LevelZeroHBMSize"};
    if (!gpus) return node->memory_B / ranks;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *KiB = info(node->gpu[0].os, keys[k]);
        if (KiB) return 1024 * strtod(KiB, NULL);
    }
    return 0;
}

static void add_device(struct fr_json_writer *w, const struct node *node, bool gpus,
                       int ranks) {
    hwloc_obj_t package = hwloc_get_obj_by_type(node->topology, HWLOC_OBJ_PACKAGE, 0);
    const char *name = gpus ? info(node->gpu[0].os, "GPUModel") : info(package, "CPUModel");
    double memory_B = memory_of_rank_B(node, gpus, ranks);
    if (!name && gpus) name = info(node->gpu[0].pci, "PCIDevice");
    fr_json_add_object(w, "device");
    fr_json_add_string(w, "name", name ? name : "?");
    if (memory_B > 0) fr_json_add_quantity(w, "memory", memory_B, FR_QUANTITY_SIZE);
    fr_json_add_string(w, "memory_bandwidth", "?");
    fr_json_add_object(w, "gemm");
    fr_json_add_object(w, "fp32");
    fr_json_add_string(w, "peak", "?");
    fr_json_end_object(w);
    fr_json_end_object(w);
    fr_json_end_object(w);
}

static void write_node(struct fr_text *text, const struct node *node, const char *xml,
                       fr_rank_unit unit, int ranks) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    bool gpus = unit == FR_RANK_UNIT_gpu;
    int inside = ranks_of_package(node, unit, ranks);
    const char *host = info(hwloc_get_root_obj(node->topology), "HostName");
    fr_json_begin_object(&w);
    fr_file_schema_put(&w, "cluster");
    fr_json_add_string(&w, "name", host ? host : "?");
    fr_json_add_string(
        &w, "source",
        xml ? "one node as an hwloc XML file shows it; every ? is to be filled in"
            : "this node as hwloc sees it; every ? is to be filled in");
    add_device(&w, node, gpus, ranks);
    fr_json_add_array(&w, "levels");
    if (inside > 1) fr_layout_add_level(&w, "package", inside, 0, 0);
    fr_layout_add_level(&w, "node", ranks, 0, 0);
    bool even = node->n_adapters > 0 && ranks % node->n_adapters == 0;
    fr_layout_add_level(&w, "system", 0, 0, even ? ranks / node->n_adapters : 0);
    fr_json_end_array(&w);
    fr_json_add_object(&w, "calibration");
    fr_json_add_object(&w, "discovered");
    fr_json_add_string(&w, "rank", fr_rank_unit_names[unit]);
    fr_json_add_integer(&w, "packages", node->packages);
    fr_json_add_integer(&w, "numa", node->numa);
    fr_json_add_integer(&w, "cores", node->cores);
    fr_json_add_integer(&w, "threads", node->threads);
    fr_json_add_number(&w, "memory_B", node->memory_B);
    add_devices(&w, "gpus", node->gpu, node->n_gpus);
    add_devices(&w, "adapters", node->adapter, node->n_adapters);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
}

struct request {
    const char *xml;
    fr_rank_unit unit;
};

static fr_status discover(void *context, struct fr_text *text, struct fr_error *err) {
    const struct request *r = context;
    fr_rank_unit unit = r->unit;
    struct node node = {.topology = NULL};
    fr_status status = load(r->xml, &node, err);
    int ranks = status == FR_OK ? ranks_of(&node, unit) : 0;
    if (unit == FR_RANK_UNIT_auto) unit = node.n_gpus ? FR_RANK_UNIT_gpu : FR_RANK_UNIT_core;
    if (status == FR_OK && ranks < 1)
        status = fr_fail(err, FR_ERR_INPUT, r->xml ? r->xml : "hwloc", "shows no %s",
                         fr_rank_unit_names[unit]);
    if (status == FR_OK) write_node(text, &node, r->xml, unit, ranks);
    if (node.topology) hwloc_topology_destroy(node.topology);
    return status;
}

/* libhwloc believes what a file says: a topology without complete_nodeset, for one, ends it. */
fr_status fr_discover(const char *xml, fr_rank_unit unit, struct fr_text *text,
                      struct fr_error *err) {
    struct request request = {xml, unit};
    return xml ? fr_isolated(discover, &request, "libhwloc", xml, text, err)
               : discover(&request, text, err);
}
