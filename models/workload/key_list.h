/* Rows alone, one for every key that models of all kinds have.
 *
 *  FR_KEY(name, WHAT(...), REQUIRED or OPTIONAL, TAKEN(field of struct fr_workload) or BY_CODE, "default", "help") */

FR_KEY(kind, OTHER(), REQUIRED, BY_CODE, "", "of the rows below")
FR_KEY(name, TEXT(0), OPTIONAL, BY_CODE, "file name", "for reports")
FR_KEY(source, TEXT(0), OPTIONAL, BY_CODE, "\"\"", "where the numbers come from")
FR_KEY(dtype, CHOICE(fr_dtype_names), OPTIONAL, BY_CODE, "fp32", "what products are made in")
FR_KEY(gradient_dtype, CHOICE(fr_dtype_names), OPTIONAL, BY_CODE,
       "`dtype`, of fp8 and fp4 bf16", "what gradients are added up and reduced in")
FR_KEY(weight_dtype, CHOICE(fr_dtype_names), OPTIONAL, BY_CODE, "`dtype`, of fp8 and fp4 bf16",
       "what weights are held and gathered in, no narrower than `dtype`")
FR_KEY(optimizer, CHOICE(optimizers), OPTIONAL, BY_CODE, "adam", "whose state a parameter has")
FR_KEY(optimizer_state, OTHER(), OPTIONAL, BY_CODE, "of the `optimizer`",
       "bytes of it a parameter, or `8-bit`")
FR_KEY(fp8_scaling, CHOICE(scalings), OPTIONAL, BY_CODE, "tensor",
       "a scale for a tensor of 8 bits, or for each block")
FR_KEY(attention_dtype, CHOICE(narrow_words), OPTIONAL, BY_CODE, "bf16",
       "what fused attention computes in, where `dtype` is fp8 or fp4")
FR_KEY(logits_dtype, CHOICE(narrow_words), OPTIONAL, BY_CODE, "bf16",
       "what the product of logits is made in, likewise")
FR_KEY(global_batch, INTEGER(1, (int64_t)1 << 40), OPTIONAL, TAKEN(global_batch), "256",
       "samples of an iteration, where the plan does not say")
FR_KEY(samples, INTEGER(1, (int64_t)1 << 60), OPTIONAL, TAKEN(samples), "none",
       "of the training set, an epoch")
FR_KEY(iterations, OTHER(), OPTIONAL, BY_CODE, "none", "to the loss: a table or a file of one")
FR_KEY(layer_profile, OTHER(), OPTIONAL, BY_CODE, "none", "measured layers of a transformer")
FR_KEY(aliases, OTHER(), OPTIONAL, BY_CODE, "none", "names under which published files know it")
FR_KEY(micro_batch, OTHER(), OPTIONAL, BY_CODE, "1",
       "samples of a micro-batch, where the plan does not say, or `all`")
FR_KEY(defaults, OTHER(), OPTIONAL, BY_CODE, "2019",
       "what plans start from: `2019` or `modern`")
