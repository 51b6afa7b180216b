/*
 * names.c: names of authors, and the hash functions that the paper takes of them (Sec.
 * 5.1): SDBM, BUZ and the Mersenne twister.
 */
#include <stdio.h>
#include <string.h>

#include "input/keys.h"
#include "paper002/paper002.h"

const char *const lab_002_method_names[LAB_002_METHODS] = {
    "ours", "SDBM_BUZhash", "SDBM_MersenneTwister", "BUZ_MersenneTwister"};

/* ---- names ----------------------------------------------------------------------------------- */

static size_t add_syllables(struct lab *lab, char *text, size_t count)
{
    static const char *const onset[] = {"b", "d", "f", "g", "h", "j", "k",  "l",
                                        "m", "n", "p", "r", "s", "t", "ch", "w"};
    static const char *const rest[] = {"a", "e", "i", "o", "u", "an", "en", "ing"};
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = lab_draw(lab);
        len += (size_t)snprintf(text + len, 8, "%s%s", onset[bits % 16], rest[bits / 16 % 8]);
    }
    text[0] = (char)(text[0] - 'a' + 'A');
    return len;
}

void lab_002_make(struct lab *lab, struct lab_002_names *list)
{
    while (list->count < LAB_002_NAMES) {
        char *text = list->text[list->count++];
        size_t len = add_syllables(lab, text, 2 + (size_t)(lab_draw(lab) % 3));
        text[len++] = ' ';
        (void)add_syllables(lab, text + len, 3 + (size_t)(lab_draw(lab) % 2));
    }
}

/* The first column of dblp-authors/names.tsv.gz. */
static int read_names(const char *folder, struct lab_002_names *list)
{
    static const struct keys_options options = {.separator = '\n'};
    char path[4096];
    const char *paths[] = {path};
    struct key batch[64];
    ptrdiff_t got = 0;
    snprintf(path, sizeof path, "%s/dblp-authors/names.tsv.gz", folder);
    struct keys *keys = keys_open(paths, 1, &options);
    if (keys == NULL) {
        return say_no_memory();
    }
    while (list->count < LAB_002_NAMES && (got = keys_next(keys, batch, 64)) > 0) {
        for (ptrdiff_t i = 0; i < got && list->count < LAB_002_NAMES; i++) {
            const char *tab = memchr(batch[i].text, '\t', batch[i].len);
            size_t len = tab == NULL ? batch[i].len : (size_t)(tab - batch[i].text);
            if (len > 0 && len < LAB_002_NAME && batch[i].text[0] != '#') {
                memcpy(list->text[list->count++], batch[i].text, len);
            }
        }
    }
    int code = got < 0 ? say_error(keys_subject(keys), NULL, "%s", keys_why(keys)) : EXIT_YES;
    keys_close(keys);
    return code == EXIT_YES && list->count < LAB_002_NAMES
               ? say_error(NULL, "lab", "%s: too few names", path)
               : code;
}

int lab_002_load(struct lab *lab, struct lab_002_names *list)
{
    list->count = 0;
    if (lab_data(lab) != NULL) {
        return read_names(lab_data(lab), list);
    }
    lab_002_make(lab, list);
    return EXIT_YES;
}

/* ---- the paper's hashes ---------------------------------------------------------------------- */

uint64_t lab_002_sdbm(const char *text)
{
    uint64_t hash = 0;
    for (; *text != '\0'; text++) {
        hash = (unsigned char)*text + (hash << 6) + (hash << 16) - hash;
    }
    return hash;
}

void lab_002_words(struct lab *lab, uint64_t table[256])
{
    for (size_t i = 0; i < 256; i++) {
        table[i] = lab_draw(lab);
    }
}

/* Rotate, and add a random word for each byte without carry. */
uint64_t lab_002_buz(const uint64_t table[256], const char *text)
{
    uint64_t hash = 0;
    for (; *text != '\0'; text++) {
        hash = (hash << 1 | hash >> 63) ^ table[(unsigned char)*text];
    }
    return hash;
}

static uint32_t twist(const uint32_t *state, size_t i)
{
    uint32_t y = (state[i] & 0x80000000u) | (state[i + 1] & 0x7fffffffu);
    uint32_t x = state[i + 397] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680u;
    x ^= (x << 15) & 0xefc60000u;
    return x ^ (x >> 18);
}

/* The first numbers, at most four, of MT19937: they need 401 words of its first state. */
void lab_002_twister(uint32_t seed, uint32_t *out, size_t count)
{
    uint32_t state[401];
    state[0] = seed;
    for (uint32_t i = 1; i < 401; i++) {
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = twist(state, i);
    }
}
