/*
 * command.h: what the command is made of. One table of options and one of subcommands (command.c)
 * make the parser, the help, the manual page and the completions, so these cannot disagree.
 */
#ifndef TOOL_CLI_COMMAND_H
#define TOOL_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_id {
    OPT_END, /* ends a list of options */
    OPT_OUTPUT,
    OPT_FORCE,
    OPT_KIND,
    OPT_FP,
    OPT_BITS_PER_KEY,
    OPT_BITS,
    OPT_HASHES,
    OPT_CAPACITY,
    OPT_PRINT_BITS,
    OPT_LAYOUT,
    OPT_POSITIONS,
    OPT_SEED,
    OPT_KEY_FILE,
    OPT_NULL,
    OPT_HEX,
    OPT_PLAIN,
    OPT_INVERT,
    OPT_COUNT,
    OPT_SILENT,
    OPT_TSV,
    OPT_LAZY,
    OPT_IN_PLACE_OUTPUT,
    OPT_INTERSECT,
    OPT_FOLD,
    OPT_NEW_BITS,
    OPT_NEW_LAYOUT,
    OPT_KEYS,
    OPT_MODEL_LAYOUT,
    OPT_DEMO_KEYS,
    OPT_DEMO_LAYOUT,
    OPT_DEMO_SEED,
    OPT_MEMBERS,
    OPT_AVOID,
    OPT_WEIGHTS,
    OPT_MEMBER_WEIGHTS,
    OPT_KNOWN,
    OPT_METHOD,
    OPT_MAX_FN,
    OPT_MAX_FN_COUNT,
    OPT_ORDER,
    OPT_BASIS,
    OPT_SWEEP,
    OPT_REMOVE_MEMBERS,
    OPT_CLEAR_BITS,
    OPT_DRAW_SEED,
    OPT_VICTIMS,
    OPT_EXCEPTIONS,
    OPT_DRY_RUN,
    OPT_SVG,
    OPT_WITH_EXCEPTIONS,
    OPT_UNIVERSE,
    OPT_BETA,
    OPT_MODEL_CLEAR_BITS,
    OPT_RESET_HASHES,
    OPT_SETTING_HASHES,
    OPT_ZEROS,
    OPT_TOLERANCE,
    OPT_FN,
    OPT_YES_BITS,
    OPT_NO_BITS,
    OPT_NO_FILTERS,
    OPT_NO_HASHES,
    OPT_VETO_AVOID,
    OPT_VETO_WEIGHTS,
    OPT_VETO_METHOD,
    OPT_OWN_SEEDS,
    OPT_SALTS,
    OPT_TOLERATE,
    OPT_TIME_LIMIT,
    OPT_NEGATIVES,
    OPT_LEARN,
    OPT_MAX_TRANSIT,
    OPT_SET_BITS,
    OPT_SET_HASHES,
    OPT_SET_BETA,
    OPT_SET_MAX_FN,
    OPT_ROUTE_FROM,
    OPT_ROUTE_TO,
    OPT_ROUTE_NETWORK,
    OPT_ROUTE_YES_BITS,
    OPT_ROUTE_NO_BITS,
    OPT_ROUTE_NO_FILTERS,
    OPT_ROUTE_HASHES,
    OPT_ROUTE_NO_HASHES,
    OPT_ROUTE_BLOOM_HASHES,
    OPT_ROUTE_METHOD,
    OPT_ROUTE_ALLOCATIONS,
    OPT_ROUTE_TTL,
    OPT_ROUTE_SVG,
    OPT_ROUTE_FIGURES,
    OPT_FLOW_BITS,
    OPT_FLOW_EACH,
    OPT_FLOW_CHOICES,
    OPT_FLOW_IDLE,
    OPT_FLOW_INSERT,
    OPT_FLOW_ONE_WAY,
    OPT_FLOW_REPEAT,
    OPT_FLOW_WINDOWS,
    OPT_FLOW_SVG,
    OPT_ROWS_TSV,
    OPT_PAPER,
    OPT_ALL,
    OPT_QUICK,
    OPT_FULL,
    OPT_LAB_OUT,
    OPT_JOBS,
    OPT_SABOTAGE,
    OPT_CYCLE_PHASES,
    OPT_CYCLE_SIGMA,
    OPT_CYCLE_MESSAGES,
    OPT_DISTINCT,
    OPT_RETAIN,
    OPT_FORGET,
    OPT_KEEP_TRIGGER,
    OPT_ONLY_MISSES,
    OPT_LIKE,
    OPT_AGREED_KIND,
    OPT_AGREED_LAYOUT,
    OPT_AGREED_POSITIONS,
    OPT_AGREED_BITS,
    OPT_AGREED_HASHES,
    OPT_AGREED_SEED,
    OPT_AGREED_RESETS,
    OPT_AGREED_SETS,
    OPT_AGREED_TOLERANCE,
    OPT_AGREED_KEY_FILE,
    OPT_UNKEYED,
    OPT_MAX_BYTES,
    OPT_MAX_KEYS,
    OPT_CLAIMED_KEYS,
    OPT_REPEATED_KEYS,
    OPT_MAX_FP,
    OPT_MIN_PROBABILITY,
    OPT_ANY_FILL,
    OPT_ACCEPTED_OUTPUT,
    OPT_VERDICT_QUIET,
    OPT_MEMORY,
    OPT_STREAM_FP,
    OPT_PHASES,
    OPT_SIGMA,
    OPT_CYCLE_COUNT,
    OPT_EVERY,
    OPT_STREAM_HASHES,
    OPT_STREAM_ONLY_MISSES,
    OPT_STREAM_LAYOUT,
    OPT_FIELD,
    OPT_DELIMITER,
    OPT_REPEATS,
    OPT_COUNTS,
    OPT_STATE,
    OPT_SAVE_EVERY,
    OPT_FIGURES_JSON,
    OPT_SAMPLE,
    OPT_SAVE_GAPS,
    OPT_GAPS_SVG,
    OPT_GAPS_MEMORY,
    OPT_CACHE_SIZE,
    OPT_SIZE_FIELD,
    OPT_ADMIT_MEMORY,
    OPT_CELLS,
    OPT_CHOICES,
    OPT_RULE,
    OPT_POLICY,
    OPT_RECEIPTS_OUT,
    OPT_RECEIPTS_IN,
    OPT_AUDIT_SVG,
    OPT_P0,
    OPT_P1,
    OPT_WRONG,
    OPT_TO,
    OPT_REQUEST_FIELD,
    OPT_CLIENT_FIELD,
    OPT_PROXY_FIELD,
    OPT_REQUEST_SIZE_FIELD,
    OPT_PROXIES,
    OPT_PROXY_CACHE,
    OPT_CACHE_BYTES,
    OPT_REFRESH,
    OPT_ROUNDS,
    OPT_JUDGE,
    OPT_SIM_BITS,
    OPT_SIM_HASHES,
    OPT_SIM_RESETS,
    OPT_SIM_SETS,
    OPT_SIM_TOLERANCE,
    OPT_SIM_ATTACK,
    OPT_TRACE_NETWORK,
    OPT_TRACE_TREE,
    OPT_TRACE_ROUTES,
    OPT_TRACE_HOPS,
    OPT_TRACE_BITS,
    OPT_TRACE_PACKETS,
    OPT_WISH_KEYS,
    OPT_WISH_MEMORY,
    OPT_WISH_BITS_PER_KEY,
    OPT_WISH_FP,
    OPT_FP_AVERAGE,
    OPT_WISH_FN,
    OPT_DELETES,
    OPT_WRONG_DELETES,
    OPT_UNTRUSTED,
    OPT_KNOWN_NEGATIVES,
    OPT_WISH_WEIGHTS,
    OPT_ENDLESS,
    OPT_WISH_GAPS,
    OPT_WISH_STREAM,
    OPT_HEADER_BITS,
    OPT_PREFER,
    OPT_COST_FP,
    OPT_COST_FN,
    OPT_PLAN_SVG,
    OPT_EXPLAIN,
    OPT_PLAN_ALL,
    OPT_AUTO,
    OPT_PLAN_FILE,
    OPT_STRANGERS,
    OPT_MEASURE_MEMBERS,
    OPT_MEASURE_PLAN,
    OPT_COMPARE_MEMBERS,
    OPT_COMPARE_NEGATIVES,
    OPT_COMPARE_QUERIES,
    OPT_COMPARE_SVG,
    OPT_MAN,
    OPT_JSON,
    OPT_QUIET,
    OPT_HELP,
    OPTIONS
};

/* What an option takes, and how the text is checked. */
enum option_type {
    TAKES_NOTHING,
    TAKES_FILE,
    TAKES_WHOLE,    /* number_whole, within least .. most */
    TAKES_POSITIVE, /* number_positive */
    TAKES_RATE,     /* number_rate */
    TAKES_SHARE,    /* number_share */
    TAKES_PART,     /* number_part */
    TAKES_SEED,     /* number_seed */
    TAKES_TEXT,     /* any text but none; may be given several times: args_text */
    TAKES_DURATION, /* number_duration: milliseconds, 1 at least */
    TAKES_BYTE,     /* one character, or \t */
    TAKES_CHOICE,   /* one of the words in `choices` */
    TAKES_KIND      /* a kind of filter that the library knows */
};

struct option {
    char letter; /* 0: none */
    const char *name;
    const char *value; /* what the help calls its argument; NULL: none */
    enum option_type type;
    uint64_t least;
    uint64_t most;
    const char *choices; /* words with spaces between */
    const char *about;
};

extern const struct option options[OPTIONS];

struct option_value {
    bool given;
    const char *text;
    uint64_t whole;
    double real;
};

/* One giving of an option that takes a text or a choice. */
struct option_text {
    enum option_id id;
    const char *text;
};

struct command;

/* A parsed command line. Texts belong to argv. */
struct args {
    const struct command *command;
    struct option_value option[OPTIONS];
    struct option_text *texts; /* of all options that take a text or a choice, in order */
    size_t text_count;
    const char **operand;
    size_t operands;
};

struct example {
    const char *line;
    const char *about;
};

/* What a completion offers for an operand. */
enum operand_type {
    OPERAND_FILE,
    OPERAND_COMMAND,
    OPERAND_MODEL,
    OPERAND_SHELL,
    OPERAND_APP,
    OPERAND_LAB,
    OPERAND_NONE
};

struct command {
    const char *name;
    const char *synopsis; /* operands and the options that matter most */
    const char *summary;  /* a line */
    const char *about;    /* paragraphs, divided by empty lines */
    const enum option_id *options;
    const enum option_id (*exclusive)[4]; /* groups of which one may be given; ends with a 0 */
    enum option_id needed;                /* an option that must be given, or OPT_END */
    enum operand_type operand;
    size_t least_operands;
    size_t most_operands;
    const char *operand_name; /* "... is", for the error when there are too few */
    const char *stays;        /* what an error leaves unchanged; NULL: it changes nothing anyway */
    const struct example *examples; /* ends with a NULL line */
    int (*run)(const struct args *args);
};

extern const struct command commands[];
extern const size_t command_count;

/*
 * The applications, `tepal app NAME`: commands like the others, with "app NAME" as their names
 * (apps/apps.c).
 */
extern const struct command apps[];
extern const size_t app_count;

/* The subcommand of that name, or NULL; the application of that NAME, or NULL. */
const struct command *command_find(const char *name);
const struct command *app_find(const char *name);

/* All that has options of its own, subcommands and then applications; NULL after the last. */
const struct command *command_at(size_t n);

/* The last word of a name: the NAME of an application. */
const char *command_word(const struct command *command);

/*
 * Parse the words after the subcommand. EXIT_YES, or EXIT_TROUBLE after having said why. Free with
 * args_free either way.
 */
int args_parse(struct args *args, const struct command *command, int count, char *const *words);
void args_free(struct args *args);

/* Is at most one of each group given? EXIT_YES, or EXIT_TROUBLE after having said which two are. */
int args_exclusive(const struct args *args, const enum option_id (*groups)[4]);
/* The n-th text (from 0) given for the option; NULL: there are no more. */
const char *args_text(const struct args *args, enum option_id id, size_t n);

/* The words that a TAKES_CHOICE or TAKES_KIND option takes; the n-th into room; false: no more. */
bool option_word(const struct option *option, size_t n, char *room, size_t size);

/* The names of the models (tepal model NAME) and of the shells; NULL after the last. */
const char *model_word(size_t n);
const char *shell_word(size_t n);

/* Says that there is no such application, and which one may have been meant. */
int app_unknown(const char *subject, const char *name);

/* The subcommands, one a file. */
int build_run(const struct args *args);
int query_run(const struct args *args);
int add_run(const struct args *args);
int remove_run(const struct args *args);
int merge_run(const struct args *args);
int info_run(const struct args *args);
int verify_run(const struct args *args);
int convert_run(const struct args *args);
int retouch_run(const struct args *args);
int receive_run(const struct args *args);
int audit_run(const struct args *args);
int diff_run(const struct args *args);
int model_run(const struct args *args);
int plan_run(const struct args *args);
int measure_run(const struct args *args);
int compare_run(const struct args *args);
int app_run(const struct args *args);
int lab_run(const struct args *args);
int dedup_run(const struct args *args);
int gaps_run(const struct args *args);
int demo_run(const struct args *args);
int kinds_run(const struct args *args);
int completion_run(const struct args *args);
int help_run(const struct args *args);

/* Help texts; to standard output unless `wrong`, then to standard error. */
int help_overview(bool wrong);
int help_command(const struct command *command);

#endif
