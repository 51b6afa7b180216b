/* table.c: the lab's files: written whole or not at all, and tables read back. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"

#define MOST_BYTES ((size_t)64 << 20)

char *lab_path(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s%s", folder, name, ending);
    }
    return path;
}

static int write_held(const struct args *args, const char *path,
                      int (*print)(struct out *out, void *what), void *what)
{
    struct atomic_file side = {0};
    int code = atomic_file_open(&side, args, path);
    code = code == EXIT_YES ? print(side.out, what) : code;
    code = code == EXIT_YES ? atomic_file_finish(&side, args) : code;
    code = code == EXIT_YES ? atomic_file_commit(&side, args) : code;
    atomic_file_free(&side);
    return code;
}

int lab_write(const struct args *args, const char *path, int (*print)(struct out *out, void *what),
              void *what)
{
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &before);
    int code = write_held(args, path, print, what);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

static char *read_open(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return NULL;
    }
    if (!S_ISREG(about.st_mode) || (uintmax_t)about.st_size > MOST_BYTES) {
        errno = S_ISREG(about.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    size_t size = (size_t)about.st_size;
    size_t used = 0;
    char *text = malloc(size + 1);
    ssize_t got = 1;
    while (text != NULL && used < size && got != 0) {
        got = read(fd, text + used, size - used);
        if (got < 0 && errno != EINTR) {
            free(text);
            return NULL;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    if (text != NULL) {
        text[used] = '\0';
    }
    return text;
}

char *lab_slurp(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        return NULL;
    }
    char *text = read_open(fd);
    int error = errno;
    close(fd);
    errno = error;
    return text;
}

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
        return say_error(NULL, NULL, "out of memory");
    }
    char *line = table->text;
    for (size_t number = 1; *line != '\0'; number++) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        if (number == 1 && strcmp(line, LAB_COLUMNS) != 0) {
            return say_error(NULL, path, "not a table of the lab: its first line is another");
        }
        if (number > 1 && !cut(line, table->row[table->rows++])) {
            return say_error(NULL, path, "line %zu: not %d columns", number, LAB_WIDTH);
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
        return say_error(NULL, NULL, "out of memory");
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
