/* inside.h: what the lab's own files share and experiments do not see. */
#ifndef LAB_INSIDE_H
#define LAB_INSIDE_H

#include "command.h"
#include "lab.h"
#include "side.h"

struct lab {
    const struct args *args;
    const struct lab_experiment *experiment;
    const char *folder;
    bool quick;
    bool sabotaged;
    uint64_t random[2];
    struct side table; /* the TSV */
    unsigned charts;
    int code; /* EXIT_TROUBLE once a file could not be written */
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

/* Run one experiment in this process; its files are in place when it returns EXIT_YES. */
int lab_do(const struct lab_settings *settings, const struct lab_experiment *experiment);

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

/* FOLDER/report.html from what is in the folder. */
int lab_report(const struct args *args, const char *folder, const char *output);

#endif
