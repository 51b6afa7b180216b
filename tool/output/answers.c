/* answers.c: runs of wanted lines lie next to each other in the buffer, and are copied as such. */
#include "output/answers.h"

void answers_print(struct out *out, const struct key *key, const uint64_t *answers, size_t count,
                   bool wanted)
{
    size_t i = 0;
    while (i < count) {
        if (answer_of(answers, i) != wanted) {
            i++;
            continue;
        }
        const char *from = key[i].text;
        const char *to = from;
        for (; i < count && answer_of(answers, i) == wanted; i++) {
            to = key[i].text + key[i].len + 1;
        }
        out_bytes(out, from, (size_t)(to - from));
    }
}
