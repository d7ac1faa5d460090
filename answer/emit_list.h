/* Read more than once, so without guard.  Rows alone, in order of help: what each is called stands in
 * answer/emit/frameworks.c, its options in answer/emit/option_table.c. */
FR_EMITTER(megatron)
FR_EMITTER(megatron_bridge)
FR_EMITTER(torchtitan)
FR_EMITTER(deepspeed)
