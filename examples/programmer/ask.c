/* Any command that answers, with its words: here a collective over 64 GPUs of two clusters.
 *     cc ask.c $(pkg-config --cflags --libs forerun) -o ask && ./ask */
#include <forerun.h>
#include <stdio.h>

int main(void) {
    static const char *const clusters[] = {"dgx-h100", "dgx-a100"};
    for (int i = 0; i < 2; i++) {
        const char *words[] = {"--cluster",  clusters[i],    "--op=all_reduce",
                               "--ranks=64", "--size=64MiB", "--csv",
                               NULL};
        forerun_result *result = NULL;
        forerun_error error;
        if (forerun_ask("collective", words, &result, &error) != FORERUN_OK)
            return fprintf(stderr, "%s\n", error.message), 1;
        printf("%s\n%s", clusters[i], forerun_text(result)); /* without --csv: forerun_json */
        forerun_result_free(result);
    }
    for (size_t i = 0; forerun_verb(i); i++) printf("%s ", forerun_verb(i));
    puts("");
    return 0;
}
