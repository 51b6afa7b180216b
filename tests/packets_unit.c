/*
 * packets_unit.c: the reader of packets: good and wrong lines, frames of every link type cut at
 * every byte, captures that are truncated or lie about their lengths.
 */
#define _GNU_SOURCE
#include "check.h"

#include <pcap/pcap.h>

#include "readers/frames.h"
#include "readers/packets.h"

static struct packets packets;
static struct packets_file lines;

static int fresh(void **state)
{
    (void)state;
    packets_init(&packets, 7, false);
    packets_begin(&lines);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    packets_free(&packets);
    return 0;
}

static const char *take(const char *line)
{
    /* exactly as long, so that overruns are seen */
    size_t len = strlen(line);
    char *exact = malloc(len == 0 ? 1 : len);
    assert_non_null(exact);
    memcpy(exact, line, len);
    const char *why = packets_line(&packets, &lines, exact, len);
    free(exact);
    return why;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void lines_are_read(void **state)
{
    (void)state;
    assert_null(take("#capture\tt\tproto\tsrc\tsport\tdst\tdport\tflags\tlen"));
    assert_null(take("a\t0.5\ttcp\t10.0.0.1\t80\t10.0.0.2\t1234\tS\t60"));
    assert_null(take("a\t0.75\ttcp\t10.0.0.2\t1234\t10.0.0.1\t80\tSA\t60\r"));
    assert_null(take(""));
    assert_null(take("# a comment"));
    assert_null(take("a\t1e1\tudp\t10.0.0.2\t1234\t10.0.0.1\t80\t-\t60"));
    assert_null(take("b\t0\ttcp\tfd00::1\t65535\tfd00:0::2\t0\tFRPUEC\t60"));
    assert_null(take("b\t2\ttcp\tfd00::1\t65535\tfd00::2\t0\t\t60"));
    assert_int_equal(packets.count, 5);
    assert_int_equal(packets.flows, 3); /* both directions are one, the protocol counts */
    assert_int_equal(packets.packet[0].flags, PACKET_TCP | PACKET_SYN);
    assert_int_equal(packets.packet[1].flags, PACKET_TCP | PACKET_SYN | PACKET_ACK);
    assert_int_equal(packets.packet[0].flow, packets.packet[1].flow);
    assert_int_equal(packets.packet[2].flags, 0);
    assert_true(packets.packet[2].t == 10);
    assert_int_equal(packets.packet[3].flags, PACKET_TCP | PACKET_FIN | PACKET_RST);
    packets_sort(&packets);
    assert_true(packets.packet[0].t == 0 && packets.packet[4].t == 10);
}

static void columns_may_be_named(void **state)
{
    (void)state;
    assert_null(take("# dport\tdst\tsport\tsrc\tproto\tt"));
    assert_null(take("80\t10.0.0.1\t1234\t10.0.0.2\ttcp\t3"));
    assert_int_equal(packets.count, 1);
    assert_int_equal(packets.packet[0].flags, PACKET_TCP);
    struct packets_file other;
    packets_begin(&other);
    const char *head = "#t\tproto\tsrc\tdst\tdport";
    assert_string_equal(packets_line(&packets, &other, head, strlen(head)),
                        "the first line names no column 'sport'");
}

static void one_way_tells_directions_apart(void **state)
{
    (void)state;
    packets_free(&packets);
    packets_init(&packets, 7, true);
    assert_null(take("a\t0\ttcp\t10.0.0.1\t80\t10.0.0.2\t1234\tS\t60"));
    assert_null(take("a\t1\ttcp\t10.0.0.2\t1234\t10.0.0.1\t80\tSA\t60"));
    assert_null(take("a\t2\ttcp\t10.0.0.1\t80\t10.0.0.2\t1234\tA\t60"));
    assert_int_equal(packets.flows, 2);
}

static void wrong_lines_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"a\tx\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "not a time in seconds: 'x'"},
        {"a\t-1\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "not a time in seconds: '-1'"},
        {"a\tnan\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "not a time in seconds: 'nan'"},
        {"a\t1e999\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "not a time in seconds: '1e999'"},
        {"a\t\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "not a time in seconds: ''"},
        {"a\t0\ticmp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "neither tcp nor udp: 'icmp'"},
        {"a\t0\tTCP\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60", "neither tcp nor udp: 'TCP'"},
        {"a\t0\ttcp\t1.0.0.256\t80\t1.0.0.2\t1\tS\t60", "not an address: '1.0.0.256'"},
        {"a\t0\ttcp\t\t80\t1.0.0.2\t1\tS\t60", "not an address: ''"},
        {"a\t0\ttcp\tfd::1::2\t80\t1.0.0.2\t1\tS\t60", "not an address: 'fd::1::2'"},
        {"a\t0\ttcp\t1.0.0.1\t65536\t1.0.0.2\t1\tS\t60", "not a port: '65536'"},
        {"a\t0\ttcp\t1.0.0.1\t-1\t1.0.0.2\t1\tS\t60", "not a port: '-1'"},
        {"a\t0\ttcp\t1.0.0.1\t\t1.0.0.2\t1\tS\t60", "not a port: ''"},
        {"a\t0\ttcp\t1.0.0.1\t99999999999\t1.0.0.2\t1\tS\t60", "not a port: '99999999999'"},
        {"a\t0\ttcp\t1.0.0.1\t80\t1.0.0.2.3\t1\tS\t60", "not an address: '1.0.0.2.3'"},
        {"a\t0\ttcp\t1.0.0.1\t80\t1.0.0.2\tx\tS\t60", "not a port: 'x'"},
        {"a\t0\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tSZ\t60", "flags other than S A F R P U E C -: 'SZ'"},
        {"a\t0\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS", "8 fields where 9 are needed"},
        {"a\t0\ttcp\t1.0.0.1\t80\t1.0.0.2\t1\tS\t60\t", "10 fields where 9 are needed"},
        {"x", "1 field where 9 are needed"},
        {"\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
         "more than 32 fields where 9 are needed"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why = take(wrong[i][0]);
        assert_non_null(why);
        assert_string_equal(why, wrong[i][1]);
    }
    static char longest[PACKETS_LINE + 1];
    memset(longest, 'a', sizeof longest);
    assert_string_equal(packets_line(&packets, &lines, longest, sizeof longest),
                        "longer than 4096 bytes");
    static const char zero[] = "a\t0\ttcp\t1.0.0.1\0x\t80\t1.0.0.2\t1\tS\t60";
    assert_non_null(packets_line(&packets, &lines, zero, sizeof zero - 1));
    assert_int_equal(packets.count, 0);
    assert_int_equal(packets.flows, 0);
}

static void a_line_cut_anywhere_is_refused_or_shorter(void **state)
{
    (void)state;
    static const char line[] = "a\t0.25\ttcp\t10.0.0.1\t80\t10.0.0.2\t1234\tSA\t60";
    for (size_t len = 1; len < sizeof line - 1; len++) {
        char *exact = malloc(len);
        assert_non_null(exact);
        memcpy(exact, line, len);
        const char *why = packets_line(&packets, &lines, exact, len);
        /* the last field is not looked at, so that a line is whole from its last tab on */
        assert_int_equal(why == NULL, len >= sizeof line - 3);
        free(exact);
    }
}

/* ---- frames ---------------------------------------------------------------------------------- */

static size_t put(uint8_t *to, size_t at, const char *hex)
{
    for (; *hex != '\0'; hex += 2) {
        while (*hex == ' ') {
            hex++;
        }
        char two[3] = {hex[0], hex[1], '\0'};
        to[at++] = (uint8_t)strtoul(two, NULL, 16);
    }
    return at;
}

#define IP4_TCP "4500002800010000400600000a0000010a000002"
#define IP4_UDP "4500001c00010000401100000a0000010a000002"
#define OPTIONS "4600002c00010000400600000a0000010a00000201010101"
#define IP6_TCP "600000000014064000000000000000000000000000000001000000000000000000000000000000ff"
#define IP6_EXT "60000000002c004000000000000000000000000000000001000000000000000000000000000000ff"
#define TCP_FIN "005004d20000000100000000501100000000"
#define UDP     "005004d200080000"

/* Every link type and shape of header, whole and cut at every byte. */
static void frames_are_read_and_cut_ones_counted(void **state)
{
    (void)state;
    static const struct {
        int link;
        const char *hex[3];
        size_t needed; /* bytes without which it is cut off */
        uint8_t flags;
    } frames[] = {
        {DLT_RAW, {IP4_TCP, TCP_FIN}, 34, PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_IPV4, {IP4_UDP, UDP}, 24, 0},
        {DLT_RAW, {OPTIONS, TCP_FIN}, 38, PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_IPV6, {IP6_TCP, TCP_FIN}, 54, PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_RAW,
         {IP6_EXT, "2b00000000000000 3c01000000000000 0000000000000000 0600000000000000", TCP_FIN},
         86,
         PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_EN10MB,
         {"ffffffffffff 000000000001 0800", IP4_TCP, TCP_FIN},
         48,
         PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_EN10MB, {"ffffffffffff 000000000001 88a80001 8100000a 0800", IP4_UDP, UDP}, 46, 0},
        {DLT_EN10MB,
         {"ffffffffffff 000000000001 86dd", IP6_TCP, TCP_FIN},
         68,
         PACKET_TCP | PACKET_FIN | PACKET_ACK},
        {DLT_LINUX_SLL, {"0000 0001 0006 000000000000 0000 0800", IP4_UDP, UDP}, 40, 0},
        {DLT_LINUX_SLL2, {"0800 0000 00000001 0001 00 06 0000000000000000", IP4_UDP, UDP}, 44, 0},
        {DLT_NULL, {"02000000", IP4_UDP, UDP}, 28, 0},
    };
    uint64_t truncated = 0;
    size_t whole = 0;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        uint8_t bytes[256];
        size_t len = 0;
        assert_true(frame_link_known(frames[i].link));
        for (size_t h = 0; h < 3 && frames[i].hex[h] != NULL; h++) {
            len = put(bytes, len, frames[i].hex[h]);
        }
        for (size_t cut = 0; cut <= len; cut++) {
            uint8_t *exact = malloc(cut == 0 ? 1 : cut);
            assert_non_null(exact);
            memcpy(exact, bytes, cut);
            assert_null(packets_frame(&packets, frames[i].link, (double)cut, exact, cut));
            truncated += cut < frames[i].needed;
            whole += cut >= frames[i].needed;
            assert_true(packets.truncated == truncated);
            assert_int_equal(packets.count, whole);
            free(exact);
        }
        assert_int_equal(packets.packet[packets.count - 1].flags, frames[i].flags);
    }
    assert_true(packets.other == 0);
    /* IPv4 over TCP and UDP, IPv6 over TCP: the same ends whatever lies around them */
    assert_int_equal(packets.flows, 3);
    /* and the same as from a line */
    assert_null(take("a\t0\ttcp\t10.0.0.2\t1234\t10.0.0.1\t80\t-\t60"));
    assert_null(take("a\t0\tudp\t10.0.0.1\t80\t10.0.0.2\t1234\t-\t60"));
    assert_null(take("a\t0\ttcp\t::1\t80\t::ff\t1234\t-\t60"));
    assert_int_equal(packets.flows, 3);
}

static void other_frames_are_counted(void **state)
{
    (void)state;
    static const char *const raw[] = {
        "4500001c00010000400100000a0000010a000002 0800000000000000", /* ICMP */
        "4500001c00010001401100000a0000010a000002 005004d200080000", /* a later fragment */
        "4100001c00010000401100000a0000010a000002 005004d200080000", /* a header of 4 bytes */
        "5000001c00010000401100000a0000010a000002 005004d200080000", /* version 5 */
        "60000000001c2c4000000000000000000000000000000001000000000000000000000000000000ff"
        "1100ffff00000000 005004d200080000", /* a later fragment of IPv6 */
        "60000000001c3a4000000000000000000000000000000001000000000000000000000000000000ff"
        "8000000000000000", /* ICMPv6 */
    };
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
        uint8_t bytes[256];
        size_t len = put(bytes, 0, raw[i]);
        assert_null(packets_frame(&packets, DLT_RAW, 0, bytes, len));
        assert_true(packets.other == i + 1);
    }
    uint8_t arp[64];
    size_t len = put(arp, 0, "ffffffffffff 000000000001 0806 0001080006040001");
    assert_null(packets_frame(&packets, DLT_EN10MB, 0, arp, len));
    assert_true(packets.other == 7 && packets.truncated == 0 && packets.count == 0);
    assert_false(frame_link_known(DLT_IEEE802_11));
    /* endless extension headers: the search ends */
    static uint8_t chain[40 + 8 * 64];
    len = put(chain, 0, IP6_EXT);
    assert_null(packets_frame(&packets, DLT_RAW, 0, chain, sizeof chain));
    assert_true(packets.other == 8);
}

/* ---- captures -------------------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(v >> (8 * i));
    }
}

/* A pcap file of `count` UDP packets on raw IP. Returns its length. */
static size_t make_pcap(uint8_t *to, size_t count)
{
    size_t len = put(to, 0, "d4c3b2a1 0200 0400 00000000 00000000 00000400 65000000");
    for (size_t i = 0; i < count; i++) {
        put32(to + len, (uint32_t)i);
        put32(to + len + 4, 500000);
        put32(to + len + 8, 28);
        put32(to + len + 12, 28);
        len = put(to, len + 16, IP4_UDP UDP);
        to[len - 7] = (uint8_t)i; /* the source port */
    }
    return len;
}

static const char *capture(const uint8_t *bytes, size_t len)
{
    static char why[PCAP_ERRBUF_SIZE];
    uint8_t *exact = malloc(len == 0 ? 1 : len);
    assert_non_null(exact);
    memcpy(exact, bytes, len);
    FILE *stream = fmemopen(exact, len == 0 ? 1 : len, "rb");
    assert_non_null(stream);
    const char *wrong = packets_capture(&packets, stream, why, sizeof why);
    free(exact);
    return wrong;
}

static void a_capture_is_read(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    size_t len = make_pcap(bytes, 50);
    assert_null(capture(bytes, len));
    assert_int_equal(packets.count, 50);
    assert_int_equal(packets.flows, 50);
    assert_true(packets.packet[3].t == 3.5);
    assert_true(packets.cut == 0);
}

static void a_capture_cut_anywhere_keeps_what_is_whole(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    size_t len = make_pcap(bytes, 5);
    for (size_t cut = 1; cut < len; cut++) {
        packets_free(&packets);
        packets_init(&packets, 7, false);
        const char *why = capture(bytes, cut);
        assert_int_equal(why == NULL, cut >= 24);
        if (cut >= 24) {
            assert_int_equal(packets.count, (cut - 24) / 44);
            assert_int_equal(packets.cut, (cut - 24) % 44 != 0);
        }
    }
}

static void hostile_captures_are_refused(void **state)
{
    (void)state;
    static uint8_t good[4096];
    static uint8_t bytes[4096];
    size_t len = make_pcap(good, 5);
    static const struct {
        size_t at;
        uint32_t value;
        bool refused;
    } lies[] = {
        {0, 0x12345678, true},      /* not a capture */
        {4, 0x00040063, true},      /* version 99 */
        {20, 105, true},            /* a link type that is not understood */
        {20, UINT32_MAX, true},     /* one that nobody has */
        {24 + 8, UINT32_MAX, true}, /* a packet of 4 GiB */
        {24 + 8, 0x7fffffff, true}, /* of 2 GiB */
        {24 + 8, 1000, false},      /* longer than the file: cut */
        {24 + 8, 10, false}, /* shorter than it is: the next header, nonsense, asks for too much */
        {24 + 12, 0, false}, /* a length on the wire that nobody uses */
        {24, UINT32_MAX, false},     /* the year 2106 */
        {24 + 4, UINT32_MAX, false}, /* microseconds beyond a second */
        {16, 0, false},              /* a snapshot length of 0: libpcap takes its own */
        {16, UINT32_MAX, false},     /* and of 4 GiB */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        packets_free(&packets);
        packets_init(&packets, 7, false);
        memcpy(bytes, good, len);
        put32(bytes + lies[i].at, lies[i].value);
        const char *why = capture(bytes, len);
        if ((why != NULL) != lies[i].refused) {
            print_error("lie %zu: %s\n", i, why == NULL ? "taken" : why);
            fail();
        }
        assert_true(why == NULL || strlen(why) > 5);
        assert_true(packets.count <= 5);
    }
}

static void files_that_are_not_there(void **state)
{
    (void)state;
    static const char *const paths[] = {"/nonexistent/packets.pcap"};
    assert_int_equal(packets_read(&packets, paths, 1), 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, drop)
    const struct CMUnitTest tests[] = {
        TEST(lines_are_read),
        TEST(columns_may_be_named),
        TEST(one_way_tells_directions_apart),
        TEST(wrong_lines_are_refused),
        TEST(a_line_cut_anywhere_is_refused_or_shorter),
        TEST(frames_are_read_and_cut_ones_counted),
        TEST(other_frames_are_counted),
        TEST(a_capture_is_read),
        TEST(a_capture_cut_anywhere_keeps_what_is_whole),
        TEST(hostile_captures_are_refused),
        TEST(files_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
