/* table.c: tables that were written, read back. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/files.h"
#include "experiment/state.h"
#include "runner/runner.h"

/* Cut a line into its columns. False: there are fewer or more. */
static bool cut(char *line, const char *column[LAB_WIDTH])
{
    for (int i = 0; i < LAB_WIDTH; i++) {
        char *tab = strchr(line, '\t');
        column[i] = line;
        if ((tab == NULL) != (i == LAB_WIDTH - 1)) {
            return false;
        }
        if (tab != NULL) {
            *tab = '\0';
            line = tab + 1;
        }
    }
    return true;
}

static size_t lines_of(const char *text)
{
    size_t lines = 1;
    for (; (text = strchr(text, '\n')) != NULL; text++) {
        lines++;
    }
    return lines;
}

static int parse(struct lab_table *table, const char *path)
{
    table->row = calloc(lines_of(table->text), sizeof *table->row);
    if (table->row == NULL) {
        return say_no_memory();
    }
    char *line = table->text;
    for (size_t number = 1; *line != '\0'; number++) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        if (number == 1 && strcmp(line, LAB_COLUMNS) != 0) {
            return say_error(NULL, path, "not a table written by tepal lab: its header differs");
        }
        if (number > 1 && !cut(line, table->row[table->rows++])) {
            return say_error(NULL, path, "line %zu: %d columns are needed", number, LAB_WIDTH);
        }
        line = end == NULL ? line + strlen(line) : end + 1;
    }
    return EXIT_YES;
}

int lab_table_read(struct lab_table *table, const char *folder, const char *name)
{
    memset(table, 0, sizeof *table);
    char *path = lab_path(folder, name, ".tsv");
    if (path == NULL) {
        return say_no_memory();
    }
    table->text = lab_slurp(path);
    int code;
    if (table->text == NULL) {
        code = errno == ENOENT ? EXIT_NO : say_error(NULL, path, "%s", strerror(errno));
    } else {
        code = parse(table, path);
    }
    if (code == EXIT_TROUBLE) {
        lab_table_free(table);
    }
    free(path);
    return code;
}

void lab_table_free(struct lab_table *table)
{
    free(table->text);
    free((void *)table->row);
    memset(table, 0, sizeof *table);
}
