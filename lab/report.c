/*
 * report.c: one HTML page from a folder of tables and pictures. It needs no network, no script and
 * no font, fits a phone, and follows the reader's light or dark setting. Pictures are put in as
 * they are; texts from tables are escaped.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tepal/base.h>

#include "inside.h"

struct page {
    const char *folder;
    struct out *out;
    const char *mode; /* of the run, or NULL */
    const char *seed;
    size_t experiments;
    size_t verdicts[LAB_VERDICTS];
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
    ".wide{overflow-x:auto}svg{width:100%;max-width:720px;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "code{background:var(--card);padding:.1rem .3rem;overflow-wrap:anywhere}"
    ".remark{background:var(--card);border-left:4px solid var(--erratum);padding:.5rem .8rem}"
    ".agrees{color:var(--agrees)}.differs{color:var(--differs);font-weight:bold}"
    ".erratum{color:var(--erratum)}.ours-only{color:var(--ours)}";

/* Paragraphs, divided by empty lines. */
static void paragraphs(struct out *out, const char *text, const char *class)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t len = end == NULL ? strlen(text) : (size_t)(end - text);
        char *copy = strndup(text, len);
        out_format(out, "<p%s%s%s>", class == NULL ? "" : " class=\"", class == NULL ? "" : class,
                   class == NULL ? "" : "\"");
        svg_escaped(out, copy == NULL ? "" : copy);
        out_text(out, "</p>\n");
        free(copy);
        text += len + (end == NULL ? 0 : 2);
    }
}

/* ---- one experiment ------------------------------------------------------------------------- */

static bool put_picture(struct page *page, const struct lab_experiment *e, unsigned number)
{
    char ending[24] = ".svg";
    if (number > 1) {
        snprintf(ending, sizeof ending, "-%u.svg", number);
    }
    char *path = lab_path(page->folder, e->name, ending);
    char *text = path == NULL ? NULL : lab_slurp(path);
    bool there = text != NULL;
    if (there && strncmp(text, "<svg ", 5) != 0) {
        page->code = say_error(NULL, path, "not a picture of the lab");
        there = false;
    } else if (there) {
        out_text(page->out, text);
    }
    free(text);
    free(path);
    return there;
}

static void put_table(struct page *page, const struct lab_table *table)
{
    out_text(page->out, "<div class=\"wide\"><table>\n<thead><tr><th>item</th><th>published</th>"
                        "<th>ours</th><th>low</th><th>high</th><th>verdict</th></tr></thead>\n"
                        "<tbody>\n");
    for (size_t i = 0; i < table->rows; i++) {
        const char *const *row = table->row[i];
        const char *says = "differs";
        for (int v = 0; v < LAB_VERDICTS; v++) {
            if (strcmp(row[LAB_SAYS], lab_verdict_name((enum lab_verdict)v)) == 0) {
                says = lab_verdict_name((enum lab_verdict)v);
                page->verdicts[v]++;
            }
        }
        out_text(page->out, "<tr>");
        for (int j = LAB_ITEM; j < LAB_SAYS; j++) {
            out_text(page->out, "<td>");
            svg_escaped(page->out, row[j]);
            out_text(page->out, "</td>");
        }
        out_format(page->out, "<td class=\"%s\">%s</td></tr>\n", says, says);
    }
    out_text(page->out, "</tbody></table></div>\n");
}

static void put_experiment(struct page *page, const struct lab_experiment *e)
{
    struct lab_table table;
    int code = lab_table_read(&table, page->folder, e->name);
    if (code != EXIT_YES) {
        page->code = code == EXIT_TROUBLE ? code : page->code;
        return;
    }
    page->experiments++;
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
    out_format(page->out, "<p class=\"soft\">Again: <code>tepal lab run %s%s%s%s</code></p>\n",
               e->name, page->mode != NULL && strcmp(page->mode, "full") == 0 ? " --full" : "",
               page->seed == NULL ? "" : " --seed ", page->seed == NULL ? "" : page->seed);
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

/* ---- the page ------------------------------------------------------------------------------- */

static void put_start(struct page *page)
{
    out_text(page->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                        "<title>tepal lab: five papers, ours beside theirs</title>\n<style>");
    out_text(page->out, style);
    out_text(page->out, "</style>\n</head>\n<body>\n<h1>Five papers, our numbers beside theirs"
                        "</h1>\n<p>Every table and figure was computed through the library that "
                        "users link. <b class=\"agrees\">agrees</b>: the published number lies in "
                        "our interval of 99.9 %; <b class=\"erratum\">erratum</b>: it does not, "
                        "and what should have been printed does; <b class=\"differs\">differs"
                        "</b>: neither; <b class=\"ours-only\">ours-only</b>: nothing was "
                        "published.</p>\n<nav><ul>\n");
    for (size_t i = 0; i < lab_paper_count; i++) {
        out_format(page->out, "<li><a href=\"#paper-%s\">", lab_papers[i].number);
        svg_escaped(page->out, lab_papers[i].title);
        out_text(page->out, "</a></li>\n");
    }
    out_text(page->out, "</ul></nav>\n");
}

static void put_end(struct page *page)
{
    out_format(page->out,
               "<footer><h2>In all</h2>\n<p id=\"totals\">%zu experiments:", page->experiments);
    for (int v = 0; v < LAB_VERDICTS; v++) {
        const char *name = lab_verdict_name((enum lab_verdict)v);
        out_format(page->out, "%s <span class=\"%s\">%zu %s</span>", v == 0 ? "" : ",", name,
                   page->verdicts[v], name);
    }
    out_format(page->out, "</p>\n<p class=\"soft\">tepal %s", tepal_version());
    if (page->mode != NULL) {
        out_text(page->out, ", ");
        svg_escaped(page->out, page->mode);
    }
    if (page->seed != NULL) {
        out_text(page->out, ", seed ");
        svg_escaped(page->out, page->seed);
    }
    out_text(page->out, "</p></footer>\n</body>\n</html>\n");
}

/* The value of "name TAB value" in the settings, or NULL; cut out in place. */
static const char *setting(char *text, const char *name)
{
    size_t len = strlen(name);
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (strncmp(line, name, len) == 0 && line[len] == '\t') {
            line[len + 1 + strcspn(line + len + 1, "\n<>&\"' ")] = '\0';
            return line + len + 1;
        }
        line = end == NULL ? NULL : end + 1;
    }
    return NULL;
}

static int fill(struct page *page)
{
    char *path = lab_path(page->folder, "settings", ".tsv");
    char *text = path == NULL ? NULL : lab_slurp(path);
    char *again = text == NULL ? NULL : strdup(text);
    page->mode = text == NULL ? NULL : setting(text, "mode");
    page->seed = again == NULL ? NULL : setting(again, "seed");
    put_start(page);
    for (size_t i = 0; i < lab_paper_count; i++) {
        put_paper(page, &lab_papers[i]);
    }
    put_end(page);
    free(text);
    free(again);
    free(path);
    if (page->code == EXIT_YES && page->experiments == 0) {
        return say_error(NULL, page->folder,
                         "no tables here; 'tepal lab run --all --out DIR' makes them");
    }
    return page->code;
}

int lab_report(const struct args *args, const char *folder, const char *output)
{
    struct side side = {0};
    struct page page = {.folder = folder, .code = EXIT_YES};
    int code = side_open(&side, args, output);
    if (code == EXIT_YES) {
        page.out = side.out;
        code = fill(&page);
    }
    if (code == EXIT_YES) {
        code = side_finish(&side, args);
    }
    if (code == EXIT_YES) {
        code = side_commit(&side, args);
    }
    side_free(&side);
    if (code == EXIT_YES && !args->option[OPT_QUIET].given) {
        say_line("wrote %s: %zu experiments, %zu rows differ", output, page.experiments,
                 page.verdicts[LAB_DIFFERS]);
    }
    return code;
}
