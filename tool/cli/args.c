/*
 * args.c: from words to a struct args, by the command's own options. Options and operands may be
 * mixed; --name VALUE, --name=VALUE, -x VALUE, -xVALUE and joined letters are understood; -- ends
 * the options.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "cli/number.h"
#include "cli/suggest.h"

/* ---- words of options ------------------------------------------------------------------------ */

static bool nth_word(const char *words, size_t n, char *room, size_t size)
{
    for (;;) {
        size_t len = strcspn(words, " ");
        if (len == 0) {
            return false;
        }
        if (n == 0) {
            snprintf(room, size, "%.*s", (int)len, words);
            return true;
        }
        n--;
        words += len;
        words += strspn(words, " ");
    }
}

bool option_word(const struct option *option, size_t n, char *room, size_t size)
{
    if (option->type == TAKES_KIND) {
        const struct tepal_kind *kind = tepal_kind_at(n);
        if (kind != NULL) {
            snprintf(room, size, "%s", kind->name);
        }
        return kind != NULL;
    }
    return option->type == TAKES_CHOICE && nth_word(option->choices, n, room, size);
}

/* ---- one option ------------------------------------------------------------------------------ */

struct parser {
    struct args *args;
    const struct command *command;
    int count;
    int at;
    char *const *words;
};

static int wrong_value(const struct parser *p, const struct option *o, const char *text,
                       const char *why)
{
    return say_error(NULL, p->command->name, "--%s %s: %s", o->name, text[0] == '\0' ? "''" : text,
                     why);
}

static int take_word(const struct parser *p, const struct option *o, const char *text)
{
    struct suggest near = {.word = text};
    char list[256] = "";
    char word[64];
    char hint[96];
    for (size_t n = 0; option_word(o, n, word, sizeof word); n++) {
        if (strcmp(word, text) == 0) {
            return EXIT_YES;
        }
        suggest_offer(&near, word);
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", word);
    }
    return say_error(NULL, p->command->name, "--%s %s: not one of %s%s", o->name, text, list,
                     suggest_text(&near, "", hint, sizeof hint));
}

/* "A..B" into `from` and `whole`. */
static const char *take_range(struct option_value *value, const char *dots)
{
    char first[64];
    size_t len = (size_t)(dots - value->text);
    if (len >= sizeof first) {
        return "not a range of whole numbers, as 1M..1G";
    }
    memcpy(first, value->text, len);
    first[len] = '\0';
    const char *why = number_whole(first, &value->from);
    why = why == NULL ? number_whole(dots + 2, &value->whole) : why;
    if (why == NULL && (value->from == 0 || value->from > value->whole)) {
        return "a range goes from a number to a larger one, as 1M..1G";
    }
    return why;
}

static int take_whole(const struct parser *p, const struct option *o, struct option_value *value)
{
    const char *dots = o->range ? strstr(value->text, "..") : NULL;
    const char *why = dots != NULL            ? take_range(value, dots)
                      : o->type == TAKES_SIZE ? number_size(value->text, &value->whole)
                                              : number_whole(value->text, &value->whole);
    char room[96];
    if (why == NULL && value->whole < o->least) {
        snprintf(room, sizeof room, "too small: the minimum is %" PRIu64, o->least);
        why = room;
    } else if (why == NULL && value->whole > o->most) {
        snprintf(room, sizeof room, "too large: the maximum is %" PRIu64, o->most);
        why = room;
    }
    return why == NULL ? EXIT_YES : wrong_value(p, o, value->text, why);
}

static int take_value(const struct parser *p, size_t at, const char *text)
{
    const struct option *o = &p->command->options[at];
    struct option_value *value = &p->args->values[at];
    const char *why = NULL;
    value->given = true;
    value->text = text;
    switch (o->type) {
    case TAKES_NOTHING:
        break;
    case TAKES_FILE:
        why = text[0] == '\0' ? "a file name is needed" : NULL;
        break;
    case TAKES_WHOLE:
    case TAKES_SIZE:
        p->args->texts[p->args->text_count++] = (struct option_text){o, text};
        return take_whole(p, o, value);
    case TAKES_POSITIVE:
        why = number_positive(text, &value->real);
        break;
    case TAKES_RATE:
        why = number_rate(text, &value->real);
        break;
    case TAKES_SHARE:
        why = number_share(text, &value->real);
        break;
    case TAKES_PART:
        why = number_part(text, &value->real);
        break;
    case TAKES_SEED:
        why = number_seed(text, &value->whole);
        break;
    case TAKES_TEXT:
        why = text[0] == '\0' ? "a name is needed" : NULL;
        p->args->texts[p->args->text_count++] = (struct option_text){o, text};
        break;
    case TAKES_DURATION:
        why = number_duration(text, &value->whole);
        why = why == NULL && value->whole == 0 ? "too short: the minimum is 1ms" : why;
        break;
    case TAKES_BYTE:
        value->whole = strcmp(text, "\\t") == 0 ? '\t' : (unsigned char)text[0];
        why = value->whole == '\t' || (text[0] != '\0' && text[1] == '\0')
                  ? NULL
                  : "one character is needed (\\t is a tab)";
        break;
    case TAKES_CHOICE:
        p->args->texts[p->args->text_count++] = (struct option_text){o, text};
        return take_word(p, o, text);
    case TAKES_KIND:
        return take_word(p, o, text);
    }
    return why == NULL ? EXIT_YES : wrong_value(p, o, text, why);
}

/* Where the option of this name or letter is among those of the subcommand; at the end: nowhere. */
static size_t find(const struct command *command, const char *name, size_t len, char letter)
{
    size_t at = 0;
    for (const struct option *o; (o = &command->options[at])->name != NULL; at++) {
        if (name != NULL ? strlen(o->name) == len && memcmp(o->name, name, len) == 0
                         : o->letter == letter) {
            break;
        }
    }
    return at;
}

static int unknown_option(const struct parser *p, const char *name, size_t len)
{
    char typed[64];
    char hint[96];
    snprintf(typed, sizeof typed, "%.*s", (int)(len < 60 ? len : 60), name);
    struct suggest near = {.word = typed};
    for (const struct option *o = p->command->options; o->name != NULL; o++) {
        suggest_offer(&near, o->name);
    }
    return near.best[0] == '\0'
               ? say_error(NULL, p->command->name, "unknown option --%s; see 'tepal %s --help'",
                           typed, p->command->name)
               : say_error(NULL, p->command->name, "unknown option --%s%s", typed,
                           suggest_text(&near, "--", hint, sizeof hint));
}

/* The next word as the value of an option. */
static int take_next(struct parser *p, size_t at)
{
    const struct option *o = &p->command->options[at];
    if (p->at == p->count) {
        return say_error(NULL, p->command->name, "--%s needs a value (%s)", o->name, o->value);
    }
    return take_value(p, at, p->words[p->at++]);
}

static int long_option(struct parser *p, const char *word)
{
    size_t len = strcspn(word, "=");
    size_t at = find(p->command, word, len, 0);
    const struct option *o = &p->command->options[at];
    if (o->name == NULL) {
        return unknown_option(p, word, len);
    }
    bool takes = o->type != TAKES_NOTHING;
    if (word[len] == '=') {
        return takes ? take_value(p, at, word + len + 1)
                     : say_error(NULL, p->command->name, "--%s takes no value", o->name);
    }
    return takes ? take_next(p, at) : take_value(p, at, NULL);
}

static int short_options(struct parser *p, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        size_t at = find(p->command, NULL, 0, *letters);
        const struct option *o = &p->command->options[at];
        if (o->name == NULL) {
            return say_error(NULL, p->command->name, "unknown option -%c; see 'tepal %s --help'",
                             *letters, p->command->name);
        }
        if (o->type != TAKES_NOTHING) {
            return letters[1] != '\0' ? take_value(p, at, letters + 1) : take_next(p, at);
        }
        take_value(p, at, NULL);
    }
    return EXIT_YES;
}

/* ---- the whole line -------------------------------------------------------------------------- */

const struct option_value *arg(const struct args *args, const char *name)
{
    static const struct option_value none = {.given = false};
    size_t at = find(args->command, name, strlen(name), 0);
    return args->command->options[at].name == NULL ? &none : &args->values[at];
}

bool args_knows(const struct args *args, const char *name)
{
    return args->command->options[find(args->command, name, strlen(name), 0)].name != NULL;
}

uint64_t arg_whole(const struct args *args, const char *name, uint64_t otherwise)
{
    const struct option_value *value = arg(args, name);
    return value->given ? value->whole : otherwise;
}

double arg_real(const struct args *args, const char *name, double otherwise)
{
    const struct option_value *value = arg(args, name);
    return value->given ? value->real : otherwise;
}

bool args_listed(const char *const *list, const char *name)
{
    while (*list != NULL && strcmp(*list, name) != 0) {
        list++;
    }
    return *list != NULL;
}

const char *args_misfit(const struct args *args,
                        bool (*fits)(const void *context, const char *name), const void *context)
{
    const struct option *options = args->command->options;
    for (size_t i = 0; options[i].name != NULL; i++) {
        if (args->values[i].given && !fits(context, options[i].name)) {
            return options[i].name;
        }
    }
    return NULL;
}

int args_exclusive(const struct args *args, const char *const (*groups)[4])
{
    for (size_t g = 0; groups != NULL && groups[g][0] != NULL; g++) {
        const char *first = NULL;
        for (size_t i = 0; i < 4 && groups[g][i] != NULL; i++) {
            const char *name = groups[g][i];
            if (!arg(args, name)->given) {
                continue;
            }
            if (first != NULL) {
                return say_error(NULL, args->command->name,
                                 "--%s and --%s cannot be combined: give one of them", first, name);
            }
            first = name;
        }
    }
    return EXIT_YES;
}

static int check_line(const struct args *args, const struct command *command)
{
    if (args->operands < command->least_operands) {
        return say_error(NULL, command->name, "%s needed; see 'tepal %s --help'",
                         command->operand_name, command->name);
    }
    if (args->operands > command->most_operands) {
        return say_error(NULL, command->name, "unexpected argument: %s; see 'tepal %s --help'",
                         args->operand[command->most_operands], command->name);
    }
    if (command->needed != NULL && !arg(args, command->needed)->given) {
        size_t at = find(command, command->needed, strlen(command->needed), 0);
        return say_error(NULL, command->name, "--%s %s is needed", command->needed,
                         command->options[at].value);
    }
    return args_exclusive(args, command->exclusive);
}

static size_t option_count(const struct command *command)
{
    size_t count = 0;
    while (command->options[count].name != NULL) {
        count++;
    }
    return count;
}

int args_parse(struct args *args, const struct program *program, const struct command *command,
               int count, char *const *words)
{
    struct parser p = {args, command, count, 0, words};
    bool only_operands = false;
    int code = EXIT_YES;
    memset(args, 0, sizeof *args);
    args->program = program;
    args->command = command;
    args->values = calloc(option_count(command) + 1, sizeof *args->values);
    args->operand = calloc((size_t)count + 1, sizeof *args->operand);
    args->texts = calloc((size_t)count + 1, sizeof *args->texts);
    if (args->values == NULL || args->operand == NULL || args->texts == NULL) {
        return say_error(NULL, NULL, "out of memory");
    }
    while (p.at < count && code == EXIT_YES) {
        const char *word = words[p.at++];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            args->operand[args->operands++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            code = long_option(&p, word + 2);
        } else {
            code = short_options(&p, word + 1);
        }
    }
    if (code != EXIT_YES || arg(args, "help")->given) {
        return code;
    }
    return check_line(args, command);
}

void args_free(struct args *args)
{
    free(args->values);
    free(args->operand);
    free(args->texts);
    args->values = NULL;
    args->operand = NULL;
    args->texts = NULL;
}

int args_error(const struct args *args, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = say_error_list(args->command->stays, args->command->name, format, list);
    va_end(list);
    return code;
}

int args_about(const struct args *args, const char *subject, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = say_error_list(args->command->stays, subject, format, list);
    va_end(list);
    return code;
}

int args_wrong(const struct args *args, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int code = say_error_list(NULL, args->command->name, format, list);
    va_end(list);
    return code;
}

const struct args *args_after(struct args_after *room, const struct args *args, const char *stays)
{
    room->command = *args->command;
    room->command.stays = stays;
    room->args = *args;
    room->args.command = &room->command;
    return &room->args;
}

int args_no_memory(const struct args *args)
{
    return args_about(args, NULL, "out of memory");
}

int args_status(const struct args *args, enum tepal_status status, const char *why)
{
    return say_status(args->command->stays, args->command->name, status, why);
}

const char *args_text(const struct args *args, const char *name, size_t n)
{
    for (size_t i = 0; i < args->text_count; i++) {
        if (strcmp(args->texts[i].option->name, name) == 0 && n-- == 0) {
            return args->texts[i].text;
        }
    }
    return NULL;
}
