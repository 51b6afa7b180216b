/*
 * render.h: named quantities (struct tepal_report) as aligned text and as JSON. In JSON a seed is a
 * string, since many readers hold numbers as doubles; what is not known is null.
 */
#ifndef TOOL_OUTPUT_RENDER_H
#define TOOL_OUTPUT_RENDER_H

#include <jansson.h>

#include <tepal/filter.h>

#include "output/out.h"

/* A number at a glance, to three digits: "14100", "5.51 million", "551 billion"; returns room. */
const char *render_about(double number, char *room, size_t size);

/* Keys for people: "1 key", "93515000 keys (93.5 million)"; returns room. */
const char *render_keys(uint64_t keys, char *room, size_t size);

/* A rate for people: "1.003 %", "0.00712 % (1 in 14000)", "1.2e-07 (1 in 8.33 million)". */
const char *render_rate(double rate, char *room, size_t size);

/* Bytes for people: "1198392 bytes (1.1 MiB)"; returns room. */
const char *render_bytes(uint64_t bytes, char *room, size_t size);

/* A number of a report, or of what a filter tells of itself; or this one, if it is not known. */
double render_number(const struct tepal_report *report, const char *name, double otherwise);
double render_figure(const struct tepal_filter *filter, const char *name, double otherwise);

/* One line a quantity: name, value and, if wanted, what it is. */
void render_text(struct out *out, const struct tepal_report *report, bool about);

/* A string for JSON, with what is not UTF-8 replaced. NULL without memory. */
json_t *render_string(const char *text);

/* A whole number for JSON: a string if it is a seed, or larger than JSON's readers hold. */
json_t *render_whole(const char *name, uint64_t value);

/* Adds every quantity to the object. */
void render_report(json_t *object, const struct tepal_report *report);

/* The object on one line; takes it over. Says so if there is no memory. */
int render_json(struct out *out, json_t *object);

#endif
