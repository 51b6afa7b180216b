/* report.h: how the library writes reports; users only read them. */
#ifndef TEPAL_SRC_BASE_REPORT_H
#define TEPAL_SRC_BASE_REPORT_H

#include <tepal/base.h>

/*
 * Append one quantity; more than TEPAL_MAX_QUANTITIES are dropped, and so is a list without room.
 * A real that is not finite is recorded as absent, so that it can never reach a JSON document; a
 * list must be finite.
 */
void tepal_report_absent(struct tepal_report *report, const char *name, const char *about);
void tepal_report_flag(struct tepal_report *report, const char *name, const char *about,
                       bool value);
void tepal_report_integer(struct tepal_report *report, const char *name, const char *about,
                          uint64_t value);
void tepal_report_real(struct tepal_report *report, const char *name, const char *about,
                       double value);
void tepal_report_text(struct tepal_report *report, const char *name, const char *about,
                       const char *value);
void tepal_report_list(struct tepal_report *report, const char *name, const char *about,
                       const double *values, size_t count);

/* The quantity of that name, to be changed; NULL if there is none. */
struct tepal_quantity *tepal_report_change(struct tepal_report *report, const char *name);

#endif
