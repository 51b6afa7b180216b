/*
 * lab_fuzz.c: tables of the lab, read back from any bytes. What is taken has its rows, and every
 * column of them lies within the text.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "experiment/files.h"
#include "experiment/state.h"
#include "fail.h"
#include "must.h"
#include "runner/runner.h"

static void read_failing(void *name)
{
    struct lab_table table;
    (void)lab_table_read(&table, "/tmp", name);
    lab_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[64];
    static char path[128];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/tepal-lab-fuzz-%ld", (long)getpid());
        snprintf(path, sizeof path, "%s.tsv", folder);
    }
    FILE *file = fopen(path, "wb");
    MUST(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    struct lab_table table;
    char *name = strrchr(folder, '/') + 1;
    int code = lab_table_read(&table, "/tmp", name);
    fail_each(read_failing, name);
    unlink(path);
    MUST(code == EXIT_YES || code == EXIT_TROUBLE);
    MUST(code == EXIT_YES || (table.text == NULL && table.row == NULL && table.rows == 0));
    for (size_t i = 0; i < table.rows; i++) {
        for (size_t j = 0; j < LAB_WIDTH; j++) {
            const char *column = table.row[i][j];
            MUST(column >= table.text && column + strlen(column) <= table.text + size);
            MUST(strpbrk(column, "\t\n") == NULL);
        }
    }
    lab_table_free(&table);
    return 0;
}
