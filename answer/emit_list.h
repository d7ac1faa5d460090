/* Read more than once, so without guard.  Rows alone, in order of help.  A row is a file in
 * answer/emit/framework/, or stands in answer/emit/frameworks.c with its options in answer/emit/option_table.c. */
FR_EMITTER(megatron)
FR_EMITTER(megatron_bridge)
FR_EMITTER(torchtitan)
FR_EMITTER(deepspeed)
FR_EMITTER(nanotron)
FR_EMITTER(maxtext)
FR_EMITTER(primus)
