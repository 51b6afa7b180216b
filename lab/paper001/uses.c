/* uses.c: the attacks and the rows of uses.h. */
#include "paper001/uses.h"

const char *const use_attacks[USE_ATTACKS] = {"no attack", "all ones", "the worst bits"};

const struct use_kind use_kinds[USE_KINDS] = {{"Bloom, m/n 16", 16, 0, 11, 0},
                                              {"(2, 2), m/n 128", 128, 2, 2, 0},
                                              {"(3, 5) b 1, m/n 128", 128, 3, 5, 1}};

static double ones_worst(const struct use_kind *kind)
{
    return kind->k0 == 0 ? 0 : tepal_generalized_worst_zero(kind->k0, kind->k1, kind->tolerance);
}

int use_filter(struct lab *lab, const struct use_kind *kind, uint64_t bits, uint64_t seed,
               enum use_attack attack, struct tepal_filter **out)
{
    uint32_t k0 = lab_sabotaged(lab) ? 0 : kind->k0;
    double zeros = attack == NO_ATTACK ? 1 : attack == ALL_ONES ? 0 : ones_worst(kind);
    struct gbf at = {.bits = bits, .k0 = k0, .k1 = kind->k0 + kind->k1 - k0, .zeros = zeros};
    struct tepal_params params = gbf_params(&at, kind->tolerance, seed);
    return lab_status(tepal_filter_create(&params, NULL, out, NULL));
}

void use_attracted_row(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                       const struct lab_share *share, const char *what)
{
    double printed = kind->k0 == 0 ? 100 : attack == ALL_ONES ? 0 : 6.3;
    if (attack != NO_ATTACK) {
        lab_row_share(lab, lab_printed(kind->tolerance == 0 ? printed : NAN, 0.05, NAN), share, 100,
                      "%s, %s: %s, %%", kind->name, use_attacks[attack], what);
    }
}

void use_plain_row(struct lab *lab, const struct use_kind *kind, enum use_attack attack,
                   const struct lab_share *share, const char *what)
{
    lab_row_share(lab, LAB_ROW, share, 100, "%s, %s: %s, %%", kind->name, use_attacks[attack],
                  what);
}

void use_point(struct lab_curves *curves, const struct use_kind *kind, enum use_attack attack,
               const struct lab_share *share)
{
    struct lab_row row = LAB_ROW;
    if (attack == NO_ATTACK) {
        lab_curve(curves, SVG_LINE, "%s", kind->name);
    }
    lab_share_row(&row, share, 100);
    lab_curve_point(curves, curves->count - 1, lab_point_row((double)attack, &row));
}

int use_draw(struct lab *lab, struct lab_curves *curves, const char *title, const char *y_label)
{
    return lab_curves_draw(lab, curves, title, "0: no attack, 1: all ones, 2: the worst bits",
                           y_label, LAB_LINEAR);
}
