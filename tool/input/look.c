/* look.c: counts among the first lines, which cost nothing beside all that follow. */
#include "input/look.h"

#include <stdio.h>

/* "812 of 2000 lines", or "812 of the first 4096 lines" where there may be more. */
static const char *how_many(size_t count, size_t lines, bool all, const char *what, char *room,
                            size_t size)
{
    snprintf(room, size, all ? "%zu of %zu %s%s" : "%zu of the first %zu %s%s", count, lines, what,
             SAY_S(lines));
    return room;
}

void feed_look(struct feed *f)
{
    const struct feed_block *b = f->block;
    size_t lines = b->count < LOOK_LINES ? b->count : LOOK_LINES;
    bool all = lines == b->count && b->text.whole;
    size_t returns = 0;
    size_t comments = 0;
    for (size_t i = 0; i < lines; i++) {
        struct key line = {b->key[i], b->len[i]};
        struct key key = f->field == 0 ? line : feed_field(&line, f->field, f->delimiter);
        returns += key.len > 0 && key.text[key.len - 1] == '\r';
        comments += line.len > 0 && line.text[0] == '#';
    }
    char room[96];
    if (b->text.marked) {
        progress_end(&f->progress);
        say_warning(
            b->text.subject,
            "the list begins with a byte order mark, which is left out: --plain takes it for "
            "a part of the first key");
    }
    if (returns > 0 && !f->crlf) {
        progress_end(&f->progress);
        say_warning(b->text.subject,
                    "%s end%s with a carriage return, which is part of the key: --crlf takes it "
                    "off",
                    how_many(returns, lines, all, "line", room, sizeof room),
                    returns == 1 ? "s" : "");
    }
    if (comments > 0 && comments < lines) {
        progress_end(&f->progress);
        say_warning(b->text.subject,
                    "%s begin%s with # and %s taken as a key: --comments leaves such lines out",
                    how_many(comments, lines, all, "line", room, sizeof room),
                    comments == 1 ? "s" : "", comments == 1 ? "is" : "are each");
    }
}

static void tell_repeats(struct feed *f, bool all)
{
    char room[96];
    f->notice_repeats = false;
    if (f->seen.repeats > 0) {
        progress_end(&f->progress);
        f->told_repeats = true;
        say_warning(feed_subject(f), "%s came before: " LOOK_UNIQUE,
                    how_many((size_t)f->seen.repeats, f->seen.count + (size_t)f->seen.repeats, all,
                             "key", room, sizeof room));
    }
    digests_free(&f->seen);
}

void feed_look_repeats(struct feed *f, size_t count)
{
    size_t looked = f->seen.count + (size_t)f->seen.repeats;
    size_t more = LOOK_LINES - looked < count ? LOOK_LINES - looked : count;
    for (size_t i = 0; i < more; i++) {
        struct tepal_digest digest =
            f->bare ? tepal_hash_bytes(&f->hasher, f->key[i], f->len[i]) : f->digest[i];
        if (!digests_add(&f->seen, digest, 1, NULL, 0)) {
            f->notice_repeats = false; /* no memory for a warning */
        }
    }
    if (looked + more == LOOK_LINES && f->notice_repeats) {
        tell_repeats(f, false);
    }
}

void feed_look_end(struct feed *f)
{
    if (f->notice_repeats) {
        tell_repeats(f, true);
    }
}
