/*
 * packets_fuzz.c: the reader of packets, fed with any bytes: as lines, as a capture, and, where the
 * first byte says so, as one frame of a link type. What it accepts must keep the promises of
 * packets.h, and a line that is refused must leave the packets as they were.
 */
#include <math.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/packets.h"
#include "fail.h"
#include "must.h"

static void check(struct packets *p)
{
    packets_sort(p);
    for (size_t i = 0; i < p->count; i++) {
        MUST(p->packet[i].flow < p->flows);
        MUST(isfinite(p->packet[i].t));
        MUST(i == 0 || p->packet[i - 1].t <= p->packet[i].t);
    }
    MUST(p->flows <= p->count);
}

static void read_lines(struct packets *p, const uint8_t *data, size_t size)
{
    struct packets_file file;
    packets_begin(&file);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        size_t before = p->count;
        /* A copy of its own, so that reading past the line is noticed. */
        char *exact = must_copy(data, len);
        const char *why = packets_line(p, &file, exact, len);
        MUST(why == NULL ? p->count <= before + 1 : p->count == before && why[0] != '\0');
        free(exact);
        data += end == NULL ? len : len + 1;
        size -= end == NULL ? len : len + 1;
    }
}

static void read_capture(struct packets *p, const uint8_t *data, size_t size)
{
    char why[PCAP_ERRBUF_SIZE + 64];
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "rb");
    MUST(stream != NULL);
    const char *wrong = packets_capture(p, stream, why, sizeof why);
    MUST(wrong == NULL || wrong[0] != '\0');
}

/* From files, lines or a capture; two of them, so that what is wrong with one is passed over. */
static void read_files(void *context)
{
    const char *const paths[] = {context, context};
    for (size_t files = 1; files <= 2; files++) {
        struct packets p;
        packets_init(&p, 1, false);
        if (packets_read(&p, paths, files) == 0) {
            check(&p);
        }
        packets_free(&p);
    }
}

static void check_files(const uint8_t *data, size_t size)
{
    char path[MUST_PATH];
    int fd = must_file(data, size, path);
    read_files(path);
    if (size % 8 == 0) {
        fail_each(read_files, path);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int links[] = {DLT_EN10MB,     DLT_RAW,  DLT_LINUX_SLL,
                                DLT_LINUX_SLL2, DLT_NULL, DLT_IPV6};
    struct packets p;
    packets_init(&p, 1, size % 2 == 0);
    if (size > 4 && (data[0] == 0xd4 || data[0] == 0xa1 || data[0] == 0x0a || data[0] == 0x4d)) {
        read_capture(&p, data, size);
    } else if (size > 1 && data[0] < sizeof links / sizeof *links) {
        uint8_t *exact = must_copy(data + 1, size - 1);
        MUST(packets_frame(&p, links[data[0]], 1, exact, size - 1) == NULL);
        MUST(p.count + p.truncated + p.other == 1);
        free(exact);
    } else {
        read_lines(&p, data, size);
    }
    check(&p);
    packets_free(&p);
    check_files(data, size);
    return 0;
}
