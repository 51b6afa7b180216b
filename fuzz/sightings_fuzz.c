/*
 * sightings_fuzz.c: the reader of what monitors of a stop set send, fed with any lines. What it
 * accepts must keep the promises of sightings.h, and a line that is refused must change nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "readers/lines.h"
#include "stopset/sightings.h"
#include "fail.h"
#include "must.h"

static double sum(const struct sightings *s)
{
    double all = 0;
    for (uint32_t i = 0; i < s->nodes; i++) {
        MUST(s->ends[i] >= 0 && s->ends[i] <= s->passes[i] * (1 + 1e-9) && isfinite(s->passes[i]));
        all += s->passes[i];
    }
    return all;
}

static const char *again_line(void *reader, const char *text, size_t len)
{
    return sightings_line(reader, text, len);
}

/* Written and read again they are the same, up to the ten digits of a number. */
static void check_written(const struct sightings *s, const struct names *nodes)
{
    struct names names = {.count = 0};
    struct sightings again = {.nodes = 0};
    struct sightings_reader r = {.nodes = &names, .into = &again};
    char path[MUST_PATH];
    int fd = must_file("", 0, path);
    struct out *out = out_open(fd);
    MUST(out != NULL);
    sightings_write(s, nodes, out);
    MUST(out_close(out, 0) == 0);
    MUST(lines_read(path, again_line, &r) == 0);
    MUST(fabs(sum(s) - sum(&again)) <= 1e-9 * sum(s));
    names_free(&names);
    sightings_free(&again);
    close(fd);
}

/* The lines from a file. */
static void read_file(void *path)
{
    struct names names = {.count = 0};
    struct sightings s = {.nodes = 0};
    struct sightings copy = {.nodes = 0};
    struct sightings_reader r = {.nodes = &names, .into = &s};
    if (lines_read(path, again_line, &r) == 0 && sightings_copy(&copy, &s)) {
        MUST(sum(&copy) == sum(&s));
    }
    names_free(&names);
    sightings_free(&s);
    sightings_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct names nodes = {.count = 0};
    struct sightings s = {.nodes = 0};
    struct sightings_reader r = {.nodes = &nodes, .into = &s};
    if (size % 8 == 0) {
        char path[MUST_PATH];
        int fd = must_file(data, size, path);
        fail_each(read_file, path);
        close(fd);
    }
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        double before = sum(&s);
        uint64_t lines = r.lines;
        /* A copy of its own, so that reading past the line is noticed. */
        char *line = must_copy(data, len);
        const char *why = sightings_line(&r, line, len);
        free(line);
        if (why != NULL) {
            MUST(why[0] != '\0' && strlen(why) < sizeof r.why);
            MUST(sum(&s) == before && r.lines == lines);
        }
        data += end == NULL ? len : len + 1;
        size -= end == NULL ? len : len + 1;
    }
    check_written(&s, &nodes);
    MUST(s.nodes <= nodes.count && sightings_members(&s) <= s.nodes);
    names_free(&nodes);
    sightings_free(&s);
    return 0;
}
