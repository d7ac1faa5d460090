/* Read more than once, so without guard.  One row per file in answer/trainer/syntax/; the first that knows a text reads it. */
FR_SYNTAX(json)
FR_SYNTAX(dump)
FR_SYNTAX(toml)
FR_SYNTAX(flags)
FR_SYNTAX(yaml)
FR_SYNTAX(assignments)
