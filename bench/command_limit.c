/*
 * command_limit.c: the library's share of the command's work, for bench/command.sh. Arguments: a
 * filter and the file of keys it was built from. The keys are mapped and split into lines first;
 * then hashing and adding all of them to an empty filter with the same parameters is timed, and
 * hashing and asking for all of them. Prints two lines: add or query, a tab, and seconds.
 *
 * With --move and a filter: the seconds that saving and loading it take, and those of write and
 * fsync and of read alone, in a line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tepal/tepal.h>

#define BATCH 2048 /* as the command does */

struct line {
    const char *text;
    size_t len;
};

static void *must(void *p, const char *what)
{
    if (p == NULL || p == MAP_FAILED) {
        fprintf(stderr, "tepal_command_limit: %s\n", what);
        exit(2);
    }
    return p;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct line *split(const char *path, size_t *count)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0) {
        must(NULL, "cannot read the keys");
    }
    const char *at =
        must(mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0),
             "cannot map the keys");
    const char *end = at + about.st_size;
    size_t room = (size_t)about.st_size / 8 + 1;
    struct line *lines = must(malloc(room * sizeof *lines), "out of memory");
    for (*count = 0; at < end && *count < room; (*count)++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        newline = newline == NULL ? end : newline;
        lines[*count] = (struct line){at, (size_t)(newline - at)};
        at = newline + 1;
    }
    close(fd);
    return lines;
}

/* Hash and add (answers NULL) or ask for all keys; seconds. */
static double run(struct tepal_filter *filter, const struct line *lines, size_t count,
                  uint64_t *answers, size_t *present)
{
    static struct tepal_digest digests[BATCH];
    struct tepal_hasher hasher;
    double start = now();
    if (tepal_filter_hasher(filter, &hasher) != TEPAL_OK) {
        must(NULL, "the filter has a secret key");
    }
    for (size_t done = 0; done < count; done += BATCH) {
        size_t n = count - done < BATCH ? count - done : BATCH;
        for (size_t i = 0; i < n; i++) {
            digests[i] = tepal_hash_bytes(&hasher, lines[done + i].text, lines[done + i].len);
        }
        if (answers != NULL) {
            *present += tepal_filter_query_many(filter, digests, n, answers);
        } else if (tepal_filter_add_many(filter, digests, n) != TEPAL_OK) {
            must(NULL, "cannot add");
        }
    }
    return now() - start;
}

#define HUGE_PAGE ((size_t)2 << 20)

/* read(2) of a whole file into fresh memory, as loading has it. */
static double read_alone(const char *path, void **bytes, size_t *len)
{
    struct stat about;
    double start = now();
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0) {
        must(NULL, "cannot open the filter");
    }
    *len = (size_t)about.st_size;
    size_t room = (*len + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    *bytes = must(aligned_alloc(HUGE_PAGE, room), "out of memory");
    (void)madvise(*bytes, room, MADV_HUGEPAGE);
    for (size_t at = 0; at < *len;) {
        ssize_t n = read(fd, (char *)*bytes + at, *len - at);
        if (n <= 0) {
            must(NULL, "cannot read the filter");
        }
        at += (size_t)n;
    }
    close(fd);
    return now() - start;
}

/* write(2) and fsync(2) of the same bytes. */
static double write_alone(const char *path, const void *bytes, size_t len)
{
    double start = now();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || fsync(fd) != 0 || close(fd) != 0) {
        must(NULL, "cannot write");
    }
    return now() - start;
}

static int move(const char *path)
{
    struct tepal_filter *filter;
    void *bytes;
    size_t len;
    double start = now();
    if (tepal_load(path, NULL, &filter, NULL) != TEPAL_OK) {
        must(NULL, "cannot load the filter");
    }
    double load = now() - start;
    start = now();
    if (tepal_save(filter, "moved.tepal", NULL) != TEPAL_OK) {
        must(NULL, "cannot save the filter");
    }
    double save = now() - start;
    tepal_filter_free(filter);
    double reading = read_alone(path, &bytes, &len);
    double writing = write_alone("written.tepal", bytes, len);
    printf("%.6f %.6f %.6f %.6f\n", save, load, writing, reading);
    free(bytes);
    unlink("moved.tepal");
    unlink("written.tepal");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--move") == 0) {
        return move(argv[2]);
    }
    struct tepal_filter *model;
    struct tepal_filter *filter;
    uint64_t answers[BATCH / 64];
    size_t count = 0;
    size_t present = 0;
    if (argc != 3 || tepal_load(argv[1], NULL, &model, NULL) != TEPAL_OK ||
        tepal_filter_create(tepal_filter_params(model), NULL, &filter, NULL) != TEPAL_OK) {
        must(NULL, "two arguments are needed: a filter, and a file of keys");
    }
    struct line *lines = split(argv[2], &count);
    double add = run(filter, lines, count, NULL, NULL);
    double query = run(filter, lines, count, answers, &present);
    if (present != count) {
        must(NULL, "a key that was added is not found");
    }
    printf("add\t%.6f\nquery\t%.6f\n", add, query);
    free(lines);
    tepal_filter_free(filter);
    tepal_filter_free(model);
    return 0;
}
