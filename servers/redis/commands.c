/*
 * commands.c: the table of commands: what a server is told of each (COMMAND INFO, COMMAND DOCS).
 */
#include <string.h>

#include "server.h"

#define KEY                                                                                        \
    {                                                                                              \
        .name = "key", .type = REDIS_ARG_KEY                                                       \
    }
#define WORD(text, what)                                                                           \
    {                                                                                              \
        .name = text, .type = what, .key_spec_index = -1                                           \
    }
#define MANY(text, what)                                                                           \
    {                                                                                              \
        .name = text, .type = what, .key_spec_index = -1, .flags = REDIS_ARG_MULTIPLE              \
    }
#define OPTION(text, what, word)                                                                   \
    {                                                                                              \
        .name = text, .type = what, .key_spec_index = -1, .token = word,                           \
        .flags = REDIS_ARG_OPTIONAL                                                                \
    }
#define MAYBE(text, what) OPTION(text, what, NULL)
#define FLAG(text, word)  OPTION(text, REDIS_ARG_PURE_TOKEN, word)
#define END                                                                                        \
    {                                                                                              \
        0                                                                                          \
    }

#define WISH                                                                                       \
    OPTION("keys", REDIS_ARG_INTEGER, "KEYS"), OPTION("rate", REDIS_ARG_DOUBLE, "FP"),             \
        OPTION("share-lost", REDIS_ARG_DOUBLE, "FN"),                                              \
        OPTION("bytes", REDIS_ARG_INTEGER, "MEMORY"), OPTION("kind", REDIS_ARG_STRING, "KIND"),    \
        OPTION("layout", REDIS_ARG_STRING, "LAYOUT"), FLAG("deletes", "DELETES"),                  \
        FLAG("endless", "ENDLESS"), OPTION("seconds", REDIS_ARG_INTEGER, "WINDOW"),                \
        FLAG("untrusted", "UNTRUSTED"), FLAG("grow", "GROW"), FLAG("keyed", "KEYED"),              \
        FLAG("keyed13", "KEYED13"), OPTION("seed", REDIS_ARG_INTEGER, "SEED"), END

static struct redis_arg reserve_args[] = {KEY, WISH};
static struct redis_arg plan_args[] = {WISH};
static struct redis_arg key_args[] = {KEY, END};
static struct redis_arg item_args[] = {KEY, WORD("item", REDIS_ARG_STRING), END};
static struct redis_arg items_args[] = {KEY, MANY("item", REDIS_ARG_STRING), END};
static struct redis_arg add_args[] = {KEY, WORD("item", REDIS_ARG_STRING),
                                      FLAG("receipt", "RECEIPT"), END};
static struct redis_arg madd_args[] = {KEY, MANY("item", REDIS_ARG_STRING),
                                       FLAG("receipt", "RECEIPT"), END};
static struct redis_arg rem_args[] = {KEY, WORD("item", REDIS_ARG_STRING),
                                      OPTION("receipt", REDIS_ARG_INTEGER, "RECEIPT"), END};
static struct redis_arg seen_args[] = {KEY, WORD("item", REDIS_ARG_STRING),
                                       OPTION("time", REDIS_ARG_INTEGER, "NOW"), END};
static struct redis_arg mseen_args[] = {KEY, MANY("item", REDIS_ARG_STRING),
                                        OPTION("time", REDIS_ARG_INTEGER, "NOW"), END};
static struct redis_arg combine_args[] = {
    {.name = "destination", .type = REDIS_ARG_KEY},
    {.name = "source", .type = REDIS_ARG_KEY, .key_spec_index = 1, .flags = REDIS_ARG_MULTIPLE},
    END};
static struct redis_arg set_args[] = {KEY,
                                      WORD("bytes", REDIS_ARG_STRING),
                                      FLAG("nx", "NX"),
                                      FLAG("xx", "XX"),
                                      OPTION("rate", REDIS_ARG_DOUBLE, "MAXFP"),
                                      END};
static struct redis_arg get_args[] = {KEY, MAYBE("offset", REDIS_ARG_INTEGER),
                                      MAYBE("length", REDIS_ARG_INTEGER),
                                      OPTION("generation", REDIS_ARG_INTEGER, "GENERATION"), END};
static struct redis_arg part_args[] = {KEY,
                                       WORD("id", REDIS_ARG_STRING),
                                       WORD("offset", REDIS_ARG_INTEGER),
                                       WORD("total", REDIS_ARG_INTEGER),
                                       WORD("bytes", REDIS_ARG_STRING),
                                       FLAG("nx", "NX"),
                                       FLAG("xx", "XX"),
                                       OPTION("rate", REDIS_ARG_DOUBLE, "MAXFP"),
                                       END};
static struct redis_arg info_args[] = {KEY, FLAG("full", "FULL"), END};

#define READS  REDIS_KEY_RO | REDIS_KEY_ACCESS
#define FILLS  REDIS_KEY_RW | REDIS_KEY_INSERT
#define ALTERS REDIS_KEY_RW | REDIS_KEY_UPDATE

/* In small letters, as the servers have their own: clients look them up as they are told. */
static const struct command table[] = {
    {"tepal.reserve", run_reserve, -4, "write deny-oom", 1, 1, 1, FILLS,
     "Makes an empty filter for so many keys, by wish", "O(n), memory is cleared", reserve_args},
    {"tepal.plan", run_plan, -3, "readonly", 0, 0, 0, 0,
     "Lists the filters that would fulfil a wish, the best first", "O(1)", plan_args},
    {"tepal.add", run_add, -3, "write deny-oom fast", 1, 1, 1, FILLS,
     "Adds an item; 1 if the filter did not find it before", "O(1)", add_args},
    {"tepal.madd", run_madd, -3, "write deny-oom", 1, 1, 1, FILLS,
     "Adds items, all or none of them", "O(n)", madd_args},
    {"tepal.exists", run_exists, 3, "readonly fast", 1, 1, 1, READS,
     "Is the item in the filter? 0 is certain, 1 is not", "O(1)", item_args},
    {"tepal.mexists", run_mexists, -3, "readonly fast", 1, 1, 1, READS,
     "Which of the items are in the filter?", "O(n)", items_args},
    {"tepal.rem", run_rem, -3, "write fast", 1, 1, 1, ALTERS, "Removes an item that was added",
     "O(1)", rem_args},
    {"tepal.mrem", run_mrem, -3, "write", 1, 1, 1, ALTERS, "Removes items that were added", "O(n)",
     items_args},
    {"tepal.seen", run_seen, -3, "write deny-oom fast", 1, 1, 1, FILLS,
     "Was the item seen lately? From now on it was", "O(1)", seen_args},
    {"tepal.mseen", run_mseen, -3, "write deny-oom", 1, 1, 1, FILLS,
     "Which of the items were seen lately? From now on all were", "O(n)", mseen_args},
    {"tepal.avoid", run_avoid, -3, "write deny-oom", 1, 1, 1, ALTERS,
     "These were found wrongly: finds them no more, within the budget",
     "O(n) with counters, else O(m)", items_args},
    {"tepal.merge", run_merge, -3, "write deny-oom", 1, -1, 1, ALTERS | REDIS_KEY_ACCESS,
     "Unites filters of the same parameters; tells the new rate", "O(m)", combine_args},
    {"tepal.intersect", run_intersect, -3, "write deny-oom", 1, -1, 1, ALTERS | REDIS_KEY_ACCESS,
     "Intersects filters of the same parameters; tells the new rate", "O(m)", combine_args},
    {"tepal.set", run_set, -3, "write deny-oom", 1, 1, 1, REDIS_KEY_OW | REDIS_KEY_UPDATE,
     "Puts a filter, in the format of files, at a key", "O(m)", set_args},
    {"tepal.get", run_get, -2, "readonly", 1, 1, 1, READS,
     "The filter in the format of files, or a range of it", "O(m)", get_args},
    {"tepal.part", run_part, -4, "write deny-oom", 1, 1, 1, REDIS_KEY_OW | REDIS_KEY_UPDATE,
     "A part of a filter that takes the key when all have come", "O(n)", part_args},
    {"tepal.info", run_info, -2, "readonly", 1, 1, 1, READS,
     "What a filter knows about itself; FULL reads its cells", "O(1), FULL O(m)", info_args},
    {"tepal.card", run_card, 2, "readonly", 1, 1, 1, READS, "How many keys it holds, by its counts",
     "O(1)", key_args},
    {"tepal.verify", run_verify, 2, "readonly", 1, 1, 1, READS,
     "Checks every invariant of a filter", "O(m)", key_args},
    {"tepal.kinds", run_kinds, 1, "readonly fast", 0, 0, 0, 0, "The kinds of filters there are",
     "O(1)", NULL},
};

static struct redis_arg any_args[] = {KEY, MANY("argument", REDIS_ARG_STRING), END};

/* RedisBloom documents them. */
static const struct command compat_table[] = {
    {"bf.reserve", run_bf_reserve, -4, "write deny-oom", 1, 1, 1, FILLS,
     "Makes an empty Bloom filter that scales", "O(n)", any_args},
    {"bf.add", run_bf_add, 3, "write deny-oom fast", 1, 1, 1, FILLS, "Adds an item", "O(1)",
     item_args},
    {"bf.madd", run_bf_madd, -3, "write deny-oom", 1, 1, 1, FILLS, "Adds items", "O(n)",
     items_args},
    {"bf.insert", run_bf_insert, -4, "write deny-oom", 1, 1, 1, FILLS,
     "Adds items, to a filter that is made if it is not there", "O(n)", any_args},
    {"bf.exists", run_bf_exists, 3, "readonly fast", 1, 1, 1, READS, "Is the item in the filter?",
     "O(1)", item_args},
    {"bf.mexists", run_bf_mexists, -3, "readonly fast", 1, 1, 1, READS,
     "Which of the items are in the filter?", "O(n)", items_args},
    {"bf.info", run_bf_info, -2, "readonly", 1, 1, 1, READS, "What is known of a filter", "O(1)",
     any_args},
    {"bf.card", run_bf_card, 2, "readonly fast", 1, 1, 1, READS, "How many items were added",
     "O(1)", key_args},
    {"bf.debug", run_bf_debug, 2, "readonly", 1, 1, 1, READS, "The parts of a filter", "O(1)",
     key_args},
    {"bf.scandump", run_bf_scandump, 3, "readonly", 1, 1, 1, READS, "A chunk of a dump", "O(n)",
     any_args},
    {"bf.loadchunk", run_bf_loadchunk, 4, "write deny-oom", 1, 1, 1, FILLS,
     "Takes a chunk of a dump", "O(n)", any_args},
    {"cf.reserve", run_cf_reserve, -3, "write deny-oom", 1, 1, 1, FILLS,
     "Makes an empty cuckoo filter that grows", "O(n)", any_args},
    {"cf.add", run_cf_add, 3, "write deny-oom fast", 1, 1, 1, FILLS, "Adds an item", "O(1)",
     item_args},
    {"cf.addnx", run_cf_addnx, 3, "write deny-oom fast", 1, 1, 1, FILLS,
     "Adds an item that is not there", "O(1)", item_args},
    {"cf.insert", run_cf_insert, -4, "write deny-oom", 1, 1, 1, FILLS,
     "Adds items, to a filter that is made if it is not there", "O(n)", any_args},
    {"cf.insertnx", run_cf_insertnx, -4, "write deny-oom", 1, 1, 1, FILLS,
     "Adds items that are not there", "O(n)", any_args},
    {"cf.exists", run_cf_exists, 3, "readonly fast", 1, 1, 1, READS, "Is the item in the filter?",
     "O(1)", item_args},
    {"cf.mexists", run_cf_mexists, -3, "readonly fast", 1, 1, 1, READS,
     "Which of the items are in the filter?", "O(n)", items_args},
    {"cf.count", run_cf_count, 3, "readonly fast", 1, 1, 1, READS, "How often an item was added",
     "O(1)", item_args},
    {"cf.del", run_cf_del, 3, "write fast", 1, 1, 1, ALTERS, "Removes an item once", "O(1)",
     item_args},
    {"cf.info", run_cf_info, 2, "readonly", 1, 1, 1, READS, "What is known of a filter", "O(1)",
     key_args},
    {"cf.debug", run_cf_debug, 2, "readonly", 1, 1, 1, READS, "The same in a line", "O(1)",
     key_args},
    {"cf.compact", run_cf_compact, 2, "readonly", 1, 1, 1, READS, "Does nothing: it is compact",
     "O(1)", key_args},
    {"cf.scandump", run_cf_scandump, 3, "readonly", 1, 1, 1, READS, "A chunk of a dump", "O(n)",
     any_args},
    {"cf.loadchunk", run_cf_loadchunk, 4, "write deny-oom", 1, 1, 1, FILLS,
     "Takes a chunk of a dump", "O(n)", any_args},
};

/* Servers before 7.2 have none for the commands of modules. */
static const char *categories(const char *flags)
{
    bool fast = strstr(flags, "fast") != NULL;
    return strstr(flags, "write") != NULL ? (fast ? "write fast" : "write slow")
                                          : (fast ? "read fast" : "read slow");
}

static int describe(struct redis_ctx *ctx, const struct command *command)
{
    static const struct redis_command_info_version version = {
        1, sizeof(struct redis_history), sizeof(struct redis_key_spec), sizeof(struct redis_arg)};
    struct redis_key_spec specs[3];
    memset(specs, 0, sizeof specs);
    struct redis_command_info info = {
        .version = &version,
        .summary = command->summary,
        .complexity = command->complexity,
        .since = TEPAL_VERSION,
        .arity = command->arity,
        .key_specs = command->first > 0 ? specs : NULL,
        .args = command->args,
    };
    for (int i = 0; i < (command->last < 0 ? 2 : 1); i++) { /* the first is written, others read */
        specs[i].flags = i == 0 ? command->key_flags : READS;
        specs[i].begin_search_type = REDIS_BEGIN_INDEX;
        specs[i].begin.index.pos = command->first + i;
        specs[i].find_keys_type = REDIS_FIND_RANGE;
        specs[i].find.range.lastkey = i == 0 ? 0 : command->last;
        specs[i].find.range.keystep = command->step;
    }
    struct redis_command *made = redis.GetCommand(ctx, command->name);
    if (made == NULL || redis.SetCommandInfo(made, &info) != REDIS_OK) {
        return REDIS_ERR;
    }
    return redis.SetCommandACLCategories == NULL
               ? REDIS_OK
               : redis.SetCommandACLCategories(made, categories(command->flags));
}

static int register_all(struct redis_ctx *ctx, const struct command *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct command *c = &commands[i];
        if (redis.CreateCommand(ctx, c->name, c->run, c->flags, c->first, c->last, c->step) !=
            REDIS_OK) {
            redis.Log(ctx, "warning", "tepal: the command %s is taken by another module", c->name);
            return REDIS_ERR;
        }
        if (describe(ctx, c) != REDIS_OK) {
            redis.Log(ctx, "warning", "tepal: the server does not take what %s is", c->name);
            return REDIS_ERR;
        }
    }
    return REDIS_OK;
}

int commands_register(struct redis_ctx *ctx)
{
    if (register_all(ctx, table, sizeof table / sizeof *table) != REDIS_OK) {
        return REDIS_ERR;
    }
    return settings.compat
               ? register_all(ctx, compat_table, sizeof compat_table / sizeof *compat_table)
               : REDIS_OK;
}
