/* kept.c: the list of kept keys, read, changed and written. */
#include "input/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/filter_file.h"
#include "input/feed.h"

int kept_open(struct kept *kept, const struct args *args, const struct tepal_filter *filter,
              const struct tepal_hasher *hasher)
{
    const struct option_value *list = arg(args, "kept");
    kept->given = list->given;
    kept->listed.texts = true;
    if (!list->given) {
        return EXIT_YES;
    }
    if (tepal_filter_kind(filter)->id != TEPAL_KIND_COUNTING) {
        return args_about(args, "--kept",
                          "only filters of the kind counting keep keys, and this one is %s",
                          tepal_filter_kind(filter)->name);
    }
    if (access(list->text, F_OK) != 0 && errno == ENOENT) {
        return EXIT_YES;
    }
    if (filter_file_check_inputs(args, NULL, &list->text, 1, "") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return feed_gather(feed_open_file(args, &list->text, hasher, false), &kept->listed, NULL);
}

/* Where it is listed; NULL: it is not. */
static double *weight_of(struct kept *kept, struct tepal_digest digest)
{
    size_t i = kept->given ? digests_find(&kept->listed, digest) : SIZE_MAX;
    return i == SIZE_MAX ? NULL : &kept->listed.weight[i];
}

bool kept_put(struct kept *kept, struct tepal_digest digest, const struct key *key)
{
    double *weight = weight_of(kept, digest);
    if (weight != NULL) {
        *weight = 1;
        return true;
    }
    return !kept->given || digests_add(&kept->listed, digest, 1, key->text, key->len);
}

bool kept_take(struct kept *kept, struct tepal_digest digest)
{
    double *weight = weight_of(kept, digest);
    bool listed = weight != NULL && *weight > 0;
    if (listed) {
        *weight = 0;
    }
    return listed;
}

int kept_finish(struct kept *kept, const struct args *args)
{
    if (key_list_open(&kept->file, args, "kept") != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < kept->listed.count; i++) {
        size_t len;
        const char *text = digests_text(&kept->listed, i, &len);
        if (kept->listed.weight[i] > 0) {
            key_list_add(&kept->file, text, len);
        }
    }
    return key_list_finish(&kept->file, args);
}

void kept_free(struct kept *kept)
{
    digests_free(&kept->listed);
    key_list_free(&kept->file);
}
