/* inside.h: what the lab's own files share and experiments do not see. */
#ifndef LAB_INSIDE_H
#define LAB_INSIDE_H

#include "cli/command.h"
#include "lab.h"
#include "files/atomic_file.h"

struct lab {
    const struct args *args;
    const struct lab_experiment *experiment;
    const char *folder;
    bool quick;
    bool sabotaged;
    uint64_t random[2];
    char *rows; /* the TSV, written when all of it is there */
    size_t used;
    size_t room;
    unsigned charts;
    bool used_data; /* it looked into the folder with measured data */
    int code;       /* EXIT_TROUBLE once a file could not be written */
};

struct lab_settings {
    const struct args *args;
    const char *folder;
    bool quick;
    bool sabotaged;
    uint64_t seed;
    unsigned jobs;
    bool progress;
};

#define LAB_COLUMNS "experiment\titem\tpublished\tours\tlow\thigh\tverdict"

/*
 * Run one experiment in this process; its files are in place when it returns EXIT_YES. used_data:
 * did it look into the folder with measured data?
 */
int lab_do(const struct lab_settings *settings, const struct lab_experiment *experiment,
           bool *used_data);

/* Run them all, several at once, and print their tables. EXIT_NO if a verdict is `differs`. */
int lab_run_all(const struct lab_settings *settings, const struct lab_experiment *const *list,
                size_t count);

/* A table that was written: rows[i][j] is column j of row i, all pointing into `text`. */
enum { LAB_EXPERIMENT, LAB_ITEM, LAB_PUBLISHED, LAB_OURS, LAB_LOW, LAB_HIGH, LAB_SAYS, LAB_WIDTH };
struct lab_table {
    char *text;
    const char *(*row)[LAB_WIDTH];
    size_t rows;
};

/* Read FOLDER/NAME.tsv. EXIT_YES; EXIT_NO if it is not there; EXIT_TROUBLE after saying why. */
int lab_table_read(struct lab_table *table, const char *folder, const char *name);
void lab_table_free(struct lab_table *table);

/* FOLDER/NAME + ending, in heap memory; NULL without memory. */
char *lab_path(const char *folder, const char *name, const char *ending);

/* The whole file, with a NUL after it; NULL with errno set. Files of more than 64 MiB: EFBIG. */
char *lab_slurp(const char *path);

/*
 * A file by `print`, which returns EXIT_YES or says why not. It takes its name when it is whole,
 * and signals wait until then: who interrupts a run finds no half files and no temporary ones.
 */
int lab_write(const struct args *args, const char *path, int (*print)(struct out *out, void *what),
              void *what);

/* How the table of an experiment was made. */
struct lab_made {
    bool full;
    bool sabotaged;
    bool used_data;
    uint64_t seed;
};

/* Note it in FOLDER/settings.tsv, a line for each experiment. */
int lab_made_note(const struct lab_settings *settings, const struct lab_experiment *experiment,
                  bool used_data);

/* How FOLDER/NAME.tsv was made. False: nobody noted it. */
bool lab_made_read(const char *folder, const char *name, struct lab_made *made);

/* FOLDER/report.html from what is in the folder. */
int lab_report(const struct args *args, const char *folder, const char *output);

#endif
