/* server_unit.c: slots, parts and addresses: what decides where a key of a cluster is. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "server/login.h"
#include "server/part.h"
#include "server/servers.h"

static unsigned slot(const char *key)
{
    return servers_slot(key, strlen(key));
}

/* Published values of CLUSTER KEYSLOT, and the rule of braces. */
static void slots_are_those_of_the_specification(void **state)
{
    (void)state;
    assert_int_equal(slot("123456789"), 0x31c3);
    assert_int_equal(slot("foo"), 12182);
    assert_int_equal(slot(""), 0);
    assert_int_equal(slot("{user1000}.following"), slot("user1000"));
    assert_int_equal(slot("a{user1000}{b}"), slot("user1000"));
    assert_int_equal(slot("foo{{bar}}zap"), slot("{bar"));
    assert_int_not_equal(slot("foo{}{bar}"), slot("bar"));
    assert_int_not_equal(slot("foo{bar"), slot("bar"));
    assert_int_equal(slot("{big:17}"), slot("big:17"));
}

/* Against 128-bit arithmetic; and part i of P is the parts 2i and 2i + 1 of 2P. */
static void parts_are_intervals_of_digests(void **state)
{
    (void)state;
    uint64_t x = 1;
    for (int i = 0; i < 100000; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t parts = 1 + (x >> 40) % 1000000;
        struct tepal_digest d = {x ^ x >> 31, 0};
        uint64_t part = part_of(d, parts);
        __extension__ unsigned __int128 product = (unsigned __int128)d.lo * parts;
        assert_true(part == (uint64_t)(product >> 64));
        assert_true(part < parts);
        assert_true(part_of(d, 2 * parts) / 2 == part);
    }
    assert_int_equal(part_of((struct tepal_digest){UINT64_MAX, 0}, 1000000), 999999);
    assert_int_equal(part_of((struct tepal_digest){0, UINT64_MAX}, 7), 0);
}

/*
 * 10^5 keys in 10 parts: each has 10^4 with a deviation of 95. The rule is pinned by two keys, so
 * that what is on servers stays where it is looked for (by another XXH3, in Python).
 */
static void parts_are_alike(void **state)
{
    (void)state;
    struct tepal_hasher hasher;
    unsigned count[10] = {0};
    char key[16];
    part_hasher(&hasher);
    for (int i = 0; i < 100000; i++) {
        int len = snprintf(key, sizeof key, "key%d", i);
        count[part_of(tepal_hash_bytes(&hasher, key, (size_t)len), 10)]++;
    }
    for (int i = 0; i < 10; i++) {
        assert_true(count[i] > 10000 - 650 && count[i] < 10000 + 650);
    }
    assert_int_equal(part_of(tepal_hash_bytes(&hasher, "example.org", 11), 1000), 652);
    assert_int_equal(part_of(tepal_hash_bytes(&hasher, "", 0), 1000), 210);
}

static void check_name(char *got, const char *want)
{
    assert_string_equal(got, want);
    free(got);
}

static void names_sort_as_parts_do(void **state)
{
    (void)state;
    check_name(part_name("big", 3, 8), "{big:3}");
    check_name(part_name("big", 0, 0), "big");
    check_name(part_path("p", 7, 16), "p.07");
    check_name(part_path("p", 7, 10), "p.7");
    check_name(part_path("p", 0, 0), "p");
    check_name(part_path("p", 99, 101), "p.099");
}

static void addresses_are_split_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host;
        const char *port;
    } good[] = {{"localhost:6379", "localhost", "6379"},
                {"[::1]:7", "::1", "7"},
                {"::1:7000", "::1", "7000"},
                {"10.0.0.1:1@10001", "10.0.0.1", "1"},
                {":6380", "", "6380"},
                {"h:65535", "h", "65535"}};
    static const char *const bad[] = {"", "h", "h:", "h:x", "h:65536", "h:123456", "h:1x", "h:-1"};
    char host[16];
    char port[8];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(login_split(good[i].text, host, sizeof host, port, sizeof port));
        assert_string_equal(host, good[i].host);
        assert_string_equal(port, good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(login_split(bad[i], host, sizeof host, port, sizeof port));
    }
    assert_false(login_split("a-host-that-is-too-long:1", host, sizeof host, port, sizeof port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_those_of_the_specification),
        cmocka_unit_test(parts_are_intervals_of_digests),
        cmocka_unit_test(parts_are_alike),
        cmocka_unit_test(names_sort_as_parts_do),
        cmocka_unit_test(addresses_are_split_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
