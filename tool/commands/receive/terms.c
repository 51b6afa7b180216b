/* terms.c: what was agreed on, first as in a filter that we have, then as the options say. */
#include "commands/receive/terms.h"

#include <tepal/generalized.h>

#include "cli/options.h"
#include "files/filter_file.h"
#include "input/secret.h"

#define MAX_BYTES ((uint64_t)1 << 30) /* unless --max-bytes says otherwise */

/* Everything as in a filter that we have. */
static int like(const struct args *args, struct tepal_terms *terms, const char *path)
{
    struct tepal_filter *filter;
    if (filter_file_open(args, path, FILTER_FILE_GLANCE, &filter) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    terms->params = *tepal_filter_params(filter);
    terms->agreed = TEPAL_AGREED_ALL;
    tepal_filter_free(filter);
    return EXIT_YES;
}

static const struct option_value *agree(const struct args *args, struct tepal_terms *terms,
                                        const char *id, unsigned what)
{
    const struct option_value *option = arg(args, id);
    if (option->given) {
        terms->agreed |= what;
        return option;
    }
    return NULL;
}

/* What the options say, over what --like says. */
static void agree_on_words(const struct args *args, struct tepal_terms *terms)
{
    struct tepal_params *p = &terms->params;
    const struct option_value *o;
    if ((o = agree(args, terms, "kind", TEPAL_AGREED_KIND)) != NULL) {
        p->kind = tepal_kind_by_name(o->text)->id;
    }
    (void)agree(args, terms, "layout", TEPAL_AGREED_LAYOUT);
    arg_layout(args, &p->layout);
    (void)agree(args, terms, "positions", TEPAL_AGREED_POSITIONS);
    arg_positions(args, &p->positions);
    if (arg(args, "unkeyed")->given) {
        terms->agreed |= TEPAL_AGREED_HASH;
        p->hash = TEPAL_HASH_XXH3;
        p->key_check = 0;
    }
}

static void agree_on_numbers(const struct args *args, struct tepal_terms *terms)
{
    struct tepal_params *p = &terms->params;
    const struct option_value *o;
    if ((o = agree(args, terms, "bits", TEPAL_AGREED_BITS)) != NULL) {
        p->cells = o->whole;
    }
    if ((o = agree(args, terms, "hashes", TEPAL_AGREED_HASHES)) != NULL) {
        p->hashes = (uint32_t)o->whole;
    }
    if ((o = agree(args, terms, "seed", TEPAL_AGREED_SEED)) != NULL) {
        p->seed = o->whole;
    }
}

static int agree_on_generalized(const struct args *args, struct tepal_terms *terms)
{
    struct tepal_params *p = &terms->params;
    const struct option_value *resets =
        agree(args, terms, "reset-hashes", TEPAL_AGREED_FIELD(generalized.reset_hashes));
    const struct option_value *tolerance =
        agree(args, terms, "tolerance", TEPAL_AGREED_FIELD(generalized.tolerance));
    const struct option_value *sets = arg(args, "set-hashes");
    if (resets == NULL && tolerance == NULL && !sets->given) {
        return EXIT_YES;
    }
    if (sets->given != (resets != NULL)) {
        return args_error(args, "--reset-hashes and --set-hashes go together: give both");
    }
    if (arg(args, "kind")->given && p->kind != TEPAL_KIND_GENERALIZED) {
        return args_error(args, "--%s is not an option of the kind %s",
                          resets != NULL ? "reset-hashes" : "tolerance", arg(args, "kind")->text);
    }
    terms->agreed |= TEPAL_AGREED_KIND;
    p->kind = TEPAL_KIND_GENERALIZED;
    if (resets != NULL) {
        terms->agreed |= TEPAL_AGREED_HASHES;
        p->generalized.reset_hashes = resets->whole;
        p->hashes = (uint32_t)(resets->whole + sets->whole);
    }
    if (tolerance != NULL) {
        p->generalized.tolerance = tolerance->whole;
    }
    return EXIT_YES;
}

int receive_terms(const struct args *args, struct tepal_terms *terms, uint8_t key[TEPAL_KEY_BYTES])
{
    const struct tepal_terms init = TEPAL_TERMS_INIT;
    *terms = init;
    if (arg(args, "like")->given && like(args, terms, arg(args, "like")->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    agree_on_words(args, terms);
    agree_on_numbers(args, terms);
    if (agree_on_generalized(args, terms) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    if (arg(args, "key-file")->given) {
        if (secret_read(args, arg(args, "key-file")->text, key) != EXIT_YES) {
            return EXIT_TROUBLE;
        }
        terms->key = key;
    }
    terms->max_bytes = arg_whole(args, "max-bytes", MAX_BYTES);
    terms->max_keys = arg(args, "max-keys")->whole;
    terms->keys = arg(args, "keys")->whole;
    terms->repeats = arg(args, "repeated")->given;
    terms->max_fp = arg_real(args, "max-fp", terms->max_fp);
    terms->min_probability = arg_real(args, "min-probability", terms->min_probability);
    if (arg(args, "any-fill")->given) {
        terms->min_probability = 0;
    }
    return EXIT_YES;
}
