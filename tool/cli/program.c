/* program.c: which command it is: the list of all of them, searched and run. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tepal/base.h>

#include "cli/command.h"
#include "cli/suggest.h"
#include "output/out.h"

const char *command_word(const struct command *command)
{
    const char *space = strchr(command->name, ' ');
    return space == NULL ? command->name : space + 1;
}

const struct command *command_find(const struct command *const *list, const char *word)
{
    while (*list != NULL && strcmp(command_word(*list), word) != 0) {
        list++;
    }
    return *list;
}

const char *command_nth_word(const struct command *const *list, size_t n)
{
    for (; *list != NULL; list++) {
        if (n-- == 0) {
            return command_word(*list);
        }
    }
    return NULL;
}

const struct command *command_at(const struct program *program, size_t n)
{
    const struct command *const *list = program->commands;
    for (; *list != NULL; list++) {
        if (n-- == 0) {
            return *list;
        }
    }
    for (list = program->apps; *list != NULL && n > 0; list++) {
        n--;
    }
    return *list;
}

int command_unknown(const struct program *program, bool app, const char *subject, const char *name)
{
    struct suggest near = {.word = name};
    char hint[96];
    for (const struct command *const *c = app ? program->apps : program->commands; *c != NULL;
         c++) {
        suggest_offer(&near, command_word(*c));
    }
    if (suggest_text(&near, "", hint, sizeof hint)[0] == '\0') {
        snprintf(hint, sizeof hint, "; 'tepal %s' lists them", app ? "app" : "help");
    }
    return say_error(NULL, subject, "unknown %s %s%s", app ? "application" : "command", name, hint);
}

static int print_version(void)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    out_format(out, "tepal %s\n", tepal_version());
    return out_close(out, EXIT_YES);
}

static int run(const struct program *program, const struct command *command, int count,
               char *const *words)
{
    struct args args;
    int code = args_parse(&args, program, command, count, words);
    if (code == EXIT_YES) {
        code = arg(&args, "help")->given ? help_command(command) : command->run(&args);
    }
    args_free(&args);
    return code;
}

const struct command *command_find_app(const struct program *program, const char *const *words,
                                       int count, int *used)
{
    const struct command *step = NULL;
    char two[64];
    *used = 2;
    if (count > 1 && snprintf(two, sizeof two, "%s %s", words[0], words[1]) < (int)sizeof two) {
        step = command_find(program->apps, two);
    }
    if (step == NULL) {
        *used = 1;
        step = command_find(program->apps, words[0]);
    }
    return step;
}

static int run_app(const struct program *program, int count, char *const *words)
{
    int used;
    const struct command *app = command_find_app(program, (const char *const *)words, count, &used);
    return app == NULL ? command_unknown(program, true, "app", words[0])
                       : run(program, app, count - used, words + used);
}

static int unknown_option(const char *word)
{
    char hint[64];
    struct suggest near = {.word = word};
    if (strlen(word) > 2) {
        suggest_offer(&near, "--version");
        suggest_offer(&near, "--help");
    }
    return near.best[0] == '\0'
               ? say_error(NULL, NULL,
                           "unknown option %s; the command comes first: see 'tepal help'", word)
               : say_error(NULL, NULL, "unknown option %s%s", word,
                           suggest_text(&near, "", hint, sizeof hint));
}

int program_run(const struct program *program, int argc, char *const *argv)
{
    if (argc < 2) {
        return help_overview(program, true);
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version();
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return help_overview(program, false);
    }
    if (word[0] == '-') {
        return unknown_option(word);
    }
    if (strcmp(word, "app") == 0 && argc > 2 && argv[2][0] != '-') {
        return run_app(program, argc - 2, argv + 2);
    }
    const struct command *command = command_find(program->commands, word);
    return command == NULL ? command_unknown(program, false, NULL, word)
                           : run(program, command, argc - 2, argv + 2);
}
