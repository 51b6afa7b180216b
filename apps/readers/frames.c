/*
 * frames.c: from a link's header over IP to ports. Every length is checked against what was
 * captured before a byte is looked at.
 */
#define _GNU_SOURCE
#include "readers/frames.h"

#include <pcap/pcap.h>
#include <string.h>

#include "readers/packets.h"

/* What is left of a frame. */
struct bytes {
    const uint8_t *at;
    size_t len;
};

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
static enum frame_verdict transport(struct bytes b, uint8_t proto, struct tuple *t, uint8_t *flags)
{
    if (proto != 6 && proto != 17) {
        return FRAME_OTHER;
    }
    if (b.len < (proto == 6 ? 14u : 4u)) {
        return FRAME_SHORT;
    }
    t->proto = proto;
    memcpy(t->from.port, b.at, 2);
    memcpy(t->to.port, b.at + 2, 2);
    if (proto == 6) {
        uint8_t bits = b.at[13];
        *flags = (uint8_t)(PACKET_TCP | (bits & 1 ? PACKET_FIN : 0) | (bits & 2 ? PACKET_SYN : 0) |
                           (bits & 4 ? PACKET_RST : 0) | (bits & 16 ? PACKET_ACK : 0));
    }
    return FRAME_WHOLE;
}

static void map_v4(uint8_t address[16], const uint8_t *from)
{
    memset(address, 0, 10);
    memset(address + 10, 0xff, 2);
    memcpy(address + 12, from, 4);
}

static enum frame_verdict ip4(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len < 20) {
        return FRAME_SHORT;
    }
    size_t header = (size_t)(b.at[0] & 15) * 4;
    uint8_t proto = b.at[9];
    if (header < 20 || (get16(b.at + 6) & 0x1fff) != 0) {
        return FRAME_OTHER; /* no header that can be; or a later fragment, which has no ports */
    }
    map_v4(t->from.address, b.at + 12);
    map_v4(t->to.address, b.at + 16);
    return skip(&b, header) ? transport(b, proto, t, flags) : FRAME_SHORT;
}

/* At most so many extension headers: each takes at least eight bytes anyway. */
#define EXTENSIONS 16

static enum frame_verdict ip6(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len < 40) {
        return FRAME_SHORT;
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
            return FRAME_SHORT;
        }
        if (fragment && (get16(b.at + 2) & 0xfff8) != 0) {
            return FRAME_OTHER;
        }
        size_t len = fragment         ? 8
                     : authentication ? ((size_t)b.at[1] + 2) * 4
                                      : ((size_t)b.at[1] + 1) * 8;
        next = b.at[0];
        if (!skip(&b, len)) {
            return FRAME_SHORT;
        }
    }
    return FRAME_OTHER;
}

static enum frame_verdict ip(struct bytes b, struct tuple *t, uint8_t *flags)
{
    if (b.len == 0) {
        return FRAME_SHORT;
    }
    unsigned version = b.at[0] >> 4;
    return version == 4 ? ip4(b, t, flags) : version == 6 ? ip6(b, t, flags) : FRAME_OTHER;
}

/* What an Ethernet type announces, behind any VLAN tags. */
static enum frame_verdict typed(struct bytes b, unsigned type, struct tuple *t, uint8_t *flags)
{
    for (int tags = 0; tags < 4 && (type == 0x8100 || type == 0x88a8 || type == 0x9100); tags++) {
        if (b.len < 4) {
            return FRAME_SHORT;
        }
        type = get16(b.at + 2);
        (void)skip(&b, 4);
    }
    return type == 0x0800 || type == 0x86dd ? ip(b, t, flags) : FRAME_OTHER;
}

bool frame_link_known(int link)
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

enum frame_verdict frame_read(int link, const uint8_t *bytes, size_t len, struct tuple *t,
                              uint8_t *flags)
{
    struct bytes b = {bytes, len};
    const uint8_t *start = b.at;
    switch (link) {
    case DLT_EN10MB:
        return skip(&b, 14) ? typed(b, get16(start + 12), t, flags) : FRAME_SHORT;
    case DLT_LINUX_SLL:
        return skip(&b, 16) ? typed(b, get16(start + 14), t, flags) : FRAME_SHORT;
    case DLT_LINUX_SLL2:
        return skip(&b, 20) ? typed(b, get16(start), t, flags) : FRAME_SHORT;
    case DLT_NULL: /* the family before it has a number that depends on the system: IP tells */
    case DLT_LOOP:
        return skip(&b, 4) ? ip(b, t, flags) : FRAME_SHORT;
    default:
        return ip(b, t, flags);
    }
}
