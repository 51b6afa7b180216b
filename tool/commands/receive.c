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

#include <tepal/receive.h>

#include "cli/command.h"
#include "commands/receive/stream.h"
#include "commands/receive/terms.h"
#include "output/render.h"
#include "output/report.h"
#include "files/file_lock.h"
#include "files/filter_file.h"
#include "files/packed.h"
#include "cli/options.h"
#include "system/bytes.h"

struct receive {
    const struct args *args;
    struct args_after after; /* an error is about one of several */
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
                   : args_about(args, folder, "several filters need a directory as the output");
    }
    for (size_t i = 0; i < args->operands; i++) {
        const char *name = base_name(args->operand[i]);
        if (strcmp(args->operand[i], "-") == 0 || name[0] == '\0') {
            return args_about(args, filter_file_name(args->operand[i], false),
                              "it has no file name to use in the directory %s", folder);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(name, base_name(args->operand[j])) == 0) {
                return args_about(args, args->operand[i],
                                  "another of the filters has the same name, for the directory %s",
                                  folder);
            }
        }
    }
    r->folder = folder;
    return args->operands > 0
               ? EXIT_YES
               : args_about(args, "standard input",
                            "it has no file name to use in the directory %s", folder);
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

/* `locked`: it was, before the filter was read. */
static int keep(const struct receive *r, const char *to, const struct tepal_filter *filter,
                bool locked)
{
    if (to == NULL) {
        return EXIT_YES;
    }
    if (r->folder != NULL && filter_file_check_output(r->args, to) != EXIT_YES) {
        return EXIT_TROUBLE;
    }
    return locked ? filter_file_save(r->args, filter, to)
                  : filter_file_replace(r->args, filter, to, NULL, 0);
}

#define REASON 320 /* characters of a reason, remedy included */

/* ---- one filter ------------------------------------------------------------------------------ */

/* Why it was refused, and the remedy if one of the options is. */
static const char *reason(const struct receive *r, const struct tepal_judgement *judgement,
                          char *room, size_t size)
{
    bool empty = judgement->verdict == TEPAL_REFUSED_FILL && !r->terms.repeats &&
                 judgement->fill < judgement->fill_expected;
    snprintf(room, size, "%s%s", judgement->why,
             empty ? "; --repeated accepts lists in which keys came more than once" : "");
    return room;
}

static void tell(struct receive *all, const char *path, const struct tepal_judgement *judgement)
{
    struct report *r = &all->report;
    struct tepal_report quantities = {.count = 0};
    char room[REASON];
    report_object(r, NULL);
    report_text(r, "file", path, JSON_ONLY);
    tepal_judgement_report(judgement, &quantities);
    if (report_is(r, REPORT_JSON)) {
        report_quantities(r, &quantities, false);
    }
    report_text(r, "why",
                judgement->why[0] == '\0' ? NULL : reason(all, judgement, room, sizeof room),
                JSON_ONLY);
    report_end(r);
}

static void print_words(struct receive *all, const char *name,
                        const struct tepal_judgement *judgement)
{
    struct report *r = &all->report;
    char rate[64];
    char room[REASON];
    report_name(r, name);
    if (judgement->verdict != TEPAL_ACCEPTED) {
        report_line(r, ": refused: %s\n", reason(all, judgement, room, sizeof room));
        return;
    }
    report_line(r, ": accepted: finds %s of all keys",
                render_rate(judgement->fp_now, rate, sizeof rate));
    if (judgement->fp_bound < 1) {
        report_line(r, ", at most %s with any bits",
                    render_rate(judgement->fp_bound, rate, sizeof rate));
    }
    report_line(r, "; %.4g %% of its bits are ones", 100 * judgement->fill);
    if (!isnan(judgement->fill_expected)) {
        report_line(r, "; %" PRIu64 " keys are expected to set %.4g %% +- %.2g %%", judgement->keys,
                    100 * judgement->fill_expected, 100 * judgement->fill_deviation);
    }
    if (!isnan(judgement->fn_told)) {
        report_line(r, "; it says that it gave up %s of its members",
                    render_rate(judgement->fn_told, rate, sizeof rate));
    }
    report_line(r, "\n");
}

static int open_input(const struct receive *r, const char *path)
{
    int fd =
        strcmp(path, "-") == 0 ? STDIN_FILENO : open(file_lock_place(path), O_RDONLY | O_CLOEXEC);
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

static bool is_regular(int fd)
{
    struct stat about;
    return fd != STDIN_FILENO && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

static int judge_one(struct receive *r, const char *path, const char *to, bool locked)
{
    const char *name = filter_file_name(path, false);
    struct tepal_judgement judgement;
    struct tepal_error error;
    struct tepal_filter *filter = NULL;
    int fd = open_input(r, path);
    if (fd < 0) {
        return EXIT_TROUBLE;
    }
    bool as_it_is = is_regular(fd) && packed_look(file_lock_place(path)) == PACKED_NOT;
    enum tepal_status status =
        as_it_is ? tepal_receive_fd(fd, &r->terms, NULL, &filter, &judgement, &error)
                 : receive_stream(fd, &r->terms, &filter, &judgement, &error);
    if (fd != STDIN_FILENO) {
        close(fd);
    }
    if (status != TEPAL_OK) {
        return filter_file_fault(r->args->command->stays, name, &error);
    }
    int code = filter == NULL ? EXIT_NO : keep(r, to, filter, locked);
    tepal_filter_free(filter);
    if (code == EXIT_TROUBLE) {
        return code;
    }
    tell(r, path, &judgement);
    if (!r->report.quiet) {
        print_words(r, name, &judgement);
    }
    return report_code(&r->report, code);
}

static int receive_one(struct receive *r, const char *path)
{
    struct file_lock lock = {.path = NULL};
    char *to = NULL;
    if (arg(r->args, "output")->given && (to = destination(r, path)) == NULL) {
        return args_no_memory(r->args);
    }
    bool in_place = to != NULL && filter_file_same(path, to);
    int code = in_place ? file_lock_take(&lock, r->args, to, FILE_LOCK_WAIT) : EXIT_YES;
    code = code == EXIT_YES ? judge_one(r, path, to, in_place) : code;
    file_lock_drop(&lock);
    free(to);
    return code;
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
    if (count > 1 && r.folder != NULL) {
        r.args = args_after(&r.after, args, "it was not written");
    }
    /* If the filters go to standard output, the words go to standard error. */
    const struct option_value *output = arg(args, "output");
    bool to_standard = output->given && strcmp(output->text, "-") == 0;
    if (code == EXIT_YES) {
        r.report = report_on(out_open(to_standard ? STDERR_FILENO : STDOUT_FILENO), args);
    }
    for (size_t i = 0; i < count && r.report.out != NULL; i++) {
        code = worse(code, receive_one(&r, paths[i]));
    }
    bytes_wipe(r.key, sizeof r.key);
    return report_close(&r.report, code);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
    OPTION(0, "like", OF_VALUE(TAKES_FILE, "FILE"),
           "The agreed parameters are those of the filter FILE: kind, layout, positions, bits, "
           "hash functions, seed, and whether it is keyed and with which key. The options below "
           "override single ones."),
    OPTION(0, "kind", OF_VALUE(TAKES_KIND, "KIND"), "The agreed kind."),
    OPTION('l', "layout", OF_CHOICE("LAYOUT", LAYOUT_WORDS), "The agreed layout."),
    OPTION(0, "positions", OF_CHOICE("RULE", "colliding distinct"), "The agreed positions."),
    OPTION('m', "bits", OF_WHOLE("M", 1, (uint64_t)1 << 60), "The agreed number of bits."),
    OPTION('k', "hashes", OF_WHOLE("K", 1, TEPAL_MAX_HASHES),
           "The agreed number of hash functions."),
    OPTION('s', "seed", OF_VALUE(TAKES_SEED, "S"), "The agreed seed."),
    OPTION(0, "reset-hashes", OF_WHOLE("K0", 0, TEPAL_MAX_HASHES),
           "generalized: the agreed number of hash functions that reset bits; give --set-hashes, "
           "too."),
    OPTION(0, "set-hashes", OF_WHOLE("K1", 0, TEPAL_MAX_HASHES),
           "generalized: the agreed number of hash functions that set bits."),
    OPTION(0, "tolerance", OF_WHOLE("B", 0, TEPAL_MAX_HASHES - 1),
           "generalized: the agreed number of inverted bits that a lookup tolerates."),
    OPTION(0, "key-file", OF_VALUE(TAKES_FILE, "FILE"),
           "The filter must be keyed with the secret key in FILE."),
    FLAG(0, "unkeyed", "The filter must not be keyed."),
    OPTION(0, "max-bytes", OF_SIZE(1, UINT64_MAX),
           "Refuse a filter of more than N bytes, decompressed, as soon as its header is read "
           "(default 1Gi)."),
    OPTION(0, "max-keys", OF_WHOLE("N", 1, UINT64_MAX),
           "Refuse a filter that claims more than N keys."),
    OPTION('n', "keys", OF_WHOLE("N", 1, UINT64_MAX),
           "Expect the fill of N keys (default: as many as the filter claims)."),
    FLAG(0, "repeated",
         "The peer may have added keys more than once: accept a filter that is emptier than its "
         "number of keys explains."),
    OPTION('p', "max-fp", OF_VALUE(TAKES_SHARE, "RATE"),
           "Refuse a filter with a higher false-positive rate (default 10 %)."),
    OPTION(
        0, "min-probability", OF_VALUE(TAKES_RATE, "P"),
        "Refuse a filter whose fill is less probable than P for an honest filter (default 1e-6)."),
    FLAG(0, "any-fill", "Do not check the fill, only the false-positive rate."),
    OPTION('o', "output", OF_VALUE(TAKES_FILE, "OUT"),
           "Write an accepted filter to OUT, atomically. If OUT is a directory, write accepted "
           "filters into it under their own names. A refused filter is never written."),
    OPTION_COMPRESS,
    OPTION_FORCE,
    OPTION_NO_WAIT,
    OPTION_JSON,
    FLAG('q', "quiet", "Print nothing; see the exit status."),
    OPTION_HELP,
    OPTIONS_END};
static const char *const exclusive[][4] = {
    {"key-file", "unkeyed"},    {"min-probability", "any-fill"},
    {"hashes", "reset-hashes"}, {"hashes", "set-hashes"},
    {"json", "quiet"},          {NULL}};
static const struct example examples[] = {
    {"tepal receive peer.tepal --like ours.tepal --max-fp 2% -o peer-ok.tepal",
     "Accept only a filter with the parameters of ours."},
    {"tepal receive --kind bloom --bits 1Mi --seed 7 --max-bytes 200k -o in.tepal < pipe",
     "From the network; refused early if it is too large."},
    {"tepal receive inbox/*.tepal --like ours.tepal -o accepted/", "A whole inbox."},
    {NULL, NULL}};

const struct command command_receive = {
    .name = "receive",
    .synopsis = "[FILE...] [--like FILE] [--max-fp RATE] [--max-bytes N] [-o OUT]",
    .summary = "Check filters from untrusted sources, and accept or refuse them.",
    .about = "Reads filters that somebody else sent (standard input if there are none, or for -) "
             "and checks each: is it intact, does it have the agreed parameters, how many false "
             "positives do its bits cause, and is its share of ones plausible for its number of "
             "keys? Prints one line per filter; a refused filter is reported with the first check "
             "that failed. Filters may be compressed with gzip, zstd or xz.\n\n"
             "A Bloom filter can be saturated; a generalized filter finds at most a known share of "
             "all keys, whatever bits it has. Neither is safe from a sender who knows the seed and "
             "sets bits for chosen keys; only a secret key prevents that (build --key-file).\n\n"
             "Exit status 0 if all were accepted, 1 if one was refused, 2 on an error.",
    .options = options,
    .exclusive = exclusive,
    .files = true,
    .most_operands = SIZE_MAX,
    .stays = "nothing was written",
    .examples = examples,
    .run = receive_run};
