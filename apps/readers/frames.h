/* frames.h: captured frames: who talks to whom in them. */
#ifndef APPS_READERS_FRAMES_H
#define APPS_READERS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* FRAME_SHORT: its headers were cut off. FRAME_OTHER: neither TCP nor UDP, or a later fragment. */
enum frame_verdict { FRAME_WHOLE, FRAME_SHORT, FRAME_OTHER };

/* The tuple and the flags (PACKET_SYN and the like) of a frame of a link type (DLT_ of libpcap). */
enum frame_verdict frame_read(int link, const uint8_t *bytes, size_t len, struct tuple *tuple,
                              uint8_t *flags);
bool frame_link_known(int link);

#endif
