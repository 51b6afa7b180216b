/* options.c: the options that several commands share, each in the same words. */
#include "cli/options.h"

#include <tepal/params.h>

#define METHODS                                                                                    \
    "random-bits random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio "       \
    "sacrifice net-effect least-fn"

const struct option option_output = {
    .letter = 'o',
    .name = "output",
    .value = "FILE",
    .type = TAKES_FILE,
    .about = "Write the filter to FILE, atomically: FILE has its old contents or the new "
             "ones, never half. - is standard output, unless that is a terminal."};

const struct option option_force = {
    .letter = 'f',
    .name = "force",
    .about = "Overwrite FILE even if it is not a filter, or is one of the filters read."};

const struct option option_fp = {
    .letter = 'p',
    .name = "fp",
    .value = "RATE",
    .type = TAKES_RATE,
    .about = "The false-positive rate to keep, as 1%, 0.01, 1e-2 or 1/100 (default 1%)."};

const struct option option_bits = {
    .letter = 'm',
    .name = "bits",
    .value = "M",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = (uint64_t)1 << 60,
    .about = "Take M bits in all instead (blocked and paired: a multiple of 512; "
             "recycling: in each phase)."};

const struct option option_hashes = {
    .letter = 'k',
    .name = "hashes",
    .value = "K",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = TEPAL_MAX_HASHES,
    .about = "The number of hashes (default: the best for the other numbers; 7 if there is "
             "only --bits). At most 64; blocked 16, paired 32."};

const struct option option_positions = {
    .name = "positions",
    .value = "RULE",
    .type = TAKES_CHOICE,
    .choices = "colliding distinct",
    .about = "May two bits of one key coincide? (default colliding)"};

const struct option option_seed = {
    .letter = 's',
    .name = "seed",
    .value = "S",
    .type = TAKES_SEED,
    .about = "The seed of the hash, decimal or 0x... (default: drawn at random, and told). "
             "Filters to be merged need the same seed."};

const struct option option_key_file = {
    .name = "key-file",
    .value = "FILE",
    .type = TAKES_FILE,
    .about = "A secret key, 16 raw bytes or 32 hexadecimal digits: the filter is keyed "
             "(SipHash), so that nobody without the key can aim at it."};

const struct option option_null = {
    .letter = '0', .name = "null", .about = "Keys end with a NUL byte instead of a newline."};

const struct option option_hex = {
    .letter = 'x',
    .name = "hex",
    .about = "Keys are written in hexadecimal; the bytes they stand for are the key."};

const struct option option_plain = {
    .name = "plain", .about = "Read key files as they are, even if they look like gzip or zstd."};

const struct option option_demo_seed = {
    .letter = 's',
    .name = "seed",
    .value = "S",
    .type = TAKES_SEED,
    .about = "The seed of the hash (default 1): the same seed gives the same figures."};

const struct option option_members = {
    .name = "members",
    .value = "KEYS",
    .type = TAKES_FILE,
    .about = "The keys the filter was built from, all of them, one a line (- is standard "
             "input)."};

const struct option option_method = {
    .name = "method",
    .value = "METHOD",
    .type = TAKES_CHOICE,
    .choices = METHODS,
    .about = "How to choose what is cleared (default sacrifice, which is the best): one of "
             "random-bits, random, min-fn, max-fp, ratio, improved-min-fn, "
             "improved-max-fp, improved-ratio, sacrifice. For a generalized filter, whose "
             "bits are inverted: net-effect (its default) or least-fn."};

const struct option option_rows_tsv = {
    .letter = 't',
    .name = "tsv",
    .about = "Print the rows tab-separated, with a line of names first."};

const struct option option_field = {
    .name = "field",
    .value = "N",
    .type = TAKES_WHOLE,
    .least = 1,
    .most = UINT32_MAX,
    .about = "The key is the N-th field of the line, as awk counts them: between blanks. A "
             "line with fewer fields has the empty key."};

const struct option option_delimiter = {
    .name = "delimiter",
    .value = "C",
    .type = TAKES_BYTE,
    .about = "Fields are divided by the character C, as cut has it (\\t is a tab)."};

const struct option option_json = {
    .letter = 'j',
    .name = "json",
    .about = "Print the result on standard output as JSON, one object a line."};

const struct option option_quiet = {
    .letter = 'q',
    .name = "quiet",
    .about = "No summary, no warnings and no progress on standard error."};

const struct option option_help = {.letter = 'h', .name = "help", .about = "Print this help."};

void arg_layout(const struct args *args, enum tepal_layout *layout)
{
    if (arg(args, "layout")->given) {
        tepal_layout_parse(arg(args, "layout")->text, layout);
    }
}

void arg_positions(const struct args *args, enum tepal_positions *positions)
{
    if (arg(args, "positions")->given) {
        tepal_positions_parse(arg(args, "positions")->text, positions);
    }
}
