/** @file
 *  Another program: found, started, listened to, waited for.
 *
 *  The one way to start one (tests/repo/processes.sh), without a shell: words reach it as they are.
 *  It gets the three streams that are named here and no other descriptor.  Signals that we handle
 *  have their usual meaning in it.  Signals that we ignore stay ignored (as nohup wants), except
 *  SIGPIPE.  It does not outlive us: the kernel ends it with the thread that started it, and a
 *  signal that ends us ends it before temporary files go (base/temporary.h). */
#ifndef FR_BASE_PROCESS_H
#define FR_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/text.h"

enum { FR_PROCESS_PATH_B = 4096, FR_PROCESS_TEXT_B = 1 << 20, FR_ENDED_B = 64 };

/** Where a stream of it leads.  All zero: /dev/null. */
struct fr_process_stream {
    bool inherited;       /**< to where ours leads */
    const char *file;     /**< read, or written anew */
    struct fr_text *text; /**< of output: appended here */
};

struct fr_process {
    const char *const *words; /**< NULL-terminated; the first is looked for in PATH unless it
                                       has a slash */
    const char *package; /**< Debian's, for the message that it is not installed; or NULL */
    const char *const
        *variables;     /**< "NAME=value" over our environment, NULL-terminated; or NULL */
    const char *folder; /**< that it works in; NULL: ours */
    struct fr_process_stream in, out, err;
    size_t text_B;  /**< of a text: the rest is read and dropped; 0: FR_PROCESS_TEXT_B */
    double limit_s; /**< after it the program and what it started are killed; 0: none */
    int parting;    /**< signal it gets when we die, and then it is on its own; 0: SIGKILL */
    /** Called after the start and whenever a signal has come, and every 20 ms while it returns
     *  true.  NULL: nobody looks. */
    bool (*watch)(void *context, pid_t child);
    /** The child runs this instead of becoming another program, as base/isolated.h wants. */
    void (*body)(void *context);
    void *context;
};

struct fr_ended {
    int code;   /**< exit code; -1: a signal ended it */
    int signal; /**< that signal; 0: none */
    bool late;  /**< it took longer than its limit_s */
};

/** Start @p p and wait for its end.
 *  @param[out] ended  how it ended, whatever way; NULL: any other end than exit code 0 is an error
 *  @return FR_OK; FR_ERR_EXTERNAL, FR_ERR_IO or FR_ERR_NOMEM when it could not be started. */
fr_status fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                         struct fr_error *err);

/** A descriptor that stands for process @p pid, whoever has that number later; -1 where the kernel knows none. */
int fr_process_descriptor(pid_t pid);

/** Leave a process behind that kills what @p descriptor stands for, @p grace_s from now, unless it has ended by then.
 *  For one that is about to end, and whose launcher may hang.  Total: where it cannot be done nothing is. */
void fr_process_leave_killer(int descriptor, double grace_s);

/** "ended with exit code 3", "was killed by SIGKILL", "took too long and was ended".
 *  @return @p words */
const char *fr_ended_words(const struct fr_ended *ended, char words[FR_ENDED_B]);

/** Find a program in PATH.  @param[out] path  its absolute path; NULL: not wanted */
bool fr_process_find(const char *name, char path[FR_PROCESS_PATH_B]);

/** The path of @p name beside the program that runs now.  @return true when that can be run. */
bool fr_process_beside(const char *name, char path[FR_PROCESS_PATH_B]);

#endif
