/*
 * run.c: many experiments, several at once. Each runs in a process of its own, so that none can
 * disturb another and results do not depend on how many run together; tables are printed in the
 * order of the list.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiment/files.h"
#include "experiment/state.h"
#include "output/progress.h"
#include "runner/runner.h"

#define LOOK_MS 100

/* What a child says when all went well and measured data were looked at. */
#define EXIT_YES_DATA 3

enum stage { WAITING, RUNNING, DONE, FAILED };

static volatile sig_atomic_t interrupted; /* the signal that asks to stop, or 0 */

static void on_interrupt(int number)
{
    interrupted = number;
}

/* Those that are ignored stay so: nohup, and jobs in the background. */
static void answer_signals(void (*how)(int))
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct sigaction action;
        if (sigaction(asked[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            action.sa_handler = how;
            sigaction(asked[i], &action, NULL);
        }
    }
}

struct task {
    const struct lab_experiment *experiment;
    enum stage stage;
    pid_t child;
    double began;
    double ended;
};

struct laboratory {
    const struct lab_settings *settings;
    struct task *task;
    size_t count;
    size_t started;
    size_t running;
    size_t printed;
    struct progress progress;
    struct out *out;
    size_t verdicts[LAB_VERDICTS];
};

/* ---- one experiment -------------------------------------------------------------------------- */

static int print_rows(struct out *out, void *what)
{
    const struct lab *lab = what;
    out_bytes(out, lab->rows, lab->used);
    return EXIT_YES;
}

/* Pictures of an earlier run that had more of them (with measured data, say) are not ours. */
static void remove_older(const struct lab *lab)
{
    for (unsigned number = lab->charts + 1; number > 0; number++) {
        char *path = lab_picture_path(lab->folder, lab->experiment->name, number);
        bool there = path != NULL && unlink(path) == 0;
        free(path);
        if (!there) {
            return;
        }
    }
}

/* In this process; its files are in place when it returns EXIT_YES. */
static int run_one(const struct lab_settings *settings, const struct lab_experiment *experiment,
                   bool *used_data)
{
    struct lab lab = {.args = settings->args,
                      .experiment = experiment,
                      .folder = settings->folder,
                      .quick = settings->quick,
                      .sabotaged = settings->sabotaged};
    char *path = lab_path(settings->folder, experiment->name, ".tsv");
    if (path == NULL) {
        return say_no_memory();
    }
    lab_begin(&lab, settings->seed);
    int code = lab.code == EXIT_YES ? experiment->run(&lab) : lab.code;
    code = code == EXIT_YES ? lab.code : code;
    code = code == EXIT_YES ? lab_write(settings->args, path, print_rows, &lab) : code;
    if (code == EXIT_YES) {
        remove_older(&lab);
    }
    *used_data = lab.used_data;
    free(lab.rows);
    free(path);
    return code;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* False, with words: it cannot be read, so that nobody knows its verdicts. */
static bool print_table(struct laboratory *all, const struct lab_experiment *e)
{
    struct lab_table table;
    int code = lab_table_read(&table, all->settings->folder, e->name);
    if (code != EXIT_YES) {
        if (code == EXIT_NO) {
            say_error(NULL, e->name, "its table is gone");
        }
        return false;
    }
    out_format(all->out, "%s: %s: %s\n", e->name, e->item, e->shows);
    out_format(all->out, "  %-44s %10s %10s %10s %10s  %-10s  %s\n", "item", "published", "ours",
               "low", "high", "verdict", "source: width");
    for (size_t i = 0; i < table.rows; i++) {
        const char *const *row = table.row[i];
        out_format(all->out, "  %-44s", row[LAB_ITEM]);
        for (int j = 0; j < 4; j++) {
            const char *text = row[LAB_PUBLISHED + j];
            out_format(all->out, " %10s", text[0] == '\0' ? "-" : text);
        }
        out_format(all->out, "  %-10s  %s%s%s\n", row[LAB_SAYS], row[LAB_SOURCE],
                   row[LAB_SOURCE][0] == '\0' ? "" : ": ", row[LAB_REASON]);
        for (int v = 0; v < LAB_VERDICTS; v++) {
            all->verdicts[v] += strcmp(row[LAB_SAYS], lab_verdict_name(v)) == 0;
        }
    }
    out_text(all->out, "\n");
    lab_table_free(&table);
    return true;
}

static void print_ready(struct laboratory *all)
{
    while (all->printed < all->count && all->task[all->printed].stage >= DONE) {
        struct task *task = &all->task[all->printed++];
        if (task->stage == DONE && !print_table(all, task->experiment)) {
            task->stage = FAILED;
        }
    }
    out_flush(all->out);
}

static double announced(const struct laboratory *all, const struct task *task)
{
    return task->experiment->seconds[all->settings->quick ? 0 : 1] + 0.1;
}

/*
 * Remaining time: what was announced for the rest, at the pace of what is finished. One that runs
 * is taken to be as far as its time tells, but never quite done.
 */
static double remaining(const struct laboratory *all, double now)
{
    double done = 0.1;
    double took = 0.1;
    double left = 0;
    double unfinished = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct task *task = &all->task[i];
        if (task->stage >= DONE) {
            done += announced(all, task);
            took += task->ended - task->began;
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct task *task = &all->task[i];
        double cost = announced(all, task) * took / done;
        if (task->stage < DONE) {
            left += task->stage == RUNNING ? fmax(cost / 20, cost - (now - task->began)) : cost;
            unfinished++;
        }
    }
    return left / fmax(1, fmin(all->settings->jobs, unfinished));
}

static void show_progress(struct laboratory *all)
{
    if (!progress_due(&all->progress)) {
        return;
    }
    size_t done = 0;
    for (size_t i = 0; i < all->count; i++) {
        done += all->task[i].stage >= DONE;
    }
    double now = progress_clock();
    double took = now - all->progress.started;
    progress_show(&all->progress, took / (took + remaining(all, now)), "%zu of %zu experiments",
                  done, all->count);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int start(struct laboratory *all)
{
    struct task *task = &all->task[all->started];
    task->child = fork();
    if (task->child < 0) {
        return say_error(NULL, task->experiment->name, "%s", strerror(errno));
    }
    if (task->child == 0) {
        bool used_data = false;
        answer_signals(SIG_DFL);
        int code = run_one(all->settings, task->experiment, &used_data);
        _exit(code == EXIT_YES && used_data ? EXIT_YES_DATA : code);
    }
    task->stage = RUNNING;
    task->began = progress_clock();
    all->started++;
    all->running++;
    return EXIT_YES;
}

static void finished(struct laboratory *all, pid_t child, int status)
{
    for (size_t i = 0; i < all->started; i++) {
        struct task *task = &all->task[i];
        if (task->stage != RUNNING || task->child != child) {
            continue;
        }
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_TROUBLE;
        all->running--;
        task->ended = progress_clock();
        task->stage = FAILED;
        if (code == EXIT_YES || code == EXIT_YES_DATA) {
            code = lab_made_note(all->settings, task->experiment, code == EXIT_YES_DATA);
            task->stage = code == EXIT_YES ? DONE : FAILED;
        }
        if (WIFSIGNALED(status) && !interrupted) {
            say_error(NULL, task->experiment->name, "ended by signal %d", WTERMSIG(status));
        }
    }
}

static void stop_all(struct laboratory *all)
{
    for (size_t i = 0; i < all->started; i++) {
        if (all->task[i].stage == RUNNING) {
            kill(all->task[i].child, SIGTERM);
        }
    }
    while (all->running > 0) {
        int status;
        pid_t child = waitpid(-1, &status, 0);
        if (child < 0 && errno != EINTR) {
            return;
        }
        finished(all, child, status);
    }
}

/* What is finished stays, and the rest is named; then the signal does what it does to everyone. */
static void give_up(struct laboratory *all)
{
    size_t done = 0;
    stop_all(all);
    progress_end(&all->progress);
    for (size_t i = 0; i < all->count; i++) {
        done += all->task[i].stage == DONE;
    }
    say_error(NULL, "lab",
              "interrupted: %zu of %zu experiments are finished; their results are in %s", done,
              all->count, all->settings->folder);
    out_flush(all->out);
    answer_signals(SIG_DFL);
    raise(interrupted);
}

static int work(struct laboratory *all)
{
    while (all->printed < all->count) {
        if (interrupted) {
            give_up(all);
            return EXIT_TROUBLE;
        }
        while (all->running < all->settings->jobs && all->started < all->count) {
            if (start(all) != EXIT_YES) {
                stop_all(all);
                return EXIT_TROUBLE;
            }
        }
        int status;
        pid_t child = waitpid(-1, &status, WNOHANG);
        if (child > 0) {
            finished(all, child, status);
            progress_end(&all->progress);
            print_ready(all);
        } else {
            static const struct timespec pause = {0, LOOK_MS * 1000000L};
            show_progress(all);
            nanosleep(&pause, NULL);
        }
    }
    return EXIT_YES;
}

static int conclude(struct laboratory *all)
{
    size_t failed = 0;
    for (size_t i = 0; i < all->count; i++) {
        failed += all->task[i].stage != DONE;
    }
    out_format(all->out, "%zu experiment%s:", all->count, SAY_S(all->count));
    for (int v = 0; v < LAB_VERDICTS; v++) {
        out_format(all->out, "%s %zu %s", v == 0 ? "" : ",", all->verdicts[v],
                   lab_verdict_name((enum lab_verdict)v));
    }
    out_format(all->out, "; tables and pictures are in %s\n", all->settings->folder);
    if (failed > 0) {
        return say_error(NULL, "lab", "%zu experiment%s did not finish", failed, SAY_S(failed));
    }
    return all->verdicts[LAB_DIFFERS] > 0 ? EXIT_NO : EXIT_YES;
}

int lab_run_all(const struct lab_settings *settings, const struct lab_experiment *const *list,
                size_t count)
{
    struct laboratory all = {.settings = settings, .count = count};
    all.task = calloc(count, sizeof *all.task);
    all.out = out_open(STDOUT_FILENO);
    if (all.task == NULL || all.out == NULL) {
        free(all.task);
        free(all.out);
        return say_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        all.task[i].experiment = list[i];
    }
    progress_start(&all.progress, settings->progress);
    answer_signals(on_interrupt);
    int code = work(&all);
    answer_signals(SIG_DFL);
    progress_end(&all.progress);
    code = code == EXIT_YES ? conclude(&all) : code;
    free(all.task);
    return out_close(all.out, code);
}
