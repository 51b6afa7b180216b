/*
 * packets.h: the packets of a link, from files: who talked to whom, when, and whether a connection
 * began or ended. Two forms, told apart by the first bytes; either may be compressed.
 *
 *   tab-separated   capture, t, proto, src, sport, dst, dport, flags, len; or other columns in
 *                   another order if the first line names them (# t TAB proto ...). Needed are t
 *                   (seconds), proto (tcp or udp), src, sport, dst, dport; flags are letters, of
 *                   which S, A, F and R count, or -.
 *   pcap, pcapng    through libpcap: Ethernet (with VLAN tags), raw IP, Linux cooked (both
 *                   versions) and loopback captures of IPv4 and IPv6.
 *
 * Packets that carry neither TCP nor UDP, later fragments, and packets whose headers were cut off
 * are passed over and counted. Packets are kept in the order of their times, whatever file they
 * came from. A flow is a protocol and two ends (address and port); both directions are one flow
 * unless `one_way`. Flows are known by the 128-bit digests of these bytes.
 */
#ifndef APPS_READERS_PACKETS_H
#define APPS_READERS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tepal/hash.h>

enum { PACKET_SYN = 1, PACKET_ACK = 2, PACKET_FIN = 4, PACKET_RST = 8, PACKET_TCP = 16 };

#define PACKETS_LINE ((size_t)4096)       /* the longest line */
#define PACKETS_MOST ((size_t)UINT32_MAX) /* packets, and flows */

struct packet {
    double t;       /* seconds */
    uint32_t order; /* of reading */
    uint32_t flow;
    uint8_t flags;
};

struct packets {
    bool one_way;
    struct tepal_hasher hasher;
    struct packet *packet;
    size_t count;
    size_t room;
    struct tepal_digest *flow;
    size_t flows;
    size_t flow_room;
    uint32_t *index; /* of flows, by digest: a number + 1, or 0 */
    size_t index_room;
    uint64_t truncated; /* packets whose headers were cut off */
    uint64_t other;     /* packets that are neither TCP nor UDP, or later fragments */
    uint64_t cut;       /* captures that end within a packet */
    size_t unread;      /* of several files, those that could not be read, or not to their end */
};

enum packets_column {
    PACKETS_T,
    PACKETS_PROTO,
    PACKETS_SRC,
    PACKETS_SPORT,
    PACKETS_DST,
    PACKETS_DPORT, /* the ones up to here are needed */
    PACKETS_FLAGS,
    PACKETS_COLUMNS
};

/* Where the reader of lines stands. */
struct packets_file {
    uint64_t line;
    size_t column[PACKETS_COLUMNS]; /* where each stands; SIZE_MAX: nowhere */
    size_t width;
    char why[192];
};

/* An empty set of packets; free with packets_free. */
void packets_init(struct packets *p, uint64_t seed, bool one_way);
void packets_free(struct packets *p);

/* The beginning of a file of lines, and one line of it without its end: NULL, or what is wrong. */
void packets_begin(struct packets_file *file);
const char *packets_line(struct packets *p, struct packets_file *file, const char *text,
                         size_t len);

/* One captured frame of a link type (DLT_ of libpcap). NULL, or "out of memory" and the like. */
const char *packets_frame(struct packets *p, int link, double t, const uint8_t *bytes, size_t len);

/* A capture from a stream, which is closed. NULL, or what is wrong (in `why`, or static). */
const char *packets_capture(struct packets *p, FILE *stream, char *why, size_t room);

/*
 * All files ("-", or none: standard input). EXIT_YES, or EXIT_TROUBLE after having said why. Of
 * several files, one that is wrong is passed over with a warning and counted.
 */
int packets_read(struct packets *p, const char *const *paths, size_t count);

/* Put them in the order of their times. */
void packets_sort(struct packets *p);

#endif
