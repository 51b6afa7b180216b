/* report.h: reports from the inside: a kind that shares another's figures puts its own words. */
#ifndef TEPAL_SRC_BASE_REPORT_H
#define TEPAL_SRC_BASE_REPORT_H

#include <tepal/base.h>

/* The quantity of that name, to be changed; NULL if there is none. */
struct tepal_quantity *tepal_report_change(struct tepal_report *report, const char *name);

#endif
