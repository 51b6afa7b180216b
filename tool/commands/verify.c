/* verify.c: is the file what was written? Every checksum, every invariant. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tepal/filter.h>

#include "cli/command.h"
#include "output/progress.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "input/lanes.h"
#include "cli/options.h"

static enum tepal_status check(const char *path, struct tepal_error *error)
{
    struct tepal_filter *filter;
    enum tepal_status status = filter_file_try(path, FILTER_FILE_VIEW, &filter, error);
    if (status != TEPAL_OK) {
        return status;
    }
    status = tepal_filter_validate(filter, error);
    tepal_filter_free(filter);
    return status;
}

static void tell(struct report *r, const char *path, enum tepal_status status,
                 const struct tepal_error *error)
{
    bool ok = status == TEPAL_OK;
    report_object(r, NULL);
    report_text(r, "file", path, JSON_ONLY);
    report_flag(r, "ok", ok, JSON_ONLY);
    report_text(r, "status", tepal_status_name(status), JSON_ONLY);
    if (!ok) {
        report_whole(r, "offset", error->offset, JSON_ONLY);
        report_text(r, "why", error->why != NULL ? error->why : strerror(error->system), JSON_ONLY);
    } else if (!r->quiet) {
        report_name(r, filter_file_name(path, false));
        report_line(r, ": OK\n");
    }
    report_end(r);
}

/* What is found out of each file, by any thread. */
struct verdict {
    enum tepal_status status;
    struct tepal_error error;
};

struct verify {
    const struct args *args;
    struct verdict *verdict;
    struct report report;
    struct progress progress;
    int code;
};

static void verify_one(void *context, size_t i)
{
    const struct verify *v = context;
    v->verdict[i].error = (struct tepal_error){.status = TEPAL_OK, .why = ""};
    v->verdict[i].status = check(v->args->operand[i], &v->verdict[i].error);
}

static bool tell_one(void *context, size_t i)
{
    struct verify *v = context;
    const struct verdict *is = &v->verdict[i];
    const char *path = v->args->operand[i];
    if (is->status != TEPAL_OK) {
        progress_end(&v->progress);
    }
    tell(&v->report, path, is->status, &is->error);
    if (is->status != TEPAL_OK && report_is(&v->report, REPORT_TEXT)) {
        filter_file_fault(NULL, filter_file_name(path, false), &is->error);
    }
    v->code = is->status == TEPAL_OK ? v->code : EXIT_TROUBLE;
    progress_parts(&v->progress, i + 1, v->args->operands, "files");
    return true;
}

static int verify_run(const struct args *args)
{
    struct verify v = {.args = args,
                       .verdict = calloc(args->operands, sizeof *v.verdict),
                       .report = report_open(args),
                       .code = EXIT_YES};
    /* On a terminal it would run into the output. */
    progress_start(&v.progress, !arg(args, "quiet")->given && !isatty(STDOUT_FILENO));
    if (v.verdict == NULL ||
        !lanes_each(arg_jobs(args), args->operands, verify_one, tell_one, &v)) {
        v.code = args_no_memory(args);
    }
    progress_end(&v.progress);
    free(v.verdict);
    return report_close(&v.report, v.code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {OPTION_JOBS, OPTION_JSON, OPTION_QUIET, OPTION_HELP,
                                        OPTIONS_END};
static const struct example examples[] = {
    {"tepal verify *.tepal", "Check every checksum and every invariant."}, {NULL, NULL}};

const struct command command_verify = {
    .name = "verify",
    .synopsis = "FILE... [--json]",
    .summary = "Check filters for damage.",
    .about = "Reads each filter completely and checks lengths, checksums and invariants. Exit "
             "status 2 if one of them is damaged.",
    .options = options,
    .files = true,
    .least_operands = 1,
    .most_operands = SIZE_MAX,
    .operand_name = "a filter is",
    .examples = examples,
    .run = verify_run};
