/* command.c: `tepal lab`: list, run, report. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/files.h"
#include "runner/runner.h"
#include "cli/suggest.h"
#include "cli/options.h"

#define FOLDER "lab"

/* ---- list ------------------------------------------------------------------------------------ */

static int list_all(const struct args *args)
{
    struct out *out = out_open(STDOUT_FILENO);
    if (out == NULL) {
        return EXIT_TROUBLE;
    }
    if (args->operands > 1) {
        free(out);
        return say_error(NULL, "lab list", "takes no arguments");
    }
    for (size_t i = 0; i < lab_paper_count; i++) {
        const struct lab_paper *paper = &lab_papers[i];
        out_format(out, "%s%s: %s (%s)\n", i == 0 ? "" : "\n", paper->number, paper->title,
                   paper->authors);
        for (const struct lab_experiment *e = paper->experiment; e->name != NULL; e++) {
            out_format(out, "  %-22s %-18s %s (%u s; --full %u s)\n", e->name, e->item, e->shows,
                       e->seconds[0], e->seconds[1]);
        }
    }
    return out_close(out, EXIT_YES);
}

/* ---- run ------------------------------------------------------------------------------------- */

struct choice {
    const struct lab_experiment **list;
    size_t count;
};

static size_t total(void)
{
    size_t count = 0;
    for (size_t i = 0; i < lab_paper_count; i++) {
        for (const struct lab_experiment *e = lab_papers[i].experiment; e->name != NULL; e++) {
            count++;
        }
    }
    return count;
}

static void add(struct choice *choice, const struct lab_experiment *e)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->list[i] == e) {
            return;
        }
    }
    choice->list[choice->count++] = e;
}

/* Those of a paper (NULL: of all) with this name (NULL: whatever it is). False: there are none. */
static bool choose(struct choice *choice, const char *paper, const char *name)
{
    bool any = false;
    for (size_t i = 0; i < lab_paper_count; i++) {
        bool here = paper == NULL || strcmp(lab_papers[i].number, paper) == 0;
        for (const struct lab_experiment *e = lab_papers[i].experiment; e->name != NULL; e++) {
            if (here && (name == NULL || strcmp(e->name, name) == 0)) {
                add(choice, e);
                any = true;
            }
        }
    }
    return any;
}

static int unknown(const char *name)
{
    struct suggest near = {.word = name};
    char hint[96];
    for (size_t i = 0; i < lab_paper_count; i++) {
        for (const struct lab_experiment *e = lab_papers[i].experiment; e->name != NULL; e++) {
            suggest_offer(&near, e->name);
        }
    }
    const char *text = suggest_text(&near, "", hint, sizeof hint);
    return say_error(NULL, "lab", "unknown experiment %s%s", name,
                     text[0] != '\0' ? text : "; 'tepal lab list' lists them");
}

static int choose_all(const struct args *args, struct choice *choice)
{
    const char *paper;
    if (args->operands == 1 && !arg(args, "paper")->given && !arg(args, "all")->given) {
        return say_error(NULL, "lab run", "nothing to run: give NAMES, --paper NUMBER or --all");
    }
    if (arg(args, "all")->given) {
        (void)choose(choice, NULL, NULL);
        return EXIT_YES;
    }
    for (size_t i = 0; (paper = args_text(args, "paper", i)) != NULL; i++) {
        if (!choose(choice, paper, NULL)) {
            return say_error(NULL, "lab", "--paper %s: no such paper; 'tepal lab list' lists them",
                             paper);
        }
    }
    for (size_t i = 1; i < args->operands; i++) {
        if (!choose(choice, NULL, args->operand[i])) {
            return unknown(args->operand[i]);
        }
    }
    return EXIT_YES;
}

static int make_folder(const char *folder)
{
    struct stat about;
    if (mkdir(folder, 0777) == 0) {
        return EXIT_YES;
    }
    if (errno == EEXIST && stat(folder, &about) == 0 && S_ISDIR(about.st_mode)) {
        return access(folder, W_OK | X_OK) == 0 ? EXIT_YES
                                                : say_error(NULL, folder, "%s", strerror(errno));
    }
    return say_error(NULL, folder, "%s", strerror(errno == EEXIST ? ENOTDIR : errno));
}

static int run_some(const struct args *args)
{
    struct choice choice = {.list = calloc(total() + 1, sizeof *choice.list)};
    struct lab_settings settings = {.args = args,
                                    .folder =
                                        arg(args, "out")->given ? arg(args, "out")->text : FOLDER,
                                    .quick = !arg(args, "full")->given,
                                    .sabotaged = arg(args, "sabotage")->given,
                                    .seed = arg_whole(args, "seed", 1),
                                    .jobs = arg_jobs(args),
                                    .progress = !arg(args, "quiet")->given};
    if (choice.list == NULL) {
        return say_no_memory();
    }
    int code = choose_all(args, &choice);
    code = code == EXIT_YES ? make_folder(settings.folder) : code;
    code = code == EXIT_YES ? lab_run_all(&settings, choice.list, choice.count) : code;
    free((void *)choice.list);
    return code;
}

/* ---- report ---------------------------------------------------------------------------------- */

static int report(const struct args *args)
{
    const struct option_value *output = arg(args, "out");
    const char *folder = args->operands > 1 ? args->operand[1] : FOLDER;
    if (args->operands > 2) {
        return say_error(NULL, "lab report", "one folder at a time");
    }
    char *path = output->given ? strdup(output->text) : lab_path(folder, "report", ".html");
    int code = path == NULL ? say_no_memory() : lab_report(args, folder, path);
    free(path);
    return code;
}

static int lab_run(const struct args *args)
{
    const char *what = args->operand[0];
    if (strcmp(what, "list") == 0) {
        return list_all(args);
    }
    if (strcmp(what, "run") == 0) {
        return run_some(args);
    }
    if (strcmp(what, "report") == 0) {
        return report(args);
    }
    return say_error(NULL, "lab", "%s: not one of list, run, report; see 'tepal lab --help'", what);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char *subcommands(const struct program *program, size_t n)
{
    static const char *const words[] = {"list", "run", "report"};
    (void)program;
    return n < 3 ? words[n] : NULL;
}

static const struct option options[] = {
    OPTION(0, "paper", OF_CHOICE("NUMBER", "000 001 002 003 004"),
           "All experiments of one paper; may be given several times."),
    FLAG('a', "all", "All experiments."),
    FLAG(0, "quick", "Fewer trials and wider intervals (default)."),
    FLAG(0, "full", "As many trials as in the papers."),
    OPTION_DEMO_SEED,
    OPTION('o', "out", OF_VALUE(TAKES_FILE, "DIR"),
           "run: write tables and pictures to the directory DIR (default lab); report: write the "
           "page to this file (default DIR/report.html)."),
    OPTION(0, "jobs", OF_WHOLE("N", 1, 64),
           "Run N experiments in parallel (default: one per core). Results do not depend on it."),
    FLAG(0, "sabotage", "Use wrong methods on purpose, to check that the verdicts notice."),
    OPTION_QUIET,
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {{"quick", "full"}, {"paper", "all"}, {NULL}};
static const struct example examples[] = {
    {"tepal lab list", "Every experiment, with the table or figure it reproduces."},
    {"tepal lab run 000-table-4 --full", "One table of the first paper."},
    {"tepal lab run --all --out results && tepal lab report results", "Everything, on one page."},
    {NULL, NULL}};

const struct command command_lab = {
    .name = "lab",
    .synopsis = "list | run (NAME... | --paper NUMBER | --all) [--full] | report [DIR]",
    .summary = "Reproduce the papers' tables and figures, next to the originals.",
    .about = "list prints all experiments. run writes the table (TSV: experiment, item, published, "
             "ours, low, high, verdict, expected, source, width) and picture (SVG) of each "
             "experiment, and prints the table. report writes one HTML page from the files in DIR "
             "(default lab).\n\n"
             "low and high are the interval by which the row is judged, and width lists its parts: "
             "our 99.9 % confidence interval, the paper's own sampling error, its rounding, and "
             "the range that its words allow. The verdict is agrees (the published number lies "
             "within), erratum (it does not, but the expected number does), paper-only (the "
             "paper's own arithmetic: it holds, and the library is not involved), ours-only "
             "(nothing was published) or differs. source says whether the paper prints the "
             "number, gives a formula for it, or states it in words. The same seed gives the same "
             "files, byte for byte. Exit status 1 if a row differs.",
    .options = options,
    .exclusive = exclusive,
    .words = subcommands,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "list, run or report is",
    .examples = examples,
    .run = lab_run};
