/*
 * command.h: what the command is made of. Each subcommand's file ends with its options, its words
 * and its struct command; program/commands.c lists them. The parser, the help, the manual page and
 * the completions are made from these structs, so they cannot disagree.
 *
 * Options are found by name: arg(args, "fp") is what was given for --fp. So what serves several
 * commands (reading keys, a wish, a stream) asks for the options it knows, and whichever command
 * runs it has them or has not. What a command says of errors, cli/say.h, comes with this.
 */
#ifndef TOOL_CLI_COMMAND_H
#define TOOL_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/say.h"

/* What an option takes, and how the text is checked. */
enum option_type {
    TAKES_NOTHING,
    TAKES_FILE,
    TAKES_WHOLE,    /* number_whole, within least .. most; several: args_text */
    TAKES_SIZE,     /* number_size, likewise */
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
    bool range;          /* of whole numbers: A..B is one, too */
    const char *choices; /* words with spaces between */
    const char *about;
};

/*
 * An option in one piece, by its letter (0: none), its name, what it takes and what it is about:
 *     OPTION('m', "bits", OF_WHOLE("M", 1, 65536), "The size of the filter.")
 * Options that several commands share are macros of such pieces.
 */
/* clang-format off */
#define OPTION(letter_, name_, takes, about_) \
    {.letter = letter_, .name = name_, takes, .about = about_}
#define FLAG(letter_, name_, about_) OPTION(letter_, name_, .type = TAKES_NOTHING, about_)
#define OF_VALUE(type_, value_) .type = type_, .value = value_
#define OF_WHOLE(value_, least_, most_) \
    .type = TAKES_WHOLE, .value = value_, .least = least_, .most = most_
#define OF_SIZE(least_, most_) \
    .type = TAKES_SIZE, .value = "SIZE", .least = least_, .most = most_
#define OF_RANGE(value_, least_, most_) \
    .type = TAKES_WHOLE, .value = value_, .least = least_, .most = most_, .range = true
#define OF_CHOICE(value_, choices_) .type = TAKES_CHOICE, .value = value_, .choices = choices_
#define OPTIONS_END {.name = NULL}
/* clang-format on */

struct option_value {
    bool given;
    const char *text;
    uint64_t whole;
    uint64_t from; /* of a range, of which `whole` is the end; else 0 */
    double real;
};

/* One giving of an option that takes a text, a choice or a whole number. */
struct option_text {
    const struct option *option;
    const char *text;
};

struct command;

/* All commands there are, as main lists them: pointers, and NULL after the last. */
struct program {
    const struct command *const *commands;
    /* `tepal app NAME`, and `tepal app NAME STEP` for a step of one: their names are these words */
    const struct command *const *apps;
};

/* A parsed command line. Texts belong to argv. */
struct args {
    const struct program *program;
    const struct command *command;
    struct option_value *values; /* in the order of the command's options */
    struct option_text *texts;   /* of all options that take one of these, in order */
    size_t text_count;
    const char **operand;
    size_t operands;
};

struct example {
    const char *line;
    const char *about;
};

struct command {
    const char *name;
    const char *synopsis;              /* operands and the options that matter most */
    const char *summary;               /* a line */
    const char *about;                 /* paragraphs, divided by empty lines */
    const struct option *options;      /* ends with OPTIONS_END */
    const char *const (*exclusive)[4]; /* groups of which one may be given; ends with {NULL} */
    const char *needed;                /* an option that must be given, or NULL */
    bool files;                        /* operands are files */
    /* Or they are one of these words: the n-th; NULL: no more. */
    const char *(*words)(const struct program *program, size_t n);
    size_t least_operands;
    size_t most_operands;
    const char *operand_name; /* "... is", for the error when there are too few */
    const char *stays;        /* what an error leaves unchanged; NULL: it changes nothing anyway */
    const struct example *examples; /* ends with a NULL line */
    int (*run)(const struct args *args);
};

/* Runs the command line of the process. The exit status. */
int program_run(const struct program *program, int argc, char *const *argv);

/* The one of a program's lists that goes by that word, or NULL; the word of the n-th, or NULL. */
const struct command *command_find(const struct command *const *list, const char *word);
const char *command_nth_word(const struct command *const *list, size_t n);

/* All that has options of its own, subcommands and then applications; NULL after the last. */
const struct command *command_at(const struct program *program, size_t n);

/* What stands behind "app": the NAME of an application, or NAME STEP. */
const char *command_word(const struct command *command);

/* The application, or the step of one, that the first words name; how many of them do. */
const struct command *command_find_app(const struct program *program, const char *const *words,
                                       int count, int *used);

/* Says that there is no such command or application, and which one may have been meant. */
int command_unknown(const struct program *program, bool app, const char *subject, const char *name);

/*
 * Parse the words after the subcommand. EXIT_YES, or EXIT_TROUBLE after having said why. Free with
 * args_free either way.
 */
int args_parse(struct args *args, const struct program *program, const struct command *command,
               int count, char *const *words);
void args_free(struct args *args);

/* What was given for --NAME; nothing, if that is no option of the command. */
const struct option_value *arg(const struct args *args, const char *name);

/* Is it an option of the command? */
bool args_knows(const struct args *args, const char *name);

/* The number given for --NAME, or this one. */
uint64_t arg_whole(const struct args *args, const char *name, uint64_t otherwise);
double arg_real(const struct args *args, const char *name, double otherwise);

/* Is the name in a list that ends with NULL? */
bool args_listed(const char *const *list, const char *name);

/* The first option that was given and that `fits` does not take; NULL: none. */
const char *args_misfit(const struct args *args,
                        bool (*fits)(const void *context, const char *name), const void *context);

/* Is at most one of each group given? EXIT_YES, or EXIT_TROUBLE after having said which two are. */
int args_exclusive(const struct args *args, const char *const (*groups)[4]);

/*
 * "tepal: COMMAND: MESSAGE; STAYS": args_error with what the command says to stay unchanged,
 * args_about of another subject, args_wrong without, for a command line that is wrong by itself.
 * All return EXIT_TROUBLE.
 */
int args_error(const struct args *args, const char *format, ...) SAY_FORMAT(2, 3);
int args_about(const struct args *args, const char *subject, const char *format, ...)
    SAY_FORMAT(3, 4);
int args_wrong(const struct args *args, const char *format, ...) SAY_FORMAT(2, 3);

/* The same arguments, once something has been done: errors end with what that is, in `stays`. */
struct args_after {
    struct command command;
    struct args args;
};
const struct args *args_after(struct args_after *room, const struct args *args, const char *stays);

/* "tepal: out of memory; STAYS", and say_status of the command. */
int args_no_memory(const struct args *args);
int args_status(const struct args *args, enum tepal_status status, const char *why);

/* The n-th text (from 0) given for the option; NULL: there are no more. */
const char *args_text(const struct args *args, const char *name, size_t n);

/* The words that a TAKES_CHOICE or TAKES_KIND option takes; the n-th into room; false: no more. */
bool option_word(const struct option *option, size_t n, char *room, size_t size);

/* Help texts; to standard output unless `wrong`, then to standard error. */
int help_overview(const struct program *program, bool wrong);
int help_command(const struct command *command);
int help_manual(const struct program *program);

#endif
