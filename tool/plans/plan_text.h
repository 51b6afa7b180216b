/*
 * plan_text.h: plans as JSON and back. What is read back is the command of the best plan, word by
 * word, and only words that make a filter are taken.
 */
#ifndef TOOL_PLANS_PLAN_TEXT_H
#define TOOL_PLANS_PLAN_TEXT_H

#include <jansson.h>

#include <tepal/plan.h>

json_t *plan_text_json(const struct tepal_wish *wish, const struct tepal_plans *plans);

/* The command with names for KEYS, NEGATIVES and FILE (NULL: as it is); returns room. */
const char *plan_text_command(const struct tepal_proposal *plan, const char *keys,
                              const char *negatives, const char *file, char *room, size_t size);

#define PLAN_WORDS 48

/* The options of a command that `tepal build` is given, and of a retouch after it. */
struct plan_words {
    char text[2 * TEPAL_PLAN_COMMAND];
    char *word[PLAN_WORDS]; /* from the text */
    int count;
    char *max_fn; /* of the retouch; NULL: none */
    bool avoids;  /* needs NEGATIVES */
    bool weights; /* with weights */
};

/* NULL, or what is wrong with the command. */
const char *plan_text_words(const char *command, struct plan_words *words);

/* The words of the best plan in a saved JSON object. NULL, or what is wrong with it. */
const char *plan_text_read(const char *text, size_t len, struct plan_words *words);

#endif
