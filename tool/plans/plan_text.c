/* plan_text.c: plans as JSON, and the words of a plan's command. */
#include "plans/plan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tepal/counting.h>
#include <tepal/generalized.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>

#include "output/render.h"

static void set_real(json_t *o, const char *name, double x)
{
    json_object_set_new(o, name, isfinite(x) ? json_real(x) : json_null());
}

static void set_whole(json_t *o, const char *name, uint64_t x)
{
    json_object_set_new(o, name, json_integer((json_int_t)x));
}

/* The kind's own parameters. */
static void set_own(json_t *o, const struct tepal_proposal *plan)
{
    const struct tepal_params *p = &plan->params;
    struct tepal_recycling_options cycle;
    switch (plan->kind) {
    case TEPAL_KIND_GENERALIZED:
        set_whole(o, "reset_hashes", p->own[TEPAL_GENERALIZED_RESET_HASHES]);
        set_whole(o, "set_hashes", p->hashes - p->own[TEPAL_GENERALIZED_RESET_HASHES]);
        set_whole(o, "tolerance", p->own[TEPAL_GENERALIZED_TOLERANCE]);
        break;
    case TEPAL_KIND_COUNTING:
        set_whole(o, "cells", p->cells);
        set_whole(o, "choices", p->own[TEPAL_COUNTING_CHOICES]);
        break;
    case TEPAL_KIND_FINGERPRINT:
        set_whole(o, "fingerprint_bits", p->own[0]);
        break;
    case TEPAL_KIND_YESNO:
        set_whole(o, "yes_bits", tepal_yesno_yes_bits(p));
        set_whole(o, "no_bits", p->own[TEPAL_YESNO_NO_BITS]);
        set_whole(o, "no_filters", p->own[TEPAL_YESNO_NO_FILTERS]);
        set_whole(o, "no_hashes", p->own[TEPAL_YESNO_NO_HASHES]);
        json_object_set_new(o, "own_seeds", json_boolean(p->own[TEPAL_YESNO_OWN_SEEDS] != 0));
        break;
    case TEPAL_KIND_RECYCLING:
        cycle = tepal_recycling_options_of(p);
        set_whole(o, "phases", cycle.phases);
        set_whole(o, "phase_bits", p->cells);
        set_whole(o, "sigma", cycle.limit);
        set_whole(o, "messages_per_cycle", (uint64_t)plan->messages_per_cycle);
        set_real(o, "remembers", plan->remembers);
        break;
    case TEPAL_KIND_CASCADE:
        set_whole(o, "first_level_bits", p->cells);
        break;
    case TEPAL_KIND_BLOOM:
    case TEPAL_KIND_RETOUCHED:
        break;
    }
}

static json_t *plan_json(const struct tepal_proposal *plan)
{
    json_t *o = json_object();
    bool is = plan->params.cells > 0;
    const struct tepal_kind *kind = tepal_kind_by_id(plan->kind);
    json_object_set_new(o, "kind", json_string(kind == NULL ? "" : kind->name));
    json_object_set_new(o, "layout",
                        plan->all_layouts ? json_null()
                                          : json_string(tepal_layout_name(plan->params.layout)));
    json_object_set_new(o, "feasible", json_boolean(plan->feasible));
    json_object_set_new(o, "reason", json_string(plan->reason));
    json_object_set_new(o, "blocked_by",
                        plan->feasible ? json_null() : json_string(plan->blocked_by));
    json_object_set_new(o, "bits", is ? json_integer((json_int_t)plan->bits) : json_null());
    set_real(o, "bits_per_key", plan->bits_per_key);
    json_object_set_new(o, "hashes",
                        is ? json_integer((json_int_t)plan->params.hashes) : json_null());
    json_object_set_new(o, "positions",
                        is ? json_string(tepal_positions_name(plan->params.positions))
                           : json_null());
    set_real(o, "fp", plan->fp);
    set_real(o, "fp_unknown", plan->fp_unknown);
    set_real(o, "fn", plan->fn);
    set_real(o, "probes", plan->probes);
    set_real(o, "cost", plan->cost);
    json_object_set_new(o, "command", is ? json_string(plan->command) : json_null());
    if (is) {
        set_own(o, plan);
    }
    return o;
}

json_t *plan_text_json(const struct tepal_wish *wish, const struct tepal_plans *plans)
{
    json_t *o = json_object();
    json_t *list = json_array();
    set_whole(o, "keys", plans->keys);
    set_real(o, "fp", plans->fp);
    set_real(o, "fn", plans->fn);
    set_whole(o, "known_negatives", wish->known_negatives);
    json_object_set_new(o, "weighted", json_boolean(wish->weights.count > 0));
    json_object_set_new(o, "feasible", json_boolean(plans->plan[0].feasible));
    for (size_t i = 0; i < plans->count; i++) {
        json_array_append_new(list, plan_json(&plans->plan[i]));
    }
    json_object_set_new(o, "plans", list);
    if (plans->blocked_by[0] != '\0') {
        json_object_set_new(o, "blocked_by", json_string(plans->blocked_by));
        json_object_set_new(o, "blocked_also", json_string(plans->blocked_also));
        json_object_set_new(o, "nearest", plan_json(&plans->nearest));
    }
    return o;
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *named(const char *word, size_t len, const char *keys, const char *negatives,
                         const char *file)
{
    if (len == 4 && memcmp(word, "KEYS", len) == 0) {
        return keys;
    }
    if (len == 9 && memcmp(word, "NEGATIVES", len) == 0) {
        return negatives;
    }
    return len == 4 && memcmp(word, "FILE", len) == 0 ? file : NULL;
}

const char *plan_text_command(const struct tepal_proposal *plan, const char *keys,
                              const char *negatives, const char *file, char *room, size_t size)
{
    size_t used = 0;
    for (const char *at = plan->command; *at != '\0' && used + 1 < size;) {
        size_t len = strcspn(at, " ");
        const char *name = named(at, len, keys, negatives, file);
        int wrote = name == NULL ? snprintf(room + used, size - used, "%.*s", (int)len, at)
                                 : snprintf(room + used, size - used, "%s", name);
        used += wrote < 0 ? 0 : (size_t)wrote;
        at += len;
        if (*at == ' ' && used + 1 < size) {
            room[used++] = ' ';
            at++;
        }
    }
    room[used < size ? used : size - 1] = '\0';
    return room;
}

/* What a plan may say to build: nothing that reads or writes another file. */
static const char *const with_value[] = {"--kind",       "--layout",       "--bits",
                                         "--hashes",     "--capacity",     "--positions",
                                         "--cells",      "--reset-hashes", "--set-hashes",
                                         "--tolerance",  "--yes-bits",     "--no-bits",
                                         "--no-filters", "--no-hashes",    "--phases",
                                         "--sigma",      "--fp",           "--fingerprint-bits"};

static bool takes_value(const char *word)
{
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        if (strcmp(word, with_value[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const char no_command[] = "the plan has no command that tepal plan would have written";

/* The words after "tepal build KEYS -o FILE". */
static const char *take(char *const *word, int count, struct plan_words *words)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(word[i], "--avoid") == 0 && i + 1 < count &&
            strcmp(word[i + 1], "NEGATIVES") == 0) {
            words->avoids = true;
            i++;
        } else if (strcmp(word[i], "--weights") == 0) {
            words->weights = true;
        } else if (strcmp(word[i], "--own-seeds") == 0) {
            words->word[words->count++] = word[i];
        } else if (takes_value(word[i]) && i + 1 < count && word[i + 1][0] != '-') {
            words->word[words->count++] = word[i];
            words->word[words->count++] = word[++i];
        } else {
            return no_command;
        }
    }
    return NULL;
}

static bool are(char *const *word, int count, const char *const *want, int wanted)
{
    for (int i = 0; i < wanted; i++) {
        if (i >= count || strcmp(word[i], want[i]) != 0) {
            return false;
        }
    }
    return true;
}

const char *plan_text_words(const char *command, struct plan_words *words)
{
    static const char *const build[] = {"tepal", "build", "KEYS", "-o", "FILE"};
    static const char *const retouch[] = {"&&",   "tepal",   "retouch",  "FILE",
                                          "-o",   "FILE",    "--force",  "--members",
                                          "KEYS", "--avoid", "NEGATIVES"};
    char *word[PLAN_WORDS];
    int count = 0;
    int middle = 0;
    memset(words, 0, sizeof *words);
    if (strlen(command) >= sizeof words->text) {
        return no_command;
    }
    memcpy(words->text, command, strlen(command));
    for (char *at = words->text; *at != '\0';) {
        size_t len = strcspn(at, " ");
        if (count == PLAN_WORDS || len == 0) {
            return no_command;
        }
        word[count++] = at;
        at += len;
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    while (middle < count && strcmp(word[middle], "&&") != 0) {
        middle++;
    }
    if (!are(word, middle, build, 5)) {
        return no_command;
    }
    if (middle < count) {
        bool weighted = count - middle == 14 && strcmp(word[count - 3], "--weights") == 0;
        if (count - middle != (weighted ? 14 : 13) ||
            !are(word + middle, count - middle, retouch, 11) ||
            strcmp(word[count - 2], "--max-fn") != 0) {
            return no_command;
        }
        words->max_fn = word[count - 1];
        words->avoids = true;
        words->weights = weighted;
    }
    return take(word + 5, middle - 5, words);
}

const char *plan_text_read(const char *text, size_t len, struct plan_words *words)
{
    json_error_t error;
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    const char *why = "not a plan: tepal plan --json writes them";
    const json_t *plan = json_array_get(json_object_get(o, "plans"), 0);
    const char *command = json_string_value(json_object_get(plan, "command"));
    if (plan != NULL && !json_is_true(json_object_get(plan, "feasible"))) {
        why = "no plan in it is feasible";
    } else if (command != NULL) {
        why = plan_text_words(command, words);
    }
    json_decref(o);
    return why;
}
