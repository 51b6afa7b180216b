/* main.c: the process: descriptors and signals. What it can do is listed in commands.c. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "cli/say.h"

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
    static const char text[] = "tepal: a filter file was truncated while it was being read\n";
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

int main(int argc, char **argv)
{
    hold_descriptors();
    set_signals();
    return program_run(&tepal_program, argc, argv);
}
