/*
 * args.c: from words to a struct args, by the tables. Options and operands may be mixed; --name
 * VALUE, --name=VALUE, -x VALUE, -xVALUE and joined letters are understood; -- ends the options.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/suggest.h"

/* ---- words of options ----------------------------------------------------------------------- */

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

/* ---- one option ----------------------------------------------------------------------------- */

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
    return say_error(NULL, p->command->name, "--%s %s: %s", o->name, text, why);
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

static int take_whole(const struct parser *p, const struct option *o, struct option_value *value)
{
    const char *why = number_whole(value->text, &value->whole);
    char room[96];
    if (why == NULL && value->whole < o->least) {
        snprintf(room, sizeof room, "too small: the least is %" PRIu64, o->least);
        why = room;
    } else if (why == NULL && value->whole > o->most) {
        snprintf(room, sizeof room, "too large: the limit is %" PRIu64, o->most);
        why = room;
    }
    return why == NULL ? EXIT_YES : wrong_value(p, o, value->text, why);
}

static int take_value(const struct parser *p, enum option_id id, const char *text)
{
    const struct option *o = &options[id];
    struct option_value *value = &p->args->option[id];
    const char *why = NULL;
    value->given = true;
    value->text = text;
    switch (o->type) {
    case TAKES_NOTHING:
        break;
    case TAKES_FILE:
        why = text[0] == '\0' ? "the name of a file is needed" : NULL;
        break;
    case TAKES_WHOLE:
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
        p->args->texts[p->args->text_count++] = (struct option_text){id, text};
        break;
    case TAKES_DURATION:
        why = number_duration(text, &value->whole);
        why = why == NULL && value->whole == 0 ? "too short: the least is 1ms" : why;
        break;
    case TAKES_BYTE:
        value->whole = strcmp(text, "\\t") == 0 ? '\t' : (unsigned char)text[0];
        why = value->whole == '\t' || (text[0] != '\0' && text[1] == '\0')
                  ? NULL
                  : "one character is needed (\\t is a tab)";
        break;
    case TAKES_CHOICE:
        p->args->texts[p->args->text_count++] = (struct option_text){id, text};
        return take_word(p, o, text);
    case TAKES_KIND:
        return take_word(p, o, text);
    }
    return why == NULL ? EXIT_YES : wrong_value(p, o, text, why);
}

/* The option of this name or letter among those of the subcommand; OPT_END: there is none. */
static enum option_id find(const struct command *command, const char *name, size_t len, char letter)
{
    const enum option_id *id = command->options;
    for (; *id != OPT_END; id++) {
        const struct option *o = &options[*id];
        if (name != NULL ? strlen(o->name) == len && memcmp(o->name, name, len) == 0
                         : o->letter == letter) {
            break;
        }
    }
    return *id;
}

static int unknown_option(const struct parser *p, const char *name, size_t len)
{
    char typed[64];
    char hint[96];
    snprintf(typed, sizeof typed, "%.*s", (int)(len < 60 ? len : 60), name);
    struct suggest near = {.word = typed};
    for (const enum option_id *id = p->command->options; *id != OPT_END; id++) {
        suggest_offer(&near, options[*id].name);
    }
    return say_error(NULL, p->command->name, "unknown option --%s%s", typed,
                     suggest_text(&near, "--", hint, sizeof hint));
}

/* The next word as the value of an option. */
static int take_next(struct parser *p, enum option_id id)
{
    if (p->at == p->count) {
        return say_error(NULL, p->command->name, "--%s needs a value (%s)", options[id].name,
                         options[id].value);
    }
    return take_value(p, id, p->words[p->at++]);
}

static int long_option(struct parser *p, const char *word)
{
    size_t len = strcspn(word, "=");
    enum option_id id = find(p->command, word, len, 0);
    if (id == OPT_END) {
        return unknown_option(p, word, len);
    }
    bool takes = options[id].type != TAKES_NOTHING;
    if (word[len] == '=') {
        return takes ? take_value(p, id, word + len + 1)
                     : say_error(NULL, p->command->name, "--%s takes no value", options[id].name);
    }
    return takes ? take_next(p, id) : take_value(p, id, NULL);
}

static int short_options(struct parser *p, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        enum option_id id = find(p->command, NULL, 0, *letters);
        if (id == OPT_END) {
            return say_error(NULL, p->command->name, "unknown option -%c", *letters);
        }
        if (options[id].type != TAKES_NOTHING) {
            return letters[1] != '\0' ? take_value(p, id, letters + 1) : take_next(p, id);
        }
        take_value(p, id, NULL);
    }
    return EXIT_YES;
}

/* ---- the whole line ------------------------------------------------------------------------- */

int args_exclusive(const struct args *args, const enum option_id (*groups)[4])
{
    for (size_t g = 0; groups != NULL && groups[g][0] != OPT_END; g++) {
        enum option_id first = OPT_END;
        for (size_t i = 0; i < 4 && groups[g][i] != OPT_END; i++) {
            enum option_id id = groups[g][i];
            if (!args->option[id].given) {
                continue;
            }
            if (first != OPT_END) {
                return say_error(NULL, args->command->name,
                                 "--%s and --%s contradict each other: give one of them",
                                 options[first].name, options[id].name);
            }
            first = id;
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
        return say_error(NULL, command->name, "one word too many: %s",
                         args->operand[command->most_operands]);
    }
    if (command->needed != OPT_END && !args->option[command->needed].given) {
        return say_error(NULL, command->name, "--%s %s is needed", options[command->needed].name,
                         options[command->needed].value);
    }
    return args_exclusive(args, command->exclusive);
}

int args_parse(struct args *args, const struct command *command, int count, char *const *words)
{
    struct parser p = {args, command, count, 0, words};
    bool only_operands = false;
    int code = EXIT_YES;
    memset(args, 0, sizeof *args);
    args->command = command;
    args->operand = calloc((size_t)count + 1, sizeof *args->operand);
    args->texts = calloc((size_t)count + 1, sizeof *args->texts);
    if (args->operand == NULL || args->texts == NULL) {
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
    if (code != EXIT_YES || args->option[OPT_HELP].given) {
        return code;
    }
    return check_line(args, command);
}

void args_free(struct args *args)
{
    free(args->operand);
    free(args->texts);
    args->operand = NULL;
    args->texts = NULL;
}

const char *args_text(const struct args *args, enum option_id id, size_t n)
{
    for (size_t i = 0; i < args->text_count; i++) {
        if (args->texts[i].id == id && n-- == 0) {
            return args->texts[i].text;
        }
    }
    return NULL;
}
