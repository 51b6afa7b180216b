/*
 * args.c: the words of a command. Numbers are taken only if the whole word is one: a length that is
 * almost a number is a mistake.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server.h"

bool word_text(const struct redis_string *word, char *text, size_t room)
{
    size_t len;
    const char *bytes = redis.StringPtrLen(word, &len);
    if (len >= room || memchr(bytes, 0, len) != NULL) {
        return false;
    }
    memcpy(text, bytes, len);
    text[len] = 0;
    return true;
}

bool word_is(const struct redis_string *word, const char *name)
{
    size_t len;
    const char *bytes = redis.StringPtrLen(word, &len);
    return len == strlen(name) && strncasecmp(bytes, name, len) == 0;
}

bool words_take(struct words *words, const char *name)
{
    if (words->at < words->argc && word_is(words->argv[words->at], name)) {
        words->at++;
        return true;
    }
    return false;
}

bool word_u64(const struct redis_string *word, uint64_t *out)
{
    size_t len;
    const char *bytes = redis.StringPtrLen(word, &len);
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned char)bytes[i] - (unsigned)'0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    if (len == 0) {
        return false;
    }
    *out = number;
    return true;
}

bool word_real(const struct redis_string *word, double *out)
{
    char text[64];
    char *end;
    if (!word_text(word, text, sizeof text) || text[0] == 0 || isspace((unsigned char)text[0])) {
        return false;
    }
    double number = strtod(text, &end);
    if (*end != 0 || !isfinite(number)) {
        return false;
    }
    *out = number;
    return true;
}
