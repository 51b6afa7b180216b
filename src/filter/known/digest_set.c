/* digest_set.c: an exact set of digests (digest_set.h). */
#include "filter/known/digest_set.h"

#include "address/address.h"
#include "cells/bits.h"

/* Members are many and rarely found: their bits of the door are requested so many ahead. */
#define AHEAD 16

/* Word 1 of the digest's own sequence: its low half chooses the slot, its high half the door. */
static uint64_t hash_of(struct tepal_digest d)
{
    return address_more(d, ADDRESS_GOLDEN);
}

static uint64_t door_of(const struct digest_set *set, uint64_t hash)
{
    return wide_scale(hash, set->door_bits);
}

/* The slot of the key, or the empty one where it belongs. */
static uint32_t *slot_of(const struct digest_set *set, struct tepal_digest key, uint64_t hash)
{
    for (uint64_t at = hash;; at++) {
        uint32_t *slot = &set->slot[at & set->mask];
        const struct tepal_digest *other = &set->keys[*slot - (uint32_t)(*slot != 0)];
        if (*slot == 0 || (other->lo == key.lo && other->hi == key.hi)) {
            return slot;
        }
    }
}

/* The first chosen key from number i on; `count`: none. Often one key in hundreds is chosen. */
static size_t next_chosen(const struct digest_set *set, size_t i)
{
    if (set->chosen == NULL || i >= set->count) {
        return i;
    }
    uint64_t word = set->chosen[i / 64] >> (i % 64);
    if (word != 0) {
        return i + (size_t)__builtin_ctzll(word);
    }
    for (size_t w = i / 64 + 1; w < (set->count + 63) / 64; w++) {
        if (set->chosen[w] != 0) {
            return 64 * w + (size_t)__builtin_ctzll(set->chosen[w]);
        }
    }
    return set->count;
}

static size_t request_key(const struct digest_set *set, size_t i)
{
    if (i < set->count) {
        uint64_t hash = hash_of(set->keys[i]);
        __builtin_prefetch(&set->slot[hash & set->mask], 1);
        bits_prefetch(set->door, door_of(set, hash));
        i = next_chosen(set, i + 1);
    }
    return i;
}

bool tepal_digest_set_make(struct arena *arena, const struct tepal_digest *keys, size_t count,
                           const uint64_t *chosen, struct digest_set *set)
{
    uint64_t size = chosen == NULL ? count : tepal_bits_count(chosen, (count + 63) / 64);
    set->keys = keys;
    set->count = count;
    set->chosen = chosen;
    set->mask = 1;
    while (set->mask < 2 * size) {
        set->mask = 2 * set->mask + 1;
    }
    set->door_bits = 16 * size + 64;
    set->slot = tepal_arena_take(arena, set->mask + 1, sizeof *set->slot);
    set->door = tepal_arena_bitmap(arena, set->door_bits);
    if (set->slot == NULL || set->door == NULL) {
        return false;
    }
    size_t ahead = next_chosen(set, 0);
    for (int i = 0; i < AHEAD; i++) {
        ahead = request_key(set, ahead);
    }
    for (size_t i = next_chosen(set, 0); i < count; i = next_chosen(set, i + 1)) {
        ahead = request_key(set, ahead);
        uint64_t hash = hash_of(keys[i]);
        uint32_t *slot = slot_of(set, keys[i], hash);
        *slot = *slot == 0 ? (uint32_t)i + 1 : *slot;
        bits_set(set->door, door_of(set, hash));
    }
    return true;
}

uint32_t tepal_digest_set_find(const struct digest_set *set, struct tepal_digest key)
{
    uint64_t hash = hash_of(key);
    if (!bits_test(set->door, door_of(set, hash))) {
        return DIGEST_SET_NONE;
    }
    return *slot_of(set, key, hash) - 1; /* 0 - 1 is DIGEST_SET_NONE */
}

uint64_t tepal_digest_set_meet(const struct digest_set *set, const struct tepal_digest *members,
                               size_t member_count, uint64_t *both)
{
    bool any = false;
    for (size_t i = 0; i < member_count; i++) {
        if (i + AHEAD < member_count) {
            bits_prefetch(set->door, door_of(set, hash_of(members[i + AHEAD])));
        }
        uint32_t first = tepal_digest_set_find(set, members[i]);
        if (first != DIGEST_SET_NONE) {
            bits_set(both, first);
            any = true;
        }
    }
    /* So far they are the first of their equals. */
    uint64_t met = 0;
    for (size_t i = any ? next_chosen(set, 0) : set->count; i < set->count;
         i = next_chosen(set, i + 1)) {
        if (bits_test(both, tepal_digest_set_find(set, set->keys[i]))) {
            bits_set(both, i);
            met++;
        }
    }
    return met;
}
