/* main.c: the process: descriptors, signals, and which subcommand it is. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tepal/base.h>

#include "cli/command.h"
#include "output/out.h"
#include "cli/say.h"
#include "cli/suggest.h"

/*
 * If a standard descriptor is closed, the next file opened would take its place. A placeholder that
 * fails with EBADF is put there instead: for reading where one writes, for writing where one reads.
 */
static void hold_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

/* A mapped filter was cut short by somebody else while it was being read. */
static void on_bus_error(int number)
{
    static const char text[] = "tepal: a filter was cut short while it was being read\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_TROUBLE);
}

/* SIGPIPE keeps its default: a closed pipe ends the command quietly, as it ends cat and grep. */
static void set_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL); /* a file too large is an error to report */
    action.sa_handler = on_bus_error;
    sigaction(SIGBUS, &action, NULL);
}

static int unknown_command(const char *name)
{
    struct suggest near = {.word = name};
    char hint[96];
    for (size_t i = 0; i < command_count; i++) {
        suggest_offer(&near, commands[i].name);
    }
    const char *text = suggest_text(&near, "", hint, sizeof hint);
    return say_error(NULL, NULL, "unknown command %s%s", name,
                     text[0] != '\0' ? text : "; 'tepal help' lists them");
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

static int run(const struct command *command, int count, char *const *words)
{
    struct args args;
    int code = args_parse(&args, command, count, words);
    if (code == EXIT_YES) {
        code = args.option[OPT_HELP].given ? help_command(command) : command->run(&args);
    }
    args_free(&args);
    return code;
}

int main(int argc, char **argv)
{
    hold_descriptors();
    set_signals();
    if (argc < 2) {
        return help_overview(true);
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version();
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return help_overview(false);
    }
    if (word[0] == '-') {
        return say_error(NULL, NULL, "unknown option %s; a command comes first: see 'tepal help'",
                         word);
    }
    if (strcmp(word, "app") == 0 && argc > 2 && argv[2][0] != '-') {
        const struct command *app = app_find(argv[2]);
        return app == NULL ? app_unknown("app", argv[2]) : run(app, argc - 3, argv + 3);
    }
    const struct command *command = command_find(word);
    return command == NULL ? unknown_command(word) : run(command, argc - 2, argv + 2);
}
