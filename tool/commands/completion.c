/* completion.c: the tables as completion scripts for three shells. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "output/out.h"
#include "cli/say.h"
#include "cli/suggest.h"

struct shell {
    const char *name;
    void (*print)(struct out *out);
};

/* ---- words ---------------------------------------------------------------------------------- */

/* All words that an option takes, with `between` between them. */
static void option_words(struct out *out, const struct option *o, const char *between)
{
    char word[64];
    for (size_t n = 0; option_word(o, n, word, sizeof word); n++) {
        out_text(out, n > 0 ? between : "");
        out_text(out, word);
    }
}

static bool takes_word(const struct option *o)
{
    return o->type == TAKES_CHOICE || o->type == TAKES_KIND;
}

/* The n-th word that may stand as an operand of a subcommand; NULL: no more, or files. */
static const char *operand_word(const struct command *c, size_t n)
{
    static const char *const lab_words[] = {"list", "run", "report"};
    switch (c->operand) {
    case OPERAND_COMMAND:
        return n < command_count ? commands[n].name : NULL;
    case OPERAND_MODEL:
        return model_word(n);
    case OPERAND_SHELL:
        return shell_word(n);
    case OPERAND_APP:
        return n < app_count ? command_word(&apps[n]) : NULL;
    case OPERAND_LAB:
        return n < 3 ? lab_words[n] : NULL;
    default:
        return NULL;
    }
}

static void operand_words(struct out *out, const struct command *c)
{
    const char *word;
    for (size_t n = 0; (word = operand_word(c, n)) != NULL; n++) {
        out_text(out, n > 0 ? " " : "");
        out_text(out, word);
    }
}

/* A name as a pattern of the shells' case: in quotes if it has a space. */
static void case_name(struct out *out, const struct command *c)
{
    const char *quote = strchr(c->name, ' ') != NULL ? "'" : "";
    out_format(out, "    %s%s%s)\n", quote, c->name, quote);
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_value(struct out *out, const struct option *o)
{
    if (o->type == TAKES_NOTHING) {
        return;
    }
    out_text(out, "        ");
    if (o->letter != 0) {
        out_format(out, "-%c | ", o->letter);
    }
    out_format(out, "--%s) ", o->name);
    if (takes_word(o)) {
        out_text(out, "words=\"");
        option_words(out, o, " ");
        out_text(out, "\" ;;\n");
    } else {
        /* A file: left to the shell. A number: nothing to offer. */
        out_text(out, o->type == TAKES_FILE ? "return ;;\n" : "compopt +o default; return ;;\n");
    }
}

static void bash_command(struct out *out, const struct command *c)
{
    case_name(out, c);
    out_text(out, "        case $previous in\n");
    for (const enum option_id *id = c->options; *id != OPT_END; id++) {
        bash_value(out, &options[*id]);
    }
    out_text(out, "        *)\n            if [[ $current == -* ]]; then\n"
                  "                words=\"");
    for (const enum option_id *id = c->options; *id != OPT_END; id++) {
        out_format(out, "%s--%s", id == c->options ? "" : " ", options[*id].name);
    }
    out_text(out, "\"\n            else\n                words=\"");
    operand_words(out, c);
    out_text(out, "\"\n            fi\n            ;;\n        esac\n        ;;\n");
}

static void print_bash(struct out *out)
{
    out_text(out, "# Completions of tepal for bash.\n"
                  "_tepal() {\n"
                  "    local current=${COMP_WORDS[COMP_CWORD]} previous= command= words=\n"
                  "    COMPREPLY=()\n"
                  "    if ((COMP_CWORD > 1)); then\n"
                  "        command=${COMP_WORDS[1]}\n"
                  "        previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                  "        if [[ $command == app ]] && ((COMP_CWORD > 2)); then\n"
                  "            command=\"app ${COMP_WORDS[2]}\"\n"
                  "        fi\n"
                  "    fi\n"
                  "    case $command in\n"
                  "    '') words=\"");
    for (size_t i = 0; i < command_count; i++) {
        out_format(out, "%s ", commands[i].name);
    }
    out_text(out, "--help --version\" ;;\n");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        bash_command(out, command_at(i));
    }
    out_text(out, "    esac\n"
                  "    if [[ -n $words ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                  "    fi\n"
                  "}\n"
                  "complete -o default -F _tepal tepal\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* The first sentence of what an option is about, fit for a description. */
static void short_about(struct out *out, const char *about, const char *special)
{
    const char *end = strstr(about, ". ");
    size_t len = end == NULL ? strlen(about) : (size_t)(end - about);
    if (len > 0 && about[len - 1] == '.') {
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        if (about[i] == '\'' || about[i] == '`') {
            continue;
        }
        if (strchr(special, about[i]) != NULL) {
            out_text(out, "\\");
        }
        out_bytes(out, about + i, 1);
    }
}

static void zsh_option(struct out *out, const struct option *o)
{
    if (o->letter != 0) {
        out_format(out, "            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter,
                   o->name);
    } else {
        out_format(out, "            '--%s[", o->name);
    }
    short_about(out, o->about, "[]:\\");
    out_text(out, "]");
    if (takes_word(o)) {
        out_format(out, ":%s:(", o->value);
        option_words(out, o, " ");
        out_text(out, ")");
    } else if (o->type != TAKES_NOTHING) {
        out_format(out, ":%s:%s", o->value, o->type == TAKES_FILE ? "_files" : " ");
    }
    out_text(out, "' \\\n");
}

static void zsh_command(struct out *out, const struct command *c)
{
    case_name(out, c);
    out_text(out, "        _arguments \\\n");
    for (const enum option_id *id = c->options; *id != OPT_END; id++) {
        zsh_option(out, &options[*id]);
    }
    if (operand_word(c, 0) != NULL) {
        out_text(out, "            '1:word:(");
        operand_words(out, c);
        out_text(out, ")'\n");
    } else {
        out_text(out, c->operand == OPERAND_FILE ? "            '*:file:_files'\n"
                                                 : "            && return\n");
    }
    out_text(out, "        ;;\n");
}

static void print_zsh(struct out *out)
{
    out_text(out, "#compdef tepal\n"
                  "# Completions of tepal for zsh.\n"
                  "_tepal() {\n"
                  "    local -a subcommands\n"
                  "    subcommands=(\n");
    for (size_t i = 0; i < command_count; i++) {
        out_format(out, "        '%s:", commands[i].name);
        short_about(out, commands[i].summary, ":\\");
        out_text(out, "'\n");
    }
    out_text(out, "    )\n"
                  "    if ((CURRENT == 2)); then\n"
                  "        _describe command subcommands\n"
                  "        return\n"
                  "    fi\n"
                  "    local subcommand=$words[2]\n"
                  "    shift words\n"
                  "    ((CURRENT--))\n"
                  "    if [[ $subcommand == app ]] && ((CURRENT > 2)); then\n"
                  "        subcommand=\"app $words[2]\"\n"
                  "        shift words\n"
                  "        ((CURRENT--))\n"
                  "    fi\n"
                  "    case $subcommand in\n");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        zsh_command(out, command_at(i));
    }
    out_text(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _tepal ]]; then\n"
                  "    _tepal \"$@\"\n"
                  "else\n"
                  "    compdef _tepal tepal\n"
                  "fi\n");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static void fish_option(struct out *out, const struct command *c, const struct option *o)
{
    out_format(out, "complete -c tepal -n '__fish_seen_subcommand_from %s' -l %s", command_word(c),
               o->name);
    if (o->letter != 0) {
        out_format(out, " -s %c", o->letter);
    }
    if (o->type == TAKES_FILE) {
        out_text(out, " -r -F");
    } else if (takes_word(o)) {
        out_text(out, " -x -a '");
        option_words(out, o, " ");
        out_text(out, "'");
    } else if (o->type != TAKES_NOTHING) {
        out_text(out, " -x");
    }
    out_text(out, " -d '");
    short_about(out, o->about, "\\");
    out_text(out, "'\n");
}

static void fish_command(struct out *out, const struct command *c)
{
    if (command_word(c) == c->name) {
        out_format(out, "complete -c tepal -n __fish_use_subcommand -f -a %s -d '", c->name);
        short_about(out, c->summary, "\\");
        out_text(out, "'\n");
    }
    if (operand_word(c, 0) != NULL) {
        out_format(out, "complete -c tepal -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
        operand_words(out, c);
        out_text(out, "'\n");
    }
    for (const enum option_id *id = c->options; *id != OPT_END; id++) {
        fish_option(out, c, &options[*id]);
    }
}

static void print_fish(struct out *out)
{
    out_text(out,
             "# Completions of tepal for fish.\n"
             "complete -c tepal -n __fish_use_subcommand -f -l help -d 'Print an overview'\n"
             "complete -c tepal -n __fish_use_subcommand -f -l version -d 'Print the version'\n");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        fish_command(out, command_at(i));
    }
}

/* ---- the subcommand ------------------------------------------------------------------------- */

static const struct shell shells[] = {
    {"bash", print_bash},
    {"zsh", print_zsh},
    {"fish", print_fish},
};

#define SHELLS (sizeof shells / sizeof *shells)

const char *shell_word(size_t n)
{
    return n < SHELLS ? shells[n].name : NULL;
}

int completion_run(const struct args *args)
{
    struct suggest near = {.word = args->operand[0]};
    char hint[96];
    for (size_t i = 0; i < SHELLS; i++) {
        suggest_offer(&near, shells[i].name);
        if (strcmp(shells[i].name, args->operand[0]) == 0) {
            struct out *out = out_open(STDOUT_FILENO);
            if (out == NULL) {
                return EXIT_TROUBLE;
            }
            shells[i].print(out);
            return out_close(out, EXIT_YES);
        }
    }
    return say_error(NULL, "completion", "unknown shell %s: bash, zsh and fish are known%s",
                     args->operand[0], suggest_text(&near, "", hint, sizeof hint));
}
