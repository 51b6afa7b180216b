/* options.h: the options that several commands share. */
#ifndef TOOL_CLI_OPTIONS_H
#define TOOL_CLI_OPTIONS_H

#include <tepal/params.h>

#include "cli/command.h"

/* The words of options that take a layout. */
#define OPTION_LAYOUTS "flat partitioned blocked paired"

extern const struct option option_output;
extern const struct option option_force;
extern const struct option option_fp;
extern const struct option option_bits;
extern const struct option option_hashes;
extern const struct option option_positions;
extern const struct option option_seed;
extern const struct option option_key_file;
extern const struct option option_null;
extern const struct option option_hex;
extern const struct option option_plain;
extern const struct option option_demo_seed;
extern const struct option option_members;
extern const struct option option_method;
extern const struct option option_rows_tsv;
extern const struct option option_field;
extern const struct option option_delimiter;
extern const struct option option_json;
extern const struct option option_quiet;
extern const struct option option_help;

/* How keys are read. */
#define KEY_OPTIONS &option_null, &option_hex, &option_plain

/* What --layout and --positions say; nothing changes if they were not given. */
void arg_layout(const struct args *args, enum tepal_layout *layout);
void arg_positions(const struct args *args, enum tepal_positions *positions);

#endif
