/* completion.c: the commands as completion scripts for three shells. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "output/out.h"
#include "cli/suggest.h"
#include "cli/options.h"

struct shell {
    const char *name;
    void (*print)(struct out *out, const struct program *program);
};

/* ---- words ----------------------------------------------------------------------------------- */

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

/* All words that may stand as an operand of a subcommand; false: there are none. */
static bool operand_words(struct out *out, const struct program *program, const struct command *c,
                          const char *before)
{
    const char *word;
    for (size_t n = 0; c->words != NULL && (word = c->words(program, n)) != NULL; n++) {
        out_text(out, n > 0 ? " " : before);
        out_text(out, word);
    }
    return c->words != NULL;
}

/* A name as a pattern of the shells' case: in quotes if it has a space. */
static void case_name(struct out *out, const struct command *c)
{
    const char *quote = strchr(c->name, ' ') != NULL ? "'" : "";
    out_format(out, "    %s%s%s)\n", quote, c->name, quote);
}

/* The names of applications with their steps, as patterns of the shells' case. */
static void step_patterns(struct out *out, const struct program *program)
{
    bool first = true;
    for (const struct command *const *app = program->apps; *app != NULL; app++) {
        if (strchr(command_word(*app), ' ') != NULL) {
            out_format(out, "%s'%s'", first ? "" : " | ", command_word(*app));
            first = false;
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

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

static void bash_command(struct out *out, const struct program *program, const struct command *c)
{
    case_name(out, c);
    out_text(out, "        case $previous in\n");
    for (const struct option *o = c->options; o->name != NULL; o++) {
        bash_value(out, o);
    }
    out_text(out, "        *)\n            if [[ $current == -* ]]; then\n"
                  "                words=\"");
    for (const struct option *o = c->options; o->name != NULL; o++) {
        out_format(out, "%s--%s", o == c->options ? "" : " ", o->name);
    }
    out_text(out, "\"\n            else\n                words=\"");
    operand_words(out, program, c, "");
    out_text(out, "\"\n            fi\n            ;;\n        esac\n        ;;\n");
}

static void print_bash(struct out *out, const struct program *program)
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
                  "            case \"${COMP_WORDS[2]} ${COMP_WORDS[3]}\" in\n"
                  "            ");
    step_patterns(out, program);
    out_text(out, ")\n"
                  "                if ((COMP_CWORD > 3)); then\n"
                  "                    command=\"$command ${COMP_WORDS[3]}\"\n"
                  "                fi\n"
                  "                ;;\n"
                  "            esac\n"
                  "        fi\n"
                  "    fi\n"
                  "    case $command in\n"
                  "    '') words=\"");
    for (const struct command *const *each = program->commands; *each != NULL; each++) {
        out_format(out, "%s ", (*each)->name);
    }
    out_text(out, "--help --version\" ;;\n");
    const struct command *c;
    for (size_t i = 0; (c = command_at(program, i)) != NULL; i++) {
        bash_command(out, program, c);
    }
    out_text(out, "    esac\n"
                  "    if [[ -n $words ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                  "    fi\n"
                  "}\n"
                  "complete -o default -F _tepal tepal\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

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

static void zsh_command(struct out *out, const struct program *program, const struct command *c)
{
    case_name(out, c);
    out_text(out, "        _arguments \\\n");
    for (const struct option *o = c->options; o->name != NULL; o++) {
        zsh_option(out, o);
    }
    if (operand_words(out, program, c, "            '1:word:(")) {
        out_text(out, ")'\n");
    } else {
        out_text(out, c->files ? "            '*:file:_files'\n" : "            && return\n");
    }
    out_text(out, "        ;;\n");
}

static void print_zsh(struct out *out, const struct program *program)
{
    out_text(out, "#compdef tepal\n"
                  "# Completions of tepal for zsh.\n"
                  "_tepal() {\n"
                  "    local -a subcommands\n"
                  "    subcommands=(\n");
    for (const struct command *const *each = program->commands; *each != NULL; each++) {
        out_format(out, "        '%s:", (*each)->name);
        short_about(out, (*each)->summary, ":\\");
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
                  "        case \"$words[1] $words[2]\" in\n"
                  "        ");
    step_patterns(out, program);
    out_text(out, ")\n"
                  "            if ((CURRENT > 2)); then\n"
                  "                subcommand=\"$subcommand $words[2]\"\n"
                  "                shift words\n"
                  "                ((CURRENT--))\n"
                  "            fi\n"
                  "            ;;\n"
                  "        esac\n"
                  "    fi\n"
                  "    case $subcommand in\n");
    const struct command *c;
    for (size_t i = 0; (c = command_at(program, i)) != NULL; i++) {
        zsh_command(out, program, c);
    }
    out_text(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _tepal ]]; then\n"
                  "    _tepal \"$@\"\n"
                  "else\n"
                  "    compdef _tepal tepal\n"
                  "fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_option(struct out *out, const struct command *c, const struct option *o)
{
    const char *space = strrchr(c->name, ' ');
    out_format(out, "complete -c tepal -n '__fish_seen_subcommand_from %s' -l %s",
               space == NULL ? c->name : space + 1, o->name);
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

static void fish_command(struct out *out, const struct program *program, const struct command *c)
{
    if (command_word(c) == c->name) {
        out_format(out, "complete -c tepal -n __fish_use_subcommand -f -a %s -d '", c->name);
        short_about(out, c->summary, "\\");
        out_text(out, "'\n");
    }
    if (c->words != NULL) {
        out_format(out, "complete -c tepal -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
        operand_words(out, program, c, "");
        out_text(out, "'\n");
    }
    for (const struct option *o = c->options; o->name != NULL; o++) {
        fish_option(out, c, o);
    }
}

static void print_fish(struct out *out, const struct program *program)
{
    out_text(out,
             "# Completions of tepal for fish.\n"
             "complete -c tepal -n __fish_use_subcommand -f -l help -d 'Print an overview'\n"
             "complete -c tepal -n __fish_use_subcommand -f -l version -d 'Print the version'\n");
    const struct command *c;
    for (size_t i = 0; (c = command_at(program, i)) != NULL; i++) {
        fish_command(out, program, c);
    }
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static const struct shell shells[] = {
    {"bash", print_bash},
    {"zsh", print_zsh},
    {"fish", print_fish},
};

#define SHELLS (sizeof shells / sizeof *shells)

static const char *shell_words(const struct program *program, size_t n)
{
    (void)program;
    return n < SHELLS ? shells[n].name : NULL;
}

static int completion_run(const struct args *args)
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
            shells[i].print(out, args->program);
            return out_close(out, EXIT_YES);
        }
    }
    return say_error(NULL, "completion", "unknown shell %s: not one of bash, zsh, fish%s",
                     args->operand[0], suggest_text(&near, "", hint, sizeof hint));
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_HELP, OPTIONS_END};
static const struct example examples[] = {
    {"source <(tepal completion bash)", "For the current shell."},
    {"tepal completion fish > ~/.config/fish/completions/tepal.fish", "Permanently."},
    {NULL, NULL}};

const struct command command_completion = {
    .name = "completion",
    .synopsis = "bash | zsh | fish",
    .summary = "Print a completion script for a shell.",
    .about = "The script completes subcommands, options and their values.",
    .options = options,
    .words = shell_words,
    .least_operands = 1,
    .most_operands = 1,
    .operand_name = "the name of a shell (bash, zsh, fish) is",
    .examples = examples,
    .run = completion_run};
