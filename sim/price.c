#include "sim/price.h"

#include <math.h>

#include "models/price/clock.h"

_Static_assert(FR_WITH_LAUNCH == 1 << (FR_PRICE_LAUNCH - 1) &&
                   FR_WITH_OFFLOAD == 1 << (FR_PRICE_OFFLOAD - 1),
               "parts follow the bits");

static void price_pass(const struct fr_pass *pass, double share, double *part_s) {
    part_s[FR_PRICE_ALWAYS] += share * pass->compute_s;
    part_s[FR_PRICE_LAUNCH] += share * pass->launch_s;
    part_s[FR_PRICE_TP] += share * pass->tp_s;
    part_s[FR_PRICE_CP] += share * pass->cp_s;
    part_s[FR_PRICE_EP] += share * pass->ep_s;
    part_s[FR_PRICE_GRADIENTS] += share * pass->dp_s;
    part_s[FR_PRICE_OFFLOAD] += share * pass->host_s;
    part_s[FR_PRICE_MESSAGES] += share * pass->pp_s;
}

static const struct fr_stage *below_of(const struct fr_pipeline *p, int32_t i) {
    return &p->stage[(i + p->args.stages - 1) % p->args.stages];
}

/* A message up and one down at once last as long as the longer.  A gradient that meets an activation is of
 * no epilogue: it goes compressed where all do. */
static void price_exchange(const struct fr_pipeline *p, const struct fr_stage *stage,
                           struct fr_class_price *price) {
    bool both = stage->small_forward_B > 0 && p->scope == FR_SCOPE_ALL && !stage->sends_whole;
    price->part_s[FR_PRICE_MESSAGES] =
        both ? fmax(stage->small_forward_s, stage->small_message_s) : stage->message_s;
    price->size_B =
        both ? fmax(stage->small_forward_B, stage->small_message_B) : stage->message_B;
}

static void price_class(const struct fr_pipeline *p, const struct fr_task_class *class,
                        struct fr_class_price *price) {
    struct fr_stage clocked = p->stage[class->stage];
    const struct fr_stage *stage = &clocked;
    if (class->clock)
        fr_clock_set(p->device, fr_device_clock_at(&p->device->clock, class->clock - 1),
                     &clocked);
    double buckets = class->part ? fmax(1, stage->buckets) : 1,
           share = 1 / (p->args.chunks * buckets), *part_s = price->part_s;
    bool pass = class->kind == FR_TASK_FORWARD || class->kind == FR_TASK_BACKWARD ||
                class->kind == FR_TASK_WEIGHT;
    *price = (struct fr_class_price){.waiting = pass ? stage->idle_share : 0};
    switch (class->kind) {
    case FR_TASK_FORWARD:
        price_pass(&stage->forward, share, part_s);
        break;
    case FR_TASK_BACKWARD:
        price_pass(&stage->backward, share, part_s);
        price->again_s = stage->again_s / p->args.chunks;
        if (p->splits_backward) price_pass(&stage->weight, -share, part_s);
        break;
    case FR_TASK_WEIGHT:
        price_pass(&stage->weight, share, part_s);
        break;
    case FR_TASK_FORWARD_MESSAGE:
    case FR_TASK_BACKWARD_MESSAGE:
        part_s[FR_PRICE_MESSAGES] = stage->message_s;
        price->size_B = stage->message_B;
        break;
    case FR_TASK_EXCHANGE:
        price_exchange(p, stage, price);
        break;
    case FR_TASK_COMPRESSED_FORWARD:
        part_s[FR_PRICE_MESSAGES] = stage->small_forward_s;
        price->size_B = stage->small_forward_B;
        break;
    case FR_TASK_COMPRESSED_MESSAGE:
        part_s[FR_PRICE_MESSAGES] = stage->small_message_s;
        price->size_B = stage->small_message_B;
        break;
    case FR_TASK_GRADIENT:
        part_s[FR_PRICE_GRADIENTS] = class->part ? stage->bucket_s : stage->gradient_s;
        part_s[FR_PRICE_CODEC] = stage->gradient_codec_s;
        price->size_B = class->part ? share * fr_stage_all_reduced_B(stage)
                                    : fr_stage_all_reduced_B(stage) + stage->coded_B;
        break;
    case FR_TASK_COMPRESS: /* for the stage below */
        part_s[FR_PRICE_CODEC] = below_of(p, class->stage)->encode_s;
        break;
    case FR_TASK_DECOMPRESS:
        part_s[FR_PRICE_CODEC] = stage->decode_s;
        break;
    case FR_TASK_FORWARD_COMPRESS:
        part_s[FR_PRICE_CODEC] = stage->forward_encode_s;
        break;
    case FR_TASK_FORWARD_DECOMPRESS: /* of the stage below */
        part_s[FR_PRICE_CODEC] = below_of(p, class->stage)->forward_decode_s;
        break;
    case FR_TASK_EMBEDDING:
        part_s[FR_PRICE_EMBEDDING] = p->embedding_s;
        break;
    case FR_TASK_OPTIMIZER:
        part_s[FR_PRICE_ALWAYS] = stage->optimizer_s;
        part_s[FR_PRICE_GRADIENTS] = stage->beside_s;
        part_s[FR_PRICE_OFFLOAD] = stage->offload_s;
        break;
    default:
        break;
    }
}

void fr_price_pipeline(const struct fr_pipeline *p, const struct fr_program *program,
                       struct fr_class_price *price) {
    for (int32_t c = 0; c < program->n_classes; c++)
        price_class(p, &program->classes[c], &price[c]);
}

/* t(with) = always + sum of the parts that `with` names, so a class is priced once for every choice of parts. */
static double price_s(const struct fr_class_price *price, int with) {
    double time_s = price->part_s[FR_PRICE_ALWAYS];
    for (int k = 1; k < FR_PRICE_PARTS; k++)
        if (with >> (k - 1) & 1) time_s += price->part_s[k];
    return time_s;
}

void fr_price_with(const struct fr_class_price *price, int32_t n, int with, double *class_s) {
    for (int32_t c = 0; c < n; c++) class_s[c] = price_s(&price[c], with);
}

void fr_price_classes(const struct fr_pipeline *p, const struct fr_program *program, int with,
                      double *class_s) {
    for (int32_t c = 0; c < program->n_classes; c++) {
        struct fr_class_price price;
        price_class(p, &program->classes[c], &price);
        class_s[c] = price_s(&price, with);
    }
}
