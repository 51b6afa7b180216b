/* members.c: members from their file. */
#include "input/members.h"

#include <stdlib.h>
#include <string.h>

#include "files/filter_file.h"
#include "input/receipts.h"

const char *members_path(const struct args *args)
{
    const struct option_value *receipts = arg(args, "receipts");
    const struct option_value *members = arg(args, "members");
    return receipts->given ? receipts->text : members->given ? members->text : NULL;
}

int members_check(const struct args *args)
{
    const char *path = members_path(args);
    if (path == NULL) {
        return args_wrong(args, "the members are needed: --members KEYS, or --receipts FILE");
    }
    if (strcmp(args->operand[0], "-") == 0 && strcmp(path, "-") == 0) {
        return args_about(args, "standard input",
                          "the filter and the members cannot both be read from there");
    }
    return filter_file_check_inputs(args, NULL, &path, 1, "");
}

int members_check_kind(const struct args *args, const struct tepal_filter *filter, const char *done)
{
    const char *name = filter_file_name(args->operand[0], false);
    if (tepal_filter_kind(filter)->id != TEPAL_KIND_COUNTING) {
        return args_about(args, name,
                          "only counting filters can be %s, and this one is of the kind %s", done,
                          tepal_filter_kind(filter)->name);
    }
    if (tepal_filter_params(filter)->counting.form == TEPAL_FORM_BITS) {
        return args_about(
            args, name, "its counters were dropped (convert --to bits), so it cannot be %s", done);
    }
    return EXIT_YES;
}

static bool grow(void **array, size_t room, size_t size)
{
    void *larger = realloc(*array, room * size);
    if (larger != NULL) {
        *array = larger;
    }
    return larger != NULL;
}

static bool make_room(struct members *m, size_t more)
{
    if (m->count + more <= m->room) {
        return true;
    }
    size_t room = (m->count + more) * 2;
    bool got = grow((void **)&m->digest, room, sizeof *m->digest) &&
               grow((void **)&m->group, room, sizeof *m->group) &&
               (!m->texts || grow((void **)&m->text_end, room, sizeof *m->text_end));
    m->room = got ? room : m->room;
    return got;
}

static bool keep_text(struct members *m, const struct key *key)
{
    size_t used = m->count == 0 ? 0 : m->text_end[m->count - 1];
    if (used + key->len > m->text_room || m->text == NULL) {
        size_t room = (used + key->len) * 2 + 4096;
        if (!grow((void **)&m->text, room, 1)) {
            return false;
        }
        m->text_room = room;
    }
    memcpy(m->text + used, key->text, key->len);
    m->text_end[m->count] = used + key->len;
    return true;
}

static bool keep_batch(struct members *m, const struct feed *feed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct key key = feed_key(feed, i);
        if (m->texts && !keep_text(m, &key)) {
            return false;
        }
        m->digest[m->count++] = feed->digest[i];
    }
    return true;
}

bool members_keep(struct members *members, const struct feed *feed, size_t count)
{
    return make_room(members, count) && keep_batch(members, feed, count);
}

int members_read(const struct args *args, const struct tepal_filter *filter,
                 const struct tepal_hasher *hasher, struct members *members)
{
    bool receipts = arg(args, "receipts")->given;
    const char *path = members_path(args);
    uint32_t choices = (uint32_t)tepal_filter_params(filter)->counting.choices;
    struct feed *feed = feed_open_file(args, &path, hasher, receipts);
    if (feed == NULL) {
        return EXIT_TROUBLE;
    }
    feed->receipts = receipts;
    ptrdiff_t got;
    int code = EXIT_YES;
    while (code == EXIT_YES && (got = feed_next(feed)) != 0) {
        if (got < 0) {
            code = EXIT_TROUBLE;
        } else if (!make_room(members, (size_t)got)) {
            code = args_wrong(args, "out of memory for the members");
        } else if (receipts) {
            code =
                receipts_groups(args, feed, (size_t)got, choices, members->group + members->count);
        }
        if (code == EXIT_YES && !keep_batch(members, feed, (size_t)got)) {
            code = args_wrong(args, "out of memory for the members");
        }
    }
    feed_close(feed);
    return code;
}

const uint8_t *members_groups(const struct args *args, const struct members *members)
{
    return arg(args, "receipts")->given ? members->group : NULL;
}

const char *members_text(const struct members *m, size_t i, size_t *len)
{
    size_t start = i == 0 ? 0 : m->text_end[i - 1];
    *len = m->text_end[i] - start;
    return m->text + start;
}

void members_free(struct members *members)
{
    free(members->digest);
    free(members->group);
    free(members->text_end);
    free(members->text);
    memset(members, 0, sizeof *members);
}
