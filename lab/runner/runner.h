/* runner.h: running experiments, and the tables, notes and pages made of them. */
#ifndef LAB_RUNNER_RUNNER_H
#define LAB_RUNNER_RUNNER_H

#include "cli/command.h"
#include "experiment/lab.h"

struct lab_settings {
    const struct args *args;
    const char *folder;
    bool quick;
    bool sabotaged;
    uint64_t seed;
    unsigned jobs;
    bool progress;
};

/* Run them all, several at once, and print their tables. EXIT_NO if a verdict is `differs`. */
int lab_run_all(const struct lab_settings *settings, const struct lab_experiment *const *list,
                size_t count);

/* A table that was written: rows[i][j] is column j of row i, all pointing into `text`. */
enum {
    LAB_EXPERIMENT,
    LAB_ITEM,
    LAB_PUBLISHED,
    LAB_OURS,
    LAB_LOW,
    LAB_HIGH,
    LAB_SAYS,
    LAB_RIGHT,
    LAB_SOURCE,
    LAB_REASON,
    LAB_WIDTH
};
struct lab_table {
    char *text;
    const char *(*row)[LAB_WIDTH];
    size_t rows;
};

/* Read FOLDER/NAME.tsv. EXIT_YES; EXIT_NO if it is not there; EXIT_TROUBLE after saying why. */
int lab_table_read(struct lab_table *table, const char *folder, const char *name);
void lab_table_free(struct lab_table *table);

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

/* How FOLDER/NAME.tsv was made. EXIT_NO: nobody noted it; EXIT_TROUBLE after saying why. */
int lab_made_read(const char *folder, const char *name, struct lab_made *made);

/* FOLDER/report.html from what is in the folder. */
int lab_report(const struct args *args, const char *folder, const char *output);

#endif
