/* times.c: a field of digits, with or without a fraction. */
#include "streams/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *times_read(const struct feed *feed, const struct key *line, size_t field, uint64_t *ms)
{
    static const char digits[] = "0123456789";
    struct key text = feed_field(line, field, feed->delimiter);
    char copy[40];
    if (text.len == 0) {
        return "no time: the line has too few fields";
    }
    if (text.len >= sizeof copy) {
        return "the time is not a number of seconds";
    }
    memcpy(copy, text.text, text.len);
    copy[text.len] = '\0';
    size_t whole = strspn(copy, digits);
    size_t fraction = copy[whole] == '.' ? strspn(copy + whole + 1, digits) + 1 : 0;
    if (whole == 0 || whole + fraction != text.len) {
        return "the time is not a number of seconds";
    }
    double value = floor(strtod(copy, NULL) * 1000 + 0.5);
    if (!(value < 0x1p53)) {
        return "the time is too large";
    }
    *ms = (uint64_t)value;
    return NULL;
}
