/** @file
 *  Keys that a file may have, by its schema: those that completion offers where no file names them. */
#ifndef FR_APP_INPUTS_SCHEMA_KEYS_H
#define FR_APP_INPUTS_SCHEMA_KEYS_H

/** Call @p key with the path of each value that a file of @p kind may hold, "cluster.device.launch", and what its schema says of
 *  it.  Arrays of objects have the places 0 to @p rows - 1.  Nothing is called for a kind without schema. */
void fr_schema_keys(const char *kind, int rows,
                    void (*key)(void *context, const char *path, const char *what),
                    void *context);

#endif
