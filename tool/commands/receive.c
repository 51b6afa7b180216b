/*
 * receive.c: filters from strangers: which are taken, which are not, and why. One line a filter (or
 * an object); what is taken can be written somewhere, what is not never is.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include <tepal/receive.h>

#include "cli/command.h"
#include "commands/receive/terms.h"
#include "output/render.h"
#include "output/report.h"
#include "files/filter_file.h"
#include "cli/options.h"

struct receive {
    const struct args *args;
    struct tepal_terms terms;
    uint8_t key[TEPAL_KEY_BYTES];
    const char *folder; /* where what is taken goes, if there are several; NULL: none */
    struct report report;
};

/* ---- where it goes --------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Several filters go into a directory, under their own names: these must differ. */
static int check_folder(struct receive *r, const char *folder)
{
    const struct args *args = r->args;
    struct stat about;
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return args->operands < 2
                   ? EXIT_YES
                   : args_about(args, folder, "several filters need a directory to go to");
    }
    for (size_t i = 0; i < args->operands; i++) {
        const char *name = base_name(args->operand[i]);
        if (strcmp(args->operand[i], "-") == 0 || name[0] == '\0') {
            return args_about(args, filter_file_name(args->operand[i], false),
                              "it has no name to go by in the directory %s", folder);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(name, base_name(args->operand[j])) == 0) {
                return args_about(args, args->operand[i],
                                  "another filter would have the same name in the directory %s",
                                  folder);
            }
        }
    }
    r->folder = folder;
    return args->operands > 0 ? EXIT_YES
                              : args_about(args, "standard input",
                                           "it has no name to go by in the directory %s", folder);
}

static int check_output(struct receive *r)
{
    const struct args *args = r->args;
    const struct option_value *output = arg(args, "output");
    if (!output->given) {
        return EXIT_YES;
    }
    if (check_folder(r, output->text) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return r->folder != NULL ? EXIT_YES : filter_file_check_output(args, output->text);
}

/* Where an accepted filter goes; on the heap, NULL without memory. */
static char *destination(const struct receive *r, const char *path)
{
    const char *output = arg(r->args, "output")->text;
    if (r->folder == NULL) {
        return strdup(output);
    }
    size_t size = strlen(r->folder) + strlen(base_name(path)) + 2;
    char *to = malloc(size);
    if (to != NULL) {
        snprintf(to, size, "%s/%s", r->folder, base_name(path));
    }
    return to;
}

static int keep(const struct receive *r, const char *path, const struct tepal_filter *filter)
{
    if (!arg(r->args, "output")->given) {
        return EXIT_YES;
    }
    char *to = destination(r, path);
    if (to == NULL) {
        return args_no_memory(r->args);
    }
    int code = r->folder == NULL ? EXIT_YES : filter_file_check_output(r->args, to);
    code = code == EXIT_YES ? filter_file_save(r->args, filter, to) : code;
    free(to);
    return code;
}

/* ---- one filter ------------------------------------------------------------------------------ */

static void tell(struct report *r, const char *path, const struct tepal_receipt *receipt)
{
    struct tepal_report quantities = {.count = 0};
    report_object(r, NULL);
    report_text(r, "file", path, JSON_ONLY);
    tepal_receipt_report(receipt, &quantities);
    if (report_is(r, REPORT_JSON)) {
        report_quantities(r, &quantities, false);
    }
    report_text(r, "why", receipt->why[0] == '\0' ? NULL : receipt->why, JSON_ONLY);
    report_end(r);
}

static void print_words(struct report *r, const char *name, const struct tepal_receipt *receipt)
{
    char rate[64];
    if (receipt->verdict != TEPAL_ACCEPTED) {
        report_line(r, "%s: refused: %s\n", name, receipt->why);
        return;
    }
    report_line(r, "%s: accepted: passes %s of all keys", name,
                render_rate(receipt->fp_now, rate, sizeof rate));
    if (receipt->fp_bound < 1) {
        report_line(r, ", at most %s whatever its bits",
                    render_rate(receipt->fp_bound, rate, sizeof rate));
    }
    report_line(r, "; %.4g %% of its bits are ones", 100 * receipt->fill);
    if (!isnan(receipt->fill_expected)) {
        report_line(r, ", and %" PRIu64 " keys leave %.4g %% +- %.2g %%", receipt->keys,
                    100 * receipt->fill_expected, 100 * receipt->fill_deviation);
    }
    report_line(r, "\n");
}

static int open_input(const struct receive *r, const char *path)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        close(fd);
        errno = EISDIR;
        fd = -1;
    }
    if (fd < 0) {
        args_about(r->args, filter_file_name(path, false), "%s", strerror(errno));
    }
    return fd;
}

static int receive_one(struct receive *r, const char *path)
{
    const char *name = filter_file_name(path, false);
    struct tepal_receipt receipt;
    struct tepal_filter *filter = NULL;
    int fd = open_input(r, path);
    if (fd < 0) {
        return EXIT_TROUBLE;
    }
    enum tepal_status status = tepal_receive_fd(fd, &r->terms, NULL, &receipt, &filter);
    if (fd != STDIN_FILENO) {
        close(fd);
    }
    if (status != TEPAL_OK) {
        return filter_file_fault(r->args->command->stays, name, &receipt.fault);
    }
    int code = filter == NULL ? EXIT_NO : keep(r, path, filter);
    tepal_filter_free(filter);
    if (code == EXIT_TROUBLE) {
        return code;
    }
    tell(&r->report, path, &receipt);
    if (!r->report.quiet) {
        print_words(&r->report, name, &receipt);
    }
    return report_code(&r->report, code);
}

/* Trouble outweighs a refusal, and a refusal an acceptance. */
static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int receive_run(const struct args *args)
{
    static const char *const standard[] = {"-"};
    struct receive r = {.args = args};
    const char *const *paths = args->operands > 0 ? args->operand : standard;
    size_t count = args->operands > 0 ? args->operands : 1;
    int code = receive_terms(args, &r.terms, r.key);
    code = code == EXIT_YES ? check_output(&r) : code;
    /* If the filters go to standard output, the words go to standard error. */
    const struct option_value *output = arg(args, "output");
    bool to_standard = output->given && strcmp(output->text, "-") == 0;
    if (code == EXIT_YES) {
        r.report = report_on(out_open(to_standard ? STDERR_FILENO : STDOUT_FILENO), args);
    }
    for (size_t i = 0; i < count && r.report.out != NULL; i++) {
        code = worse(code, receive_one(&r, paths[i]));
    }
    sodium_memzero(r.key, sizeof r.key);
    return report_close(&r.report, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "like", OF_VALUE(TAKES_FILE, "FILE"),
           "Agreed is what the filter FILE has: kind, layout, positions, bits, hashes, seed, and "
           "whether it is keyed, with which key. The options below change single terms."),
    OPTION(0, "kind", OF_VALUE(TAKES_KIND, "KIND"), "The kind that was agreed."),
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS), "The layout that was agreed."),
    OPTION(0, "positions", OF_CHOICE("RULE", "colliding distinct"),
           "The rule for positions that was agreed."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 60), "The number of bits that was agreed."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The number of hashes that was agreed."),
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"), "The seed that was agreed."),
    OPTION(0, "reset-hashes", OF_WHOLE("K0", 0, TEPAL_MAX_HASHES),
           "generalized: how many hashes reset, together with --set-hashes."),
    OPTION(0, "set-hashes", OF_WHOLE("K1", 0, TEPAL_MAX_HASHES),
           "generalized: how many hashes set."),
    OPTION(0, "tolerance", OF_WHOLE("B", 0, TEPAL_MAX_HASHES - 1),
           "generalized: how many inverted bits a query forgives."),
    OPTION(0, "key-file", OF_VALUE(TAKES_FILE, "FILE"),
           "The filter must be keyed with the secret key in FILE."),
    FLAG(0, "unkeyed", "The filter must not be keyed."),
    OPTION(0, "max-bytes", OF_WHOLE("N", 1, UINT64_MAX),
           "Refuse, by its header, what has more than N bytes (default 1Gi)."),
    OPTION(0, "max-keys", OF_WHOLE("N", 1, UINT64_MAX),
           "Refuse a filter that claims more than N keys."),
    OPTION('n', "keys", OF_WHOLE("N", 1, UINT64_MAX),
           "Judge the fill by N keys (default: as many as the filter claims)."),
    FLAG(0, "repeated",
         "The peer may have added the same key more than once: a filter that is emptier than its "
         "number of keys explains is taken."),
    OPTION('p', "max-fp", OF_VALUE(TAKES_SHARE, "RATE"),
           "Refuse a filter whose bits pass more than this share of all keys (default 10 %)."),
    OPTION(0, "min-probability", OF_VALUE(TAKES_RATE, "P"),
           "Refuse a fill that an honest filter has with a chance below P (default 1e-6)."),
    FLAG(0, "any-fill", "Do not judge by the fill, only by the rate."),
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "OUT"),
           "Write an accepted filter to OUT, atomically; if OUT is a directory, into it under its "
           "own name, and there may be several. A refused one is never written."),
    OPTION_FORCE,
    OPTION_JSON,
    FLAG('q', "quiet", "Print nothing; the exit status tells."),
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {
    {"key-file", "unkeyed"},    {"min-probability", "any-fill"},
    {"hashes", "reset-hashes"}, {"hashes", "set-hashes"},
    {"json", "quiet"},          {NULL}};
static const struct example examples[] = {
    {"tepal receive peer.tepal --like ours.tepal --max-fp 2% -o peer-ok.tepal",
     "A filter like ours, or none."},
    {"tepal receive --kind bloom --bits 1Mi --seed 7 --max-bytes 200k -o in.tepal < pipe",
     "From the network: refused by its header if it is too large."},
    {"tepal receive inbox/*.tepal --like ours.tepal -o accepted/", "A whole inbox."},
    {NULL, NULL}};

const struct command command_receive = {
    .name = "receive",
    .synopsis = "[FILE...] [--like FILE] [--max-fp RATE] [--max-bytes N] [-o OUT]",
    .summary = "Decide about filters from strangers.",
    .about = "Takes filters that somebody else sent (none, or -: standard input) and decides: is "
             "it sound, is it what was agreed on, how many false positives do its bits cause, and "
             "does an honest filter of so many keys have so many ones? One line a filter; the "
             "first of these that fails is the reason it is refused.\n\n"
             "A Bloom filter can be saturated; a generalized one passes at most a known share of "
             "all keys, whatever its bits. Neither is proof against bits that were set for chosen "
             "keys by somebody who knows the seed: only a secret key is (build --key-file).\n\n"
             "Exit status 0 if all were accepted, 1 if one was refused, 2 on an error.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = receive_run};
