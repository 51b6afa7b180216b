/*
 * packets.c: lines and captured frames to packets. Every length is checked against what was
 * captured before a byte is looked at; a line is kept whole or not at all.
 */
#define _GNU_SOURCE
#include "packets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/say.h"
#include "input/source.h"

#define FIELDS 32

static const char no_memory[] = "out of memory";

/* ---- keeping packets ------------------------------------------------------------------------- */

/* A protocol and two ends; what is hashed. IPv4 addresses are mapped into IPv6. */
struct end {
    uint8_t address[16];
    uint8_t port[2];
};

struct tuple {
    uint8_t proto;
    struct end from;
    struct end to;
};

void packets_init(struct packets *p, uint64_t seed, bool one_way)
{
    memset(p, 0, sizeof *p);
    p->one_way = one_way;
    tepal_hasher_init(&p->hasher, seed);
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
    if (p->count == p->room) {
        size_t room = p->room == 0 ? 4096 : p->room * 2;
        struct packet *larger = realloc(p->packet, room * sizeof *larger);
        if (larger == NULL) {
            return no_memory;
        }
        p->packet = larger;
        p->room = room;
    }
    if (p->flows == p->flow_room) {
        size_t room = p->flow_room == 0 ? 1024 : p->flow_room * 2;
        struct tepal_digest *larger = realloc(p->flow, room * sizeof *larger);
        if (larger == NULL) {
            return no_memory;
        }
        p->flow = larger;
        p->flow_room = room;
    }
    return p->flows * 2 >= p->index_room && !grow_index(p) ? no_memory : NULL;
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

/* A piece of a line. */
struct piece {
    const char *text;
    size_t len;
};

static const char *const column_names[PACKETS_COLUMNS] = {
    [PACKETS_T] = "t",         [PACKETS_PROTO] = "proto", [PACKETS_SRC] = "src",
    [PACKETS_SPORT] = "sport", [PACKETS_DST] = "dst",     [PACKETS_DPORT] = "dport",
    [PACKETS_FLAGS] = "flags"};

static bool piece_is(struct piece p, const char *word)
{
    return p.len == strlen(word) && memcmp(p.text, word, p.len) == 0;
}

static const char *complain(struct packets_file *f, const char *what, struct piece p)
{
    int shown = p.len < 48 ? (int)p.len : 48;
    snprintf(f->why, sizeof f->why, "%s: '%.*s'", what, shown, p.text);
    return f->why;
}

/* Fields between tabs; FIELDS + 1 if there are more than FIELDS. */
static size_t split(struct piece line, struct piece *field)
{
    const char *end = line.text + line.len;
    const char *at = line.text;
    for (size_t count = 0; count < FIELDS; count++) {
        const char *stop = at < end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        field[count] = (struct piece){at, (size_t)((stop == NULL ? end : stop) - at)};
        if (stop == NULL) {
            return count + 1;
        }
        at = stop + 1;
    }
    return FIELDS + 1;
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
    struct piece field[FIELDS];
    size_t column[PACKETS_COLUMNS];
    line.text++;
    line.len--;
    size_t count = split(line, field);
    if (count > FIELDS) {
        return "the first line names more than 32 columns";
    }
    for (size_t c = 0; c < PACKETS_COLUMNS; c++) {
        column[c] = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            while (field[i].len > 0 && field[i].text[0] == ' ') {
                field[i].text++;
                field[i].len--;
            }
            if (piece_is(field[i], column_names[c])) {
                column[c] = i;
            }
        }
        if (column[c] == SIZE_MAX && c <= PACKETS_DPORT) {
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
    if (p.len >= sizeof text || memchr(p.text, '\0', p.len) != NULL) {
        return false;
    }
    memcpy(text, p.text, p.len);
    text[p.len] = '\0';
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
    size_t count = split(line, field);
    if (count != f->width) {
        snprintf(f->why, sizeof f->why, "%s%zu fields where %zu are needed",
                 count > FIELDS ? "more than " : "", count > FIELDS ? FIELDS : count, f->width);
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
    if (line.len > 0 && line.text[line.len - 1] == '\r') {
        line.len--;
    }
    if (line.len == 0) {
        return NULL;
    }
    if (line.text[0] == '#') {
        bool header = f->line == 1 && memchr(line.text, '\t', line.len) != NULL;
        return header ? read_header(f, line) : NULL;
    }
    return tab_line(p, f, line);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* What is left of a frame. */
struct bytes {
    const uint8_t *at;
    size_t len;
};

enum verdict { WHOLE, SHORT, OTHER };

static bool skip(struct bytes *b, size_t len)
{
    if (b->len < len) {
        return false;
    }
    b->at += len;
    b->len -= len;
    return true;
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* The ports and flags behind an IP header. */
static enum verdict transport(struct bytes b, uint8_t proto, struct tuple *t, uint8_t *flags)
{
    if (proto != 6 && proto != 17) {
        return OTHER;
    }
    if (b.len < (proto == 6 ? 14u : 4u)) {
        return SHORT;
    }
    t->proto = proto;
    memcpy(t->from.port, b.at, 2);
    memcpy(t->to.port, b.at + 2, 2);
    if (proto == 6) {
        uint8_t bits = b.at[13];
        *flags = (uint8_t)(PACKET_TCP | (bits & 1 ? PACKET_FIN : 0) | (bits & 2 ? PACKET_SYN : 0) |
                           (bits & 4 ? PACKET_RST : 0) | (bits & 16 ? PACKET_ACK : 0));
    }
    return WHOLE;
}

static void map_v4(uint8_t address[16], const uint8_t *from)
{
    memset(address, 0, 10);
    memset(address + 10, 0xff, 2);
    memcpy(address + 12, from, 4);
}

static enum verdict ip4(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len < 20) {
        return SHORT;
    }
    size_t header = (size_t)(b.at[0] & 15) * 4;
    uint8_t proto = b.at[9];
    if (header < 20 || (get16(b.at + 6) & 0x1fff) != 0) {
        return OTHER; /* no header that can be; or a later fragment, which has no ports */
    }
    map_v4(t->from.address, b.at + 12);
    map_v4(t->to.address, b.at + 16);
    return skip(&b, header) ? transport(b, proto, t, flags) : SHORT;
}

/* At most so many extension headers: each takes at least eight bytes anyway. */
#define EXTENSIONS 16

static enum verdict ip6(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len < 40) {
        return SHORT;
    }
    uint8_t next = b.at[6];
    memcpy(t->from.address, b.at + 8, 16);
    memcpy(t->to.address, b.at + 24, 16);
    (void)skip(&b, 40);
    for (int i = 0; i < EXTENSIONS; i++) {
        bool fragment = next == 44;
        bool authentication = next == 51;
        if (next != 0 && next != 43 && next != 60 && !fragment && !authentication) {
            return transport(b, next, t, flags);
        }
        if (b.len < 8) {
            return SHORT;
        }
        if (fragment && (get16(b.at + 2) & 0xfff8) != 0) {
            return OTHER;
        }
        size_t len = fragment         ? 8
                     : authentication ? ((size_t)b.at[1] + 2) * 4
                                      : ((size_t)b.at[1] + 1) * 8;
        next = b.at[0];
        if (!skip(&b, len)) {
            return SHORT;
        }
    }
    return OTHER;
}

static enum verdict ip(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len == 0) {
        return SHORT;
    }
    unsigned version = b.at[0] >> 4;
    return version == 4 ? ip4(b, t, flags) : version == 6 ? ip6(b, t, flags) : OTHER;
}

/* What an Ethernet type announces, behind any VLAN tags. */
static enum verdict typed(struct bytes b, unsigned type, struct tuple *t, uint8_t *flags)
{
    for (int tags = 0; tags < 4 && (type == 0x8100 || type == 0x88a8 || type == 0x9100); tags++) {
        if (b.len < 4) {
            return SHORT;
        }
        type = get16(b.at + 2);
        (void)skip(&b, 4);
    }
    return type == 0x0800 || type == 0x86dd ? ip(b, t, flags) : OTHER;
}

bool packets_link_known(int link)
{
    switch (link) {
    case DLT_EN10MB:
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
    case DLT_LINUX_SLL:
    case DLT_LINUX_SLL2:
    case DLT_NULL:
    case DLT_LOOP:
        return true;
    default:
        return false;
    }
}

static enum verdict frame(int link, struct bytes b, struct tuple *t, uint8_t *flags)
{
    const uint8_t *start = b.at;
    switch (link) {
    case DLT_EN10MB:
        return skip(&b, 14) ? typed(b, get16(start + 12), t, flags) : SHORT;
    case DLT_LINUX_SLL:
        return skip(&b, 16) ? typed(b, get16(start + 14), t, flags) : SHORT;
    case DLT_LINUX_SLL2:
        return skip(&b, 20) ? typed(b, get16(start), t, flags) : SHORT;
    case DLT_NULL: /* the family before it has a number that depends on the system: IP tells */
    case DLT_LOOP:
        return skip(&b, 4) ? ip(b, t, flags) : SHORT;
    default:
        return ip(b, t, flags);
    }
}

const char *packets_frame(struct packets *p, int link, double t, const uint8_t *bytes, size_t len)
{
    struct tuple tuple = {0, {{0}, {0}}, {{0}, {0}}};
    uint8_t flags = 0;
    switch (frame(link, (struct bytes){bytes, len}, &tuple, &flags)) {
    case SHORT:
        p->truncated++;
        return NULL;
    case OTHER:
        p->other++;
        return NULL;
    default:
        return keep(p, &tuple, t, flags);
    }
}

const char *packets_capture(struct packets *p, FILE *stream, char *why, size_t room)
{
    char words[PCAP_ERRBUF_SIZE] = "";
    const char *wrong = NULL;
    pcap_t *capture = pcap_fopen_offline(stream, words);
    if (capture == NULL) {
        fclose(stream);
        snprintf(why, room, "%s", words);
        return why;
    }
    int link = pcap_datalink(capture);
    if (!packets_link_known(link)) {
        snprintf(why, room, "link type %d is not understood", link);
        wrong = why;
    }
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int more = 0;
    while (wrong == NULL && (more = pcap_next_ex(capture, &header, &bytes)) == 1) {
        double t = (double)header->ts.tv_sec + (double)header->ts.tv_usec * 1e-6;
        wrong = packets_frame(p, link, t, bytes, header->caplen);
    }
    if (wrong == NULL && more == PCAP_ERROR) {
        if (strncmp(pcap_geterr(capture), "truncated dump file", 19) == 0) {
            p->cut++; /* what was written before the end is sound */
        } else {
            snprintf(why, room, "%s", pcap_geterr(capture));
            wrong = why;
        }
    }
    pcap_close(capture);
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

static int wrong_line(const char *name, const struct packets_file *f, const char *why)
{
    return say_error(NULL, name, "line %" PRIu64 ": %s", f->line, why);
}

static int read_lines(struct packets *p, struct stream *s, const char *name)
{
    char *buffer = malloc(PACKETS_LINE * 16);
    struct packets_file f;
    size_t used = 0;
    ssize_t more = 1;
    int code = buffer == NULL ? say_error(NULL, NULL, no_memory) : EXIT_YES;
    packets_begin(&f);
    while (code == EXIT_YES && more > 0) {
        more = stream_read(s, buffer + used, PACKETS_LINE * 16 - used);
        used += more > 0 ? (size_t)more : 0;
        size_t from = 0;
        const char *end;
        while (code == EXIT_YES && (end = memchr(buffer + from, '\n', used - from)) != NULL) {
            size_t len = (size_t)(end - (buffer + from));
            const char *why = packets_line(p, &f, buffer + from, len);
            code = why == NULL ? code : wrong_line(name, &f, why);
            from += len + 1;
        }
        memmove(buffer, buffer + from, used - from);
        used -= from;
        if (code == EXIT_YES && used > 0 && (more == 0 || used > PACKETS_LINE)) {
            const char *why = packets_line(p, &f, buffer, used); /* the last one has no end */
            code = why == NULL ? code : wrong_line(name, &f, why);
            used = 0;
        }
    }
    free(buffer);
    return code == EXIT_YES && more < 0 ? say_error(NULL, name, "%s", source_why(s->source)) : code;
}

static int read_capture(struct packets *p, struct stream *s, const char *name)
{
    char words[PCAP_ERRBUF_SIZE + 64];
    uint64_t cut = p->cut;
    FILE *file = fopencookie(s, "rb", (cookie_io_functions_t){.read = stream_read});
    if (file == NULL) {
        return say_error(NULL, NULL, no_memory);
    }
    const char *why = packets_capture(p, file, words, sizeof words);
    if (why != NULL) {
        const char *cause = source_why(s->source);
        return say_error(NULL, name, "%s", cause != NULL && cause[0] != '\0' ? cause : why);
    }
    if (p->cut > cut) {
        say_warning(name, "the capture ends within a packet; those before it are taken");
    }
    return EXIT_YES;
}

static int read_one(struct packets *p, const char *path)
{
    const char *why = "";
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct stream s = {.source = source_open(path, false, &why)};
    if (s.source == NULL) {
        return say_error(NULL, name, "%s", why);
    }
    ssize_t more = 1;
    while (s.held < sizeof s.head && more > 0) {
        more = source_read(s.source, s.head + s.held, sizeof s.head - s.held);
        s.held += more > 0 ? (size_t)more : 0;
    }
    int code = more < 0         ? say_error(NULL, name, "%s", source_why(s.source))
               : is_capture(&s) ? read_capture(p, &s, name)
                                : read_lines(p, &s, name);
    source_close(s.source);
    return code;
}

int packets_read(struct packets *p, const char *const *paths, size_t count)
{
    static const char *const standard[] = {"-"};
    int code = EXIT_YES;
    if (count == 0) {
        paths = standard;
        count = 1;
    }
    for (size_t i = 0; i < count && code == EXIT_YES; i++) {
        code = read_one(p, paths[i]);
    }
    packets_sort(p);
    return code;
}
