/*
 * settings.c: the file settings.tsv, which says of every table in a folder how it was made. A
 * folder may hold tables of several runs; the report tells for each how to make it again.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/files.h"
#include "files/file_lock.h"
#include "runner/runner.h"

#define COLUMNS "experiment\tmode\tseed\tmeasured data\n"

static const char *mode_name(bool full, bool sabotaged)
{
    static const char *const names[] = {"quick", "full", "quick, sabotaged", "full, sabotaged"};
    return names[(sabotaged ? 2 : 0) + (full ? 1 : 0)];
}

/* What the file has; NULL: there is none. EXIT_YES, or EXIT_TROUBLE after saying why. */
static int slurp(const char *path, char **text)
{
    *text = lab_slurp(path);
    return *text != NULL || errno == ENOENT ? EXIT_YES
                                            : say_error(NULL, path, "%s", strerror(errno));
}

/* Is `word` at *at? Then *at moves behind it. */
static bool skip(const char **at, const char *word)
{
    size_t len = strlen(word);
    bool there = strncmp(*at, word, len) == 0;
    *at += there ? len : 0;
    return there;
}

static bool parse_mode(const char **at, struct lab_made *made)
{
    for (int i = 0; i < 4; i++) {
        const char *after = *at;
        made->full = (i & 1) != 0;
        made->sabotaged = (i & 2) != 0;
        if (skip(&after, mode_name(made->full, made->sabotaged)) && *after == '\t') {
            *at = after;
            return true;
        }
    }
    return false;
}

/* Is this the line of an experiment, and how was it made? */
static bool parse(const char *line, const char *name, struct lab_made *made)
{
    char *end = NULL;
    if (!skip(&line, name) || !skip(&line, "\t") || !parse_mode(&line, made) ||
        !skip(&line, "\t") || *line < '0' || *line > '9') {
        return false;
    }
    made->seed = strtoull(line, &end, 10);
    line = end;
    made->used_data = strncmp(line, "\tyes", 4) == 0;
    return skip(&line, "\tyes\n") || skip(&line, "\tno\n");
}

/* The line of an experiment, or NULL. */
static const char *line_of(const char *text, const char *name, struct lab_made *made)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (parse(line, name, made)) {
            return line;
        }
    }
    return NULL;
}

int lab_made_read(const char *folder, const char *name, struct lab_made *made)
{
    char *path = lab_path(folder, "settings", ".tsv");
    char *text = NULL;
    int code = path == NULL ? say_no_memory() : slurp(path, &text);
    bool found = text != NULL && line_of(text, name, made) != NULL;
    free(text);
    free(path);
    return code == EXIT_YES && !found ? EXIT_NO : code;
}

struct note {
    const char *before; /* the file as it is, or NULL */
    const char *name;
    struct lab_made made;
};

/* All experiments that the file knows, in the order of the papers: the same bytes in any order. */
static int print_notes(struct out *out, void *what)
{
    const struct note *note = what;
    out_text(out, COLUMNS);
    for (size_t i = 0; i < lab_paper_count; i++) {
        for (const struct lab_experiment *e = lab_papers[i].experiment; e->name != NULL; e++) {
            struct lab_made made = note->made;
            if (strcmp(e->name, note->name) == 0 ||
                (note->before != NULL && line_of(note->before, e->name, &made) != NULL)) {
                out_format(out, "%s\t%s\t%" PRIu64 "\t%s\n", e->name,
                           mode_name(made.full, made.sabotaged), made.seed,
                           made.used_data ? "yes" : "no");
            }
        }
    }
    return EXIT_YES;
}

/* Runs in one folder take turns, so that none loses what another has noted. */
int lab_made_note(const struct lab_settings *settings, const struct lab_experiment *experiment,
                  bool used_data)
{
    char *path = lab_path(settings->folder, "settings", ".tsv");
    char *before = NULL;
    struct file_lock lock = {.path = NULL};
    int code = path == NULL ? say_no_memory()
                            : file_lock_take(&lock, settings->args, path, FILE_LOCK_WAIT);
    code = code == EXIT_YES ? slurp(path, &before) : code;
    struct note note = {before,
                        experiment->name,
                        {!settings->quick, settings->sabotaged, used_data, settings->seed}};
    code = code == EXIT_YES ? lab_write(settings->args, path, print_notes, &note) : code;
    file_lock_drop(&lock);
    free(path);
    free(before);
    return code;
}
