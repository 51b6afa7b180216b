/* number.c: exact integers with suffixes, and rates in four spellings. */
#include "cli/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char not_a_number[] = "not a number";
static const char too_large[] = "too large: the maximum is 18446744073709551615";
static const char not_whole[] = "not a whole number";

static bool multiply(uint64_t *value, uint64_t by)
{
    if (by != 0 && *value > UINT64_MAX / by) {
        return false;
    }
    *value *= by;
    return true;
}

static bool append_digit(uint64_t *value, char digit)
{
    uint64_t add = (uint64_t)(digit - '0');
    if (!multiply(value, 10) || *value > UINT64_MAX - add) {
        return false;
    }
    *value += add;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What a suffix multiplies by; 0 if it is unknown. */
static uint64_t suffix_unit(const char *suffix)
{
    static const char letters[] = "kMGTP";
    uint64_t thousand = 1;
    if (suffix[0] == '\0') {
        return 1;
    }
    bool binary = suffix[1] == 'i';
    if (suffix[1] != '\0' && (!binary || suffix[2] != '\0')) {
        return 0;
    }
    char letter = suffix[0] == 'K' ? 'k' : suffix[0];
    for (size_t i = 0; letters[i] != '\0'; i++) {
        thousand *= binary ? 1024 : 1000;
        if (letters[i] == letter) {
            return thousand;
        }
    }
    return 0;
}

/* The digits before and after the point: value = digits * 10^scale. */
static const char *read_digits(const char **at, uint64_t *digits, int *scale)
{
    const char *p = *at;
    bool any = false;
    for (; is_digit(*p); p++, any = true) {
        if (!append_digit(digits, *p)) {
            return too_large;
        }
    }
    if (*p == '.') {
        const char *first = ++p;
        const char *last = first; /* zeros at the end say nothing: 1.000 is 1 */
        for (; is_digit(*p); p++, any = true) {
            last = *p == '0' ? last : p + 1;
        }
        for (const char *q = first; q < last; q++, (*scale)--) {
            if (!append_digit(digits, *q)) {
                return not_whole;
            }
        }
    }
    *at = p;
    return any ? NULL : not_a_number;
}

static const char *read_exponent(const char **at, int *scale)
{
    const char *p = *at;
    if (*p != 'e' && *p != 'E') {
        return NULL;
    }
    p++;
    int sign = *p == '-' ? -1 : 1;
    if (*p == '+' || *p == '-') {
        p++;
    }
    if (!is_digit(*p)) {
        return not_a_number;
    }
    int exponent = 0;
    for (; is_digit(*p); p++) {
        exponent = exponent < 1000 ? exponent * 10 + (*p - '0') : exponent;
    }
    *scale += sign * exponent;
    *at = p;
    return NULL;
}

/* value * unit * 10^scale, exactly. */
static const char *scaled(uint64_t value, uint64_t unit, int scale, uint64_t *out)
{
    if (!multiply(&value, unit)) {
        return too_large;
    }
    for (; value != 0 && scale > 0; scale--) {
        if (!multiply(&value, 10)) {
            return too_large;
        }
    }
    for (; value != 0 && scale < 0; scale++) {
        if (value % 10 != 0) {
            return not_whole;
        }
        value /= 10;
    }
    *out = value;
    return NULL;
}

const char *number_whole(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    int scale = 0;
    if (text[0] == '-' && is_digit(text[1])) {
        return "negative";
    }
    const char *wrong = read_digits(&text, &value, &scale);
    if (wrong == NULL) {
        wrong = read_exponent(&text, &scale);
    }
    if (wrong != NULL) {
        return wrong;
    }
    uint64_t unit = suffix_unit(text);
    if (unit == 0) {
        return strcmp(text, "m") == 0
                   ? "not a number: m means minutes; write 10M (millions) or 10Mi"
               : isalpha((unsigned char)text[0])
                   ? "not a number: the suffixes are k M G T P (1000) and Ki Mi Gi Ti Pi (1024)"
                   : not_a_number;
    }
    return scaled(value, unit, scale, out);
}

const char *number_size(const char *text, uint64_t *out)
{
    char copy[64];
    size_t len = strlen(text);
    if (len >= sizeof copy) {
        return not_a_number;
    }
    memcpy(copy, text, len + 1);
    if (len > 1 && copy[len - 1] == 'B') {
        copy[--len] = '\0';
    }
    const char *wrong = number_whole(copy, out);
    if (wrong == NULL || wrong == too_large || wrong == not_whole) {
        return wrong;
    }
    if (len > 1 && copy[len - 1] == 'm') {
        return "not a size: m means minutes; write 10M or 10MB (millions of bytes), 10Mi or 10MiB "
               "(1024 x 1024)";
    }
    return isdigit((unsigned char)text[0])
               ? "not a size: write 4096, 64k or 64kB (1000), 64Ki or 64KiB (1024), and so on with "
                 "M, G, T, P"
               : wrong;
}

/* The unit of time that `*at` begins with: its milliseconds, and *at goes behind it; 0: none. */
static uint64_t duration_unit(const char **at)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"ms", 1},      {"s", 1000},    {"sec", 1000},  {"m", 60000},
                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, *at, len) == 0) {
            *at += len;
            return units[i].milliseconds;
        }
    }
    return 0;
}

const char *number_duration(const char *text, uint64_t *out)
{
    static const char not_a_duration[] =
        "not a duration: write 500ms, 90s, 10m or 10min, 2h, 1h30m or 7d";
    uint64_t sum = 0;
    uint64_t before = UINT64_MAX; /* units only get smaller: 1h30m, not 30m1h */
    do {
        uint64_t value = 0;
        int scale = 0;
        const char *wrong = read_digits(&text, &value, &scale);
        uint64_t unit = wrong == NULL ? duration_unit(&text) : 0;
        if (unit == 0 || unit >= before) {
            return wrong == too_large ? too_large : not_a_duration;
        }
        wrong = scaled(value, unit, scale, &value);
        if (wrong != NULL) {
            return wrong == not_whole ? "not a whole number of milliseconds" : wrong;
        }
        if (value > UINT64_MAX - sum) {
            return too_large;
        }
        sum += value;
        before = unit;
    } while (*text != '\0');
    *out = sum;
    return NULL;
}

const char *number_seed(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *p = hex ? text + 2 : text;
    if (*p == '\0' || p[strspn(p, hex ? "0123456789abcdefABCDEF" : "0123456789")] != '\0') {
        return "not a seed: a whole number, decimal or 0x...";
    }
    errno = 0;
    unsigned long long value = strtoull(p, NULL, hex ? 16 : 10);
    if (errno == ERANGE || value > UINT64_MAX) {
        return too_large;
    }
    *out = value;
    return NULL;
}

/* A finite decimal of `len` characters; strtod alone would also take "nan", "inf" and "0x1p3". */
static bool read_real(const char *text, size_t len, double *out)
{
    char copy[64];
    char *end;
    if (len == 0 || len >= sizeof copy || memchr(text, '\0', len) != NULL) {
        return false;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (copy[strspn(copy, "0123456789.eE+-")] != '\0') {
        return false;
    }
    double value = strtod(copy, &end);
    if (*end != '\0' || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

const char *number_positive(const char *text, double *out)
{
    double value;
    if (!read_real(text, strlen(text), &value)) {
        return not_a_number;
    }
    if (!(value > 0)) {
        return "must be above 0";
    }
    *out = value;
    return NULL;
}

/* What 1%, 0.01, 1e-2 and 1/100 stand for. */
static bool read_share(const char *text, double *out)
{
    size_t len = strlen(text);
    const char *slash = strchr(text, '/');
    double value;
    double by = 1;
    if (slash != NULL) {
        if (!read_real(text, (size_t)(slash - text), &value) ||
            !read_real(slash + 1, strlen(slash + 1), &by) || by == 0) {
            return false;
        }
    } else {
        bool percent = len > 0 && text[len - 1] == '%';
        by = percent ? 100 : 1;
        if (!read_real(text, len - percent, &value)) {
            return false;
        }
    }
    *out = value / by;
    return true;
}

const char *number_rate(const char *text, double *out)
{
    double value;
    if (!read_share(text, &value)) {
        return "not a rate: write 1%, 0.01, 1e-2 or 1/100";
    }
    if (!(value > 0 && value < 1)) {
        return "out of range: a rate must be above 0 and below 1";
    }
    *out = value;
    return NULL;
}

const char *number_share(const char *text, double *out)
{
    double value;
    if (!read_share(text, &value)) {
        return "not a share: write 1%, 0.01, 1e-2 or 1/100";
    }
    if (!(value > 0 && value <= 1)) {
        return "out of range: a share must be above 0 and at most 1";
    }
    *out = value;
    return NULL;
}

const char *number_part(const char *text, double *out)
{
    double value;
    if (!read_share(text, &value)) {
        return "not a fraction: write 25%, 0.25, 1/4, 0 or 1";
    }
    if (!(value >= 0 && value <= 1)) {
        return "out of range: a fraction must be within 0..1";
    }
    *out = value;
    return NULL;
}

const char *number_weight(const char *text, size_t len, double *out)
{
    double value;
    if (len == 0) {
        return "no weight after the tab";
    }
    if (!read_real(text, len, &value)) {
        return "the weight is not a number";
    }
    if (value < 0) {
        return "the weight is negative";
    }
    *out = value;
    return NULL;
}
