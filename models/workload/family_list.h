/* Read more than once, so without guard.  One row per file in models/workload/family/. */
FR_FAMILY(gpt2)
FR_FAMILY(llama)
FR_FAMILY(mistral)
FR_FAMILY(qwen2)
FR_FAMILY(qwen3)
