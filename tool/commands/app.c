/* app.c: the list of applications. Which one is run, and with which options, main decides. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "cli/command.h"
#include "output/out.h"
#include "cli/say.h"
#include "cli/suggest.h"

int app_unknown(const char *subject, const char *name)
{
    struct suggest near = {.word = name};
    char hint[96];
    for (size_t i = 0; i < app_count; i++) {
        suggest_offer(&near, command_word(&apps[i]));
    }
    const char *text = suggest_text(&near, "", hint, sizeof hint);
    return say_error(NULL, subject, "unknown application %s%s", name,
                     text[0] != '\0' ? text : "; 'tepal app' lists them");
}

int app_run(const struct args *args)
{
    struct out *out = out_open(STDOUT_FILENO);
    (void)args;
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < app_count; i++) {
        out_format(out, "%-12s %s\n", command_word(&apps[i]), apps[i].summary);
    }
    return out_close(out, EXIT_YES);
}
