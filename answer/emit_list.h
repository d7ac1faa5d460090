/* Read more than once, so without guard.  One row per file in answer/emit/, in order of help. */
FR_EMITTER(megatron)
FR_EMITTER(megatron_bridge)
FR_EMITTER(torchtitan)
FR_EMITTER(deepspeed)
