/*
 * report.c: one HTML page from a folder of tables and pictures. It needs no network, no script and
 * no font, fits a phone, and follows the reader's light or dark setting. Pictures are put in as
 * they are but for their style, which all share; texts from tables are escaped. It is meant to be
 * kept in a repository: HTML's optional end tags are left out, and numbers have fewer
 * digits than the tables.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/base.h>

#include "experiment/files.h"
#include "runner/runner.h"

/* How often each verdict was given. */
struct tally {
    size_t of[LAB_VERDICTS];
};

struct page {
    const char *folder;
    struct out *out;
    size_t experiments;
    struct tally *paper; /* of each */
    struct tally all;
    int code;
};

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--soft:#5b616b;--line:#d8dce2;"
    "--card:#f6f7f9;--agrees:#1b7f3b;--differs:#b3261e;--erratum:#9a5b00;--ours:#345a9c}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8ea;--paper:#16181c;--soft:#a4abb6;"
    "--line:#363a42;--card:#1e2127;--agrees:#6fd08c;--differs:#ff8a80;--erratum:#ffc46b;"
    "--ours:#8ab4f8}}"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:1rem;color:var(--ink);"
    "background:var(--paper);font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.6rem}h2{margin-top:3rem;border-bottom:2px solid var(--line)}"
    "h3{margin:2rem 0 .3rem}a{color:var(--ours)}.soft{color:var(--soft)}"
    ".wide,.picture{overflow-x:auto}svg{width:100%;max-width:720px;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th:first-child,td:first-child{text-align:left;white-space:normal;"
    "min-width:9rem}i{font-style:normal;color:var(--soft);margin-left:.5rem}"
    "@media(max-width:40rem){th,td{padding:.2rem}table{font-size:.8rem}"
    "th:first-child,td:first-child{min-width:6rem;overflow-wrap:anywhere}"
    "i{display:block;font-size:.75rem;margin:0;white-space:normal}"
    "svg{width:600px;max-width:none}svg text{font-size:15px}}" /* wide, but readable: it scrolls */
    "code{background:var(--card);padding:.1rem .3rem;overflow-wrap:anywhere}"
    ".remark{background:var(--card);border-left:4px solid var(--erratum);padding:.5rem .8rem}"
    "summary{cursor:pointer;color:var(--ours)}"
    ".agrees{color:var(--agrees)}.differs{color:var(--differs);font-weight:bold}"
    ".erratum{color:var(--erratum)}.paper-only,.ours-only{color:var(--ours)}";

/* Text in which `...` is code. */
static void put_words(struct out *out, char *text)
{
    bool code = false;
    for (char *end; (end = strchr(text, '`')) != NULL; text = end + 1) {
        *end = '\0';
        svg_escaped(out, text);
        out_text(out, code ? "</code>" : "<code>");
        code = !code;
    }
    svg_escaped(out, text);
    out_text(out, code ? "</code>" : "");
}

/* Paragraphs, divided by empty lines. */
static void paragraphs(struct out *out, const char *text, const char *class)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t len = end == NULL ? strlen(text) : (size_t)(end - text);
        char *copy = strndup(text, len);
        out_format(out, "<p%s%s%s>", class == NULL ? "" : " class=\"", class == NULL ? "" : class,
                   class == NULL ? "" : "\"");
        if (copy != NULL) {
            put_words(out, copy);
        }
        out_text(out, "</p>\n");
        free(copy);
        text += len + (end == NULL ? 0 : 2);
    }
}

/* ---- one experiment -------------------------------------------------------------------------- */

/* Print `text` up to `from`; what follows `to` is what is left. Not if they are not there. */
static const char *leave_out(struct out *out, const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from);
    const char *end = begin == NULL ? NULL : strstr(begin, to);
    if (end == NULL) {
        return text;
    }
    out_bytes(out, text, (size_t)(begin - text));
    return end;
}

/* The picture without what the page has already: name space, style, background. */
static void put_svg(struct out *out, const char *text)
{
    text = leave_out(out, text, " xmlns=", " viewBox=");
    text = leave_out(out, text, "<style>", "<path ");
    out_text(out, text);
}

static bool put_picture(struct page *page, const struct lab_experiment *e, unsigned number)
{
    char *path = lab_picture_path(page->folder, e->name, number);
    char *text = path == NULL ? NULL : lab_slurp(path);
    bool there = text != NULL;
    if (path == NULL) {
        page->code = say_no_memory();
    } else if (text == NULL && errno != ENOENT) {
        page->code = say_error(NULL, path, "%s", strerror(errno));
    }
    if (there && strncmp(text, "<svg ", 5) != 0) {
        page->code = say_error(NULL, path, "not a picture written by tepal lab");
        there = false;
    } else if (there) {
        out_text(page->out, "<div class=picture>");
        put_svg(page->out, text);
        out_text(page->out, "</div>\n");
    }
    free(text);
    free(path);
    return there;
}

static enum lab_verdict verdict_of(const char *const row[LAB_WIDTH])
{
    for (int v = 0; v < LAB_VERDICTS; v++) {
        if (strcmp(row[LAB_SAYS], lab_verdict_name((enum lab_verdict)v)) == 0) {
            return (enum lab_verdict)v;
        }
    }
    return LAB_DIFFERS;
}

static bool is_number(const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* Half an interval, or one of its ends: to three digits, and no powers of ten below a million. */
static void put_digits(struct out *out, double x)
{
    out_format(out, fabs(x) >= 1000 && fabs(x) < 1e6 ? "%.0f" : "%.3g", x);
}

static void put_reason(struct out *out, const char *reason)
{
    if (strncmp(reason, "ours", 4) != 0 || strchr(reason, ',') != NULL) {
        out_text(out, ": ");
        svg_escaped(out, reason);
    }
    out_text(out, "</i>");
}

/*
 * Ours, the interval that judged it (none if it is exact, +- if both sides are the same), and why
 * that is as wide, if not by our own sampling alone. Digits beyond what it allows are in the table.
 */
static void put_ours(struct out *out, const char *const row[LAB_WIDTH])
{
    double ours;
    double low;
    double high;
    out_text(out, "<td>");
    if (!is_number(row[LAB_OURS], &ours) || !is_number(row[LAB_LOW], &low) ||
        !is_number(row[LAB_HIGH], &high)) {
        svg_escaped(out, row[LAB_OURS]);
        return;
    }
    out_format(out, "%.5g", ours);
    if (low < high && fabs(high + low - 2 * ours) <= 0.01 * (high - low)) {
        out_text(out, "<i>\u00b1");
        put_digits(out, (high - low) / 2);
        put_reason(out, row[LAB_REASON]);
    } else if (low < high) {
        out_format(out, "<i>%.4g to %.4g", low, high);
        put_reason(out, row[LAB_REASON]);
    }
}

/* How much of an item, in whole parts, it shares with the one above it. */
static size_t shared(const char *item, const char *above)
{
    size_t whole = 0;
    for (size_t i = 0; item[i] != '\0' && item[i] == above[i]; i++) {
        if (i > 8 && item[i] == ' ' && (item[i - 1] == ',' || item[i - 1] == ':')) {
            whole = i + 1;
        }
    }
    return whole;
}

/* Is there something to compare with: a published number, or one that it should be? */
static bool is_judged(const char *const row[LAB_WIDTH])
{
    return row[LAB_PUBLISHED][0] != '\0' || row[LAB_RIGHT][0] != '\0';
}

/* A number of the table, and behind it what it is. */
static void put_noted(struct out *out, const char *number, const char *note)
{
    svg_escaped(out, number);
    if (note[0] != '\0') {
        out_text(out, "<i>");
        svg_escaped(out, note);
        out_text(out, "</i>");
    }
}

/*
 * A row, without what its item shares with the one above it; where there is nothing to compare
 * with, the columns of that are left out.
 */
static void put_row(struct page *page, const char *const row[LAB_WIDTH], const char *above)
{
    size_t whole = shared(row[LAB_ITEM], above);
    const char *says = lab_verdict_name(verdict_of(row));
    out_text(page->out, whole > 0 ? "<tr><td>\u2026 " : "<tr><td>");
    svg_escaped(page->out, row[LAB_ITEM] + whole);
    if (is_judged(row)) {
        const char *source = row[LAB_SOURCE];
        out_text(page->out, "<td>");
        put_noted(page->out, row[LAB_PUBLISHED],
                  strcmp(source, lab_source_name(LAB_PRINTED)) == 0 ? "" : source);
    }
    put_ours(page->out, row);
    if (is_judged(row)) {
        out_format(page->out, "<td class=%s>", says);
        put_noted(page->out, says, row[LAB_RIGHT]);
    }
    out_text(page->out, "\n");
}

/* The rows that have something to compare with, or the others. */
static void put_rows(struct page *page, const struct lab_table *table, bool judged)
{
    const char *above = "";
    out_format(page->out,
               "<div class=wide><table>\n<thead><tr><th>item%s<th>ours<i>%s</i>%s\n<tbody>\n",
               judged ? "<th>published" : "", judged ? "judged by" : "99.9 %",
               judged ? "<th>verdict<i>right</i>" : "");
    for (size_t i = 0; i < table->rows; i++) {
        if (is_judged(table->row[i]) == judged) {
            put_row(page, table->row[i], above);
            above = table->row[i][LAB_ITEM];
        }
    }
    out_text(page->out, "</table></div>\n");
}

/* What is ours alone is folded away below what can be compared. */
static void put_table(struct page *page, const struct lab_table *table)
{
    size_t alone = 0;
    for (size_t i = 0; i < table->rows; i++) {
        alone += !is_judged(table->row[i]);
    }
    if (alone < table->rows) {
        put_rows(page, table, true);
    }
    if (alone > 0) {
        out_format(page->out,
                   "<details%s><summary class=ours-only>ours-only, where the paper prints no "
                   "number: %zu rows</summary>\n",
                   alone == table->rows ? " open" : "", alone);
        put_rows(page, table, false);
        out_text(page->out, "</details>\n");
    }
}

static void put_again(struct page *page, const struct lab_experiment *e)
{
    struct lab_made made;
    int code = lab_made_read(page->folder, e->name, &made);
    if (code != EXIT_YES) {
        page->code = code == EXIT_TROUBLE ? code : page->code;
        out_format(page->out, "<p class=soft>Reproduce: <code>tepal lab run %s</code></p>\n",
                   e->name);
        return;
    }
    out_format(page->out,
               "<p class=soft>Reproduce: <code>%stepal lab run %s%s%s --seed %" PRIu64
               "</code></p>\n",
               made.used_data ? "TEPAL_DATA=DIR " : "", e->name, made.full ? " --full" : "",
               made.sabotaged ? " --sabotage" : "", made.seed);
}

static void put_experiment(struct page *page, const struct lab_experiment *e)
{
    struct lab_table table;
    int code = lab_table_read(&table, page->folder, e->name);
    if (code != EXIT_YES) {
        page->code = code == EXIT_TROUBLE ? code : page->code;
        return;
    }
    out_format(page->out, "<section id=\"%s\">\n<h3>", e->name);
    svg_escaped(page->out, e->item);
    out_text(page->out, ": ");
    svg_escaped(page->out, e->shows);
    out_text(page->out, "</h3>\n");
    for (unsigned number = 1; put_picture(page, e, number);) {
        number++;
    }
    if (e->remark != NULL) {
        paragraphs(page->out, e->remark, "remark");
    }
    put_table(page, &table);
    put_again(page, e);
    out_text(page->out, "</section>\n");
    lab_table_free(&table);
}

static void put_paper(struct page *page, const struct lab_paper *paper)
{
    out_format(page->out, "<section id=\"paper-%s\">\n<h2>", paper->number);
    svg_escaped(page->out, paper->title);
    out_text(page->out, "</h2>\n<p class=\"soft\">");
    svg_escaped(page->out, paper->authors);
    out_text(page->out, "</p>\n");
    paragraphs(page->out, paper->claims, NULL);
    for (const struct lab_experiment *e = paper->experiment; e->name != NULL; e++) {
        put_experiment(page, e);
    }
    out_text(page->out, "</section>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The verdicts of one paper's tables, and how many there are. */
static int count_verdicts(struct page *page, size_t number)
{
    struct lab_table table;
    for (const struct lab_experiment *e = lab_papers[number].experiment; e->name != NULL; e++) {
        int code = lab_table_read(&table, page->folder, e->name);
        if (code == EXIT_TROUBLE) {
            return code;
        }
        page->experiments += code == EXIT_YES;
        for (size_t i = 0; i < table.rows; i++) {
            enum lab_verdict v = verdict_of(table.row[i]);
            page->paper[number].of[v]++;
            page->all.of[v]++;
        }
        lab_table_free(&table);
    }
    return EXIT_YES;
}

static void put_tally(struct out *out, const struct tally *tally)
{
    for (int v = 0; v < LAB_VERDICTS; v++) {
        const char *name = lab_verdict_name((enum lab_verdict)v);
        out_format(out, "%s <span class=%s>%zu %s</span>", v == 0 ? "" : ",",
                   tally->of[v] > 0 ? name : "soft", tally->of[v], name);
    }
}

static void put_start(struct page *page)
{
    out_text(page->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                        "<title>tepal lab: five papers reproduced</title>\n<style>");
    out_text(page->out, style);
    svg_style(page->out);
    out_text(page->out, "</style>\n</head>\n<body>\n<h1>Five papers: our numbers next to "
                        "theirs</h1>\n<p>Every table and figure was computed through the library "
                        "that users link. <b class=\"agrees\">agrees</b>: the published number "
                        "lies in the interval beside it; <b class=\"erratum\">erratum</b>: it "
                        "does not, or the paper's other numbers contradict it, but the right "
                        "number does; <b class=\"differs\">differs</b>: neither does; <b "
                        "class=\"paper-only\">paper-only</b>: the paper's own arithmetic, which "
                        "holds and does not involve the library; <b class=\"ours-only\">"
                        "ours-only</b>: the paper prints no number, or its data are not available. "
                        "An interval is our 99.9 % confidence interval, unless it lists other "
                        "parts: the paper's own sampling error, its rounding, the range that its "
                        "words allow, or the leeway of the right number. A number without an "
                        "interval is exact. A published number is printed in the paper, unless it "
                        "says that a formula of the paper gives it, that its words state it, or "
                        "that the paper's other numbers add up to it. Dashed curves are the "
                        "published values or formulas.</p>\n<nav><ul>\n");
    for (size_t i = 0; i < lab_paper_count; i++) {
        out_format(page->out, "<li><a href=\"#paper-%s\">", lab_papers[i].number);
        svg_escaped(page->out, lab_papers[i].title);
        out_text(page->out, "</a>:");
        put_tally(page->out, &page->paper[i]);
        out_text(page->out, "</li>\n");
    }
    out_format(page->out,
               "</ul></nav>\n<p id=\"totals\">%zu experiments in all:", page->experiments);
    put_tally(page->out, &page->all);
    out_text(page->out, ".</p>\n");
}

static int fill(struct out *out, void *what)
{
    struct page *page = what;
    page->out = out;
    put_start(page);
    for (size_t i = 0; i < lab_paper_count; i++) {
        put_paper(page, &lab_papers[i]);
    }
    out_format(out, "<footer class=soft>tepal %s</footer>\n</body>\n</html>\n", tepal_version());
    return page->code;
}

/* Read everything once to have the verdicts before the tables, and once more to put the tables. */
static int look(struct page *page)
{
    int code = EXIT_YES;
    for (size_t i = 0; i < lab_paper_count && code == EXIT_YES; i++) {
        code = count_verdicts(page, i);
    }
    if (code == EXIT_YES && page->experiments == 0) {
        code =
            say_error(NULL, page->folder,
                      "no tables in this directory; 'tepal lab run --all --out DIR' writes them");
    }
    return code;
}

int lab_report(const struct args *args, const char *folder, const char *output)
{
    struct page page = {.folder = folder, .code = EXIT_YES};
    page.paper = calloc(lab_paper_count, sizeof *page.paper);
    if (page.paper == NULL) {
        return say_no_memory();
    }
    int code = look(&page);
    code = code == EXIT_YES ? lab_write(args, output, fill, &page) : code;
    if (code == EXIT_YES && !arg(args, "quiet")->given) {
        say_line("wrote %s: %zu experiment%s, %zu row%s", output, page.experiments,
                 SAY_S(page.experiments), page.all.of[LAB_DIFFERS],
                 page.all.of[LAB_DIFFERS] == 1 ? " differs" : "s differ");
    }
    free(page.paper);
    return code;
}
