/*
 * packets.c: lines and captured frames to packets. Every length is checked against what was
 * captured before a byte is looked at; a line is kept whole or not at all.
 */
#define _GNU_SOURCE
#include "readers/packets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/say.h"
#include "input/source.h"
#include "readers/frames.h"
#include "readers/lines.h"
#include "shared/grow.h"
#include "system/late.h"

#define FIELDS 32

/* ---- keeping packets ------------------------------------------------------------------------- */

void packets_init(struct packets *p, uint64_t seed, bool one_way)
{
    memset(p, 0, sizeof *p);
    p->one_way = one_way;
    tepal_hasher_init(seed, &p->hasher);
}

void packets_free(struct packets *p)
{
    free(p->packet);
    free(p->flow);
    free(p->index);
    memset(p, 0, sizeof *p);
}

/* The smaller end first, so that both directions are one flow. */
static struct tepal_digest digest_of(const struct packets *p, const struct tuple *t)
{
    bool swap = !p->one_way && memcmp(&t->from, &t->to, sizeof t->from) > 0;
    uint8_t bytes[1 + 2 * sizeof(struct end)];
    bytes[0] = t->proto;
    memcpy(bytes + 1, swap ? &t->to : &t->from, sizeof(struct end));
    memcpy(bytes + 1 + sizeof(struct end), swap ? &t->from : &t->to, sizeof(struct end));
    return tepal_hash_bytes(&p->hasher, bytes, sizeof bytes);
}

static size_t seek(const struct packets *p, struct tepal_digest d)
{
    size_t at = (size_t)(d.lo & (p->index_room - 1));
    while (p->index[at] != 0 &&
           (p->flow[p->index[at] - 1].lo != d.lo || p->flow[p->index[at] - 1].hi != d.hi)) {
        at = (at + 1) & (p->index_room - 1);
    }
    return at;
}

static bool grow_index(struct packets *p)
{
    size_t room = p->index_room == 0 ? 4096 : p->index_room * 2;
    uint32_t *old = p->index;
    uint32_t *larger = calloc(room, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    p->index = larger;
    p->index_room = room;
    for (size_t i = 0; i < p->flows; i++) {
        p->index[seek(p, p->flow[i])] = (uint32_t)(i + 1);
    }
    free(old);
    return true;
}

/* Room for one more packet and one more flow. */
static const char *make_room(struct packets *p)
{
    if (p->count >= PACKETS_MOST - 1) {
        return "more than 4294967293 packets";
    }
    bool got = grow(&p->packet, &p->room, p->count + 1, sizeof *p->packet) &&
               grow(&p->flow, &p->flow_room, p->flows + 1, sizeof *p->flow) &&
               (p->flows * 2 < p->index_room || grow_index(p));
    return got ? NULL : LINES_NO_MEMORY;
}

static const char *keep(struct packets *p, const struct tuple *t, double when, uint8_t flags)
{
    const char *why = make_room(p);
    if (why != NULL) {
        return why;
    }
    struct tepal_digest d = digest_of(p, t);
    size_t at = seek(p, d);
    if (p->index[at] == 0) {
        p->flow[p->flows++] = d;
        p->index[at] = (uint32_t)p->flows;
    }
    p->packet[p->count] = (struct packet){when, (uint32_t)p->count, p->index[at] - 1, flags};
    p->count++;
    return NULL;
}

static int compare_packets(const void *a, const void *b)
{
    const struct packet *x = a;
    const struct packet *y = b;
    if (x->t != y->t) {
        return x->t < y->t ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

void packets_sort(struct packets *p)
{
    if (p->count > 0) {
        qsort(p->packet, p->count, sizeof *p->packet, compare_packets);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *const column_names[PACKETS_COLUMNS] = {
    [PACKETS_T] = "t",         [PACKETS_PROTO] = "proto", [PACKETS_SRC] = "src",
    [PACKETS_SPORT] = "sport", [PACKETS_DST] = "dst",     [PACKETS_DPORT] = "dport",
    [PACKETS_FLAGS] = "flags"};

static const char *complain(struct packets_file *f, const char *what, struct piece p)
{
    return piece_wrong(p, what, f->why, sizeof f->why);
}

void packets_begin(struct packets_file *f)
{
    static const size_t usual[PACKETS_COLUMNS] = {1, 2, 3, 4, 5, 6, 7};
    memset(f, 0, sizeof *f);
    memcpy(f->column, usual, sizeof usual);
    f->width = 9;
}

static const char *read_header(struct packets_file *f, struct piece line)
{
    size_t column[PACKETS_COLUMNS];
    size_t count = line_columns(line, column_names, PACKETS_COLUMNS, column);
    if (count > FIELDS) {
        return "the first line names more than 32 columns";
    }
    for (size_t c = 0; c <= PACKETS_DPORT; c++) {
        if (column[c] == SIZE_MAX) {
            snprintf(f->why, sizeof f->why, "the first line names no column '%s'", column_names[c]);
            return f->why;
        }
    }
    memcpy(f->column, column, sizeof column);
    f->width = count;
    return NULL;
}

static bool read_address(struct piece p, uint8_t address[16])
{
    char text[INET6_ADDRSTRLEN];
    if (!piece_copy(p, text, sizeof text)) {
        return false;
    }
    if (strchr(text, ':') != NULL) {
        return inet_pton(AF_INET6, text, address) == 1;
    }
    memset(address, 0, 10);
    memset(address + 10, 0xff, 2);
    return inet_pton(AF_INET, text, address + 12) == 1;
}

static bool read_port(struct piece p, uint8_t port[2])
{
    unsigned value = 0;
    if (p.len == 0 || p.len > 5) {
        return false;
    }
    for (size_t i = 0; i < p.len; i++) {
        if (p.text[i] < '0' || p.text[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned)(p.text[i] - '0');
    }
    port[0] = (uint8_t)(value >> 8);
    port[1] = (uint8_t)value;
    return value <= UINT16_MAX;
}

static bool read_flags(struct piece p, uint8_t *flags)
{
    for (size_t i = 0; i < p.len; i++) {
        switch (p.text[i]) {
        case 'S':
            *flags |= PACKET_SYN;
            break;
        case 'A':
            *flags |= PACKET_ACK;
            break;
        case 'F':
            *flags |= PACKET_FIN;
            break;
        case 'R':
            *flags |= PACKET_RST;
            break;
        case 'P':
        case 'U':
        case 'E':
        case 'C':
        case '-':
            break;
        default:
            return false;
        }
    }
    return true;
}

static const char *read_end(struct packets_file *f, struct piece address, struct piece port,
                            struct end *end)
{
    if (!read_address(address, end->address)) {
        return complain(f, "not an address", address);
    }
    return read_port(port, end->port) ? NULL : complain(f, "not a port", port);
}

static const char *tab_line(struct packets *p, struct packets_file *f, struct piece line)
{
    struct piece field[FIELDS];
    struct tuple t = {0, {{0}, {0}}, {{0}, {0}}};
    uint8_t flags = 0;
    double when;
    size_t count = piece_split(line, '\t', field, FIELDS);
    if (count != f->width) {
        snprintf(f->why, sizeof f->why, "%s%zu field%s where %zu are needed",
                 count > FIELDS ? "more than " : "", count > FIELDS ? FIELDS : count, SAY_S(count),
                 f->width);
        return f->why;
    }
    struct piece time = field[f->column[PACKETS_T]];
    if (number_weight(time.text, time.len, &when) != NULL) {
        return complain(f, "not a time in seconds", time);
    }
    struct piece proto = field[f->column[PACKETS_PROTO]];
    if (piece_is(proto, "tcp")) {
        t.proto = 6;
        flags = PACKET_TCP;
    } else if (piece_is(proto, "udp")) {
        t.proto = 17;
    } else {
        return complain(f, "neither tcp nor udp", proto);
    }
    const char *why =
        read_end(f, field[f->column[PACKETS_SRC]], field[f->column[PACKETS_SPORT]], &t.from);
    if (why == NULL) {
        why = read_end(f, field[f->column[PACKETS_DST]], field[f->column[PACKETS_DPORT]], &t.to);
    }
    if (why == NULL && f->column[PACKETS_FLAGS] != SIZE_MAX &&
        !read_flags(field[f->column[PACKETS_FLAGS]], &flags)) {
        why = complain(f, "flags other than S A F R P U E C -", field[f->column[PACKETS_FLAGS]]);
    }
    return why != NULL ? why : keep(p, &t, when, flags);
}

const char *packets_line(struct packets *p, struct packets_file *f, const char *text, size_t len)
{
    struct piece line = {text, len};
    f->line++;
    if (len > PACKETS_LINE) {
        return "longer than 4096 bytes";
    }
    enum line_sort sort = line_sort(f->line, &line);
    return sort == LINE_NOTHING ? NULL
           : sort == LINE_NAMES ? read_header(f, line)
                                : tab_line(p, f, line);
}

/* ---- frames ---------------------------------------------------------------------------------- */

const char *packets_frame(struct packets *p, int link, double t, const uint8_t *bytes, size_t len)
{
    struct tuple tuple = {0, {{0}, {0}}, {{0}, {0}}};
    uint8_t flags = 0;
    switch (frame_read(link, bytes, len, &tuple, &flags)) {
    case FRAME_SHORT:
        p->truncated++;
        return NULL;
    case FRAME_OTHER:
        p->other++;
        return NULL;
    default:
        return keep(p, &tuple, t, flags);
    }
}

#define PCAP(X) X(pcap_fopen_offline) X(pcap_datalink) X(pcap_next_ex) X(pcap_geterr) X(pcap_close)
LATE_LIBRARY(pcap, PCAP, "libpcap.so.0.8", "libpcap.so.1", "libpcap.so")

const char *packets_capture(struct packets *p, FILE *stream, char *why, size_t room)
{
    char words[PCAP_ERRBUF_SIZE] = "";
    const char *wrong = NULL;
    if (!pcap_load()) {
        fclose(stream);
        snprintf(why, room, "captures are read with libpcap, which is not installed");
        return why;
    }
    pcap_t *capture = pcap.pcap_fopen_offline(stream, words);
    if (capture == NULL) {
        fclose(stream);
        snprintf(why, room, "%s", words);
        return why;
    }
    int link = pcap.pcap_datalink(capture);
    if (!frame_link_known(link)) {
        snprintf(why, room, "link type %d is not supported", link);
        wrong = why;
    }
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int more = 0;
    while (wrong == NULL && (more = pcap.pcap_next_ex(capture, &header, &bytes)) == 1) {
        double t = (double)header->ts.tv_sec + (double)header->ts.tv_usec * 1e-6;
        wrong = packets_frame(p, link, t, bytes, header->caplen);
    }
    if (wrong == NULL && more == PCAP_ERROR) {
        if (strncmp(pcap.pcap_geterr(capture), "truncated dump file", 19) == 0) {
            p->cut++; /* what was written before the end is sound */
        } else {
            snprintf(why, room, "%s", pcap.pcap_geterr(capture));
            wrong = why;
        }
    }
    pcap.pcap_close(capture);
    return wrong;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A source whose first bytes have been looked at and are given out once more. */
struct stream {
    struct source *source;
    char head[4];
    size_t held;
    size_t given;
};

static ssize_t stream_read(void *cookie, char *bytes, size_t room)
{
    struct stream *s = cookie;
    if (s->given < s->held && room > 0) {
        size_t len = s->held - s->given < room ? s->held - s->given : room;
        memcpy(bytes, s->head + s->given, len);
        s->given += len;
        return (ssize_t)len;
    }
    return source_read(s->source, bytes, room);
}

static bool is_capture(const struct stream *s)
{
    static const uint8_t magic[][4] = {
        {0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
        {0x4d, 0x3c, 0xb2, 0xa1}, {0x0a, 0x0d, 0x0d, 0x0a},
    };
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++) {
        if (s->held == 4 && memcmp(s->head, magic[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

/* What is being read, and why it could not be. */
struct reading {
    struct packets *packets;
    const char *name;
    char why[PCAP_ERRBUF_SIZE + 64];
};

static bool read_lines(struct reading *r, struct stream *s)
{
    char *buffer = malloc(PACKETS_LINE * 16);
    struct packets_file f;
    const char *why = buffer == NULL ? LINES_NO_MEMORY : NULL;
    size_t used = 0;
    ssize_t more = 1;
    packets_begin(&f);
    while (why == NULL && more > 0) {
        more = stream_read(s, buffer + used, PACKETS_LINE * 16 - used);
        used += more > 0 ? (size_t)more : 0;
        size_t from = 0;
        const char *end;
        while (why == NULL && (end = memchr(buffer + from, '\n', used - from)) != NULL) {
            size_t len = (size_t)(end - (buffer + from));
            why = packets_line(r->packets, &f, buffer + from, len);
            from += len + 1;
        }
        memmove(buffer, buffer + from, used - from);
        used -= from;
        if (why == NULL && used > 0 && (more == 0 || used > PACKETS_LINE)) {
            why = packets_line(r->packets, &f, buffer, used); /* the last one has no end */
            used = 0;
        }
    }
    free(buffer);
    if (why != NULL && f.line > 0) {
        snprintf(r->why, sizeof r->why, "line %" PRIu64 ": %s", f.line, why);
    } else if (why != NULL || more < 0) {
        snprintf(r->why, sizeof r->why, "%s", why != NULL ? why : source_why(s->source));
    }
    return why == NULL && more >= 0;
}

static bool read_capture(struct reading *r, struct stream *s)
{
    uint64_t cut = r->packets->cut;
    FILE *file = fopencookie(s, "rb", (cookie_io_functions_t){.read = stream_read});
    if (file == NULL) {
        snprintf(r->why, sizeof r->why, LINES_NO_MEMORY);
        return false;
    }
    char words[sizeof r->why];
    const char *why = packets_capture(r->packets, file, words, sizeof words);
    if (why != NULL) {
        const char *cause = source_why(s->source);
        snprintf(r->why, sizeof r->why, "%s", cause != NULL && cause[0] != '\0' ? cause : why);
    } else if (r->packets->cut > cut) {
        say_warning(r->name, "the capture ends within a packet; the packets before it are used");
    }
    return why == NULL;
}

static bool read_one(struct reading *r, const char *path)
{
    const char *why = "";
    struct stream s = {.source = source_open(path, false, &why)};
    r->name = lines_subject(path);
    if (s.source == NULL) {
        snprintf(r->why, sizeof r->why, "%s", why);
        return false;
    }
    ssize_t more = 1;
    while (s.held < sizeof s.head && more > 0) {
        more = source_read(s.source, s.head + s.held, sizeof s.head - s.held);
        s.held += more > 0 ? (size_t)more : 0;
    }
    if (more < 0) {
        snprintf(r->why, sizeof r->why, "%s", source_why(s.source));
    }
    bool read = more >= 0 && (is_capture(&s) ? read_capture(r, &s) : read_lines(r, &s));
    source_close(s.source);
    return read;
}

/* One of several files that cannot be read, or not to its end, does not cost the others. */
static void pass_over(struct reading *r, size_t before)
{
    r->packets->unread++;
    if (r->packets->count > before) {
        say_warning(r->name, "%s; the packets before that are used", r->why);
    } else {
        say_warning(r->name, "%s; the file is skipped", r->why);
    }
}

int packets_read(struct packets *p, const char *const *paths, size_t count)
{
    static const char *const standard[] = {"-"};
    struct reading r = {.packets = p};
    paths = count == 0 ? standard : paths;
    count = count == 0 ? 1 : count;
    for (size_t i = 0; i < count; i++) {
        size_t before = p->count;
        if (read_one(&r, paths[i])) {
            continue;
        }
        if (count == 1 || strstr(r.why, LINES_NO_MEMORY) != NULL) {
            return say_error(NULL, r.name, "%s", r.why);
        }
        pass_over(&r, before);
    }
    packets_sort(p);
    return p->unread < count || p->count > 0
               ? EXIT_YES
               : say_error(NULL, NULL, "none of the %zu files could be read", count);
}
