/*
 * list.c: yes-no Bloom filters (Carrea, Vernitski and Reed 2016): the list of experiments.
 */
#include "paper003/paper003.h"

const struct lab_experiment lab_003[] = {
    LAB_EXPERIMENT(
        "003-fig-6", "Fig. 6", 1, 19, lab_veto_fig_6,
        "hash functions of the yes-filter, compared with a Bloom filter of the same size",
        "The paper prints no numbers here; what its text says of the curve holds. With "
        "a local search the crossing disappears: it leaves less than the Bloom filter "
        "at every k."),
    LAB_EXPERIMENT("003-fig-7", "Fig. 7", 1, 3, lab_veto_fig_7,
                   "hash functions of the yes-filter, compared with a Bloom filter of its size",
                   NULL),
    LAB_EXPERIMENT("003-fig-8", "Fig. 8", 1, 15, lab_veto_fig_8, "hash functions of the no-filters",
                   "The text says that k' has little influence and that the curve stays well "
                   "below the Bloom filter's. It does from k' = 2 on; with one hash a no-filter "
                   "fills so fast that 4.8 are left, more than twice the Bloom filter's 2. "
                   "Between 1 and 6 hashes the curve falls by a factor of 100."),
    LAB_EXPERIMENT("003-fig-9", "Fig. 9", 3, 20, lab_veto_fig_9,
                   "members, compared with a Bloom filter of the same size",
                   "The crossing is just below 60, as the text says, for greedy and a Bloom "
                   "filter with 4 hashes. A local search stays below that Bloom filter over the "
                   "whole range."),
    LAB_EXPERIMENT("003-fig-10", "Fig. 10", 1, 4, lab_veto_fig_10,
                   "members, compared with a Bloom filter of the yes-filter's size", NULL),
    LAB_EXPERIMENT("003-fig-11", "Fig. 11", 1, 1, lab_veto_fig_11,
                   "size of the no-filters: how the number of false positives varies",
                   "The figure's numbers are not printed. From q = 30 on, nine in ten filters "
                   "leave nothing at all."),
    LAB_EXPERIMENT("003-fig-12", "Fig. 12", 1, 7, lab_veto_fig_12, "size of the no-filters",
                   "The text claims a minimum and little influence of q. Neither holds: p stays at "
                   "160 and the filter grows with q, so that what is left keeps falling, by three "
                   "orders of magnitude. Where means are near 0.001, 10^4 experiments are a dozen "
                   "events: a dip there is chance."),
    LAB_EXPERIMENT("003-fig-13", "Fig. 13", 1, 7, lab_veto_fig_13,
                   "number of no-filters, with the same yes-filter", NULL),
    LAB_EXPERIMENT("003-fig-14", "Fig. 14", 1, 7, lab_veto_fig_14,
                   "number of no-filters out of the same memory", NULL),
    LAB_EXPERIMENT("003-fig-16", "Fig. 16", 1, 15, lab_veto_fig_16,
                   "links of a path in a header: yes-no and Bloom, network by network",
                   "Sec. III describes a distribution in which every false positive tries each "
                   "no-filter in turn (first fit, our greedy); it leaves 0.075 for TataNld. The "
                   "printed 0.13, and 1/4 in Fig. 18, are what next fit leaves, where a no-filter "
                   "that has refused once is not tried again. TataNld alone was printed, and fits "
                   "a path of 28 links with 72 others next to it: links are directed, and all that "
                   "leave a node of the path are looked up, including reverse links and those of "
                   "the destination. With a mean of 0.92 a packet is not almost certainly "
                   "diverted: four headers of ten divert none. (The text also has r = 32 where q "
                   "is meant.)"),
    LAB_EXPERIMENT("003-fig-17", "Fig. 17", 1, 12, lab_veto_fig_17,
                   "the same as a rate, by length of the path", NULL),
    LAB_EXPERIMENT("003-fig-18", "Fig. 18", 1, 13, lab_veto_fig_18,
                   "the two rates' ratio, by length of the path",
                   "A quarter at n = 35 (UsCarrier) is next fit's; first fit, which the text "
                   "describes, leaves less than an eighth."),
    LAB_EXPERIMENT("003-formulas", "eqs. (4)-(32)", 2, 26, lab_veto_formulas,
                   "the formulas, as printed and corrected, against counts",
                   "(5) and (6) take the bits for independent and are 1 to 2 % low at these "
                   "sizes. (13) and (24), with (17) to (23), let the no-filters' false positives "
                   "fall on members, though the construction makes that impossible: on the known "
                   "negatives they give a negative probability. Right is (Pr[F] - Pr[R]) (1 - g), "
                   "with g = f_R for strangers and 0 for the known negatives, where also (27) is "
                   "5 % low. (30) and (31) have n for the number of false positives that the "
                   "no-filter stores, here 5: as printed, a no-filter would veto 95 % of all "
                   "keys. (1) to (3), (12) and (14) are definitions. The orders of growth of Sec. "
                   "VI have no rows: nothing is measured there."),
    LAB_EXPERIMENT("003-methods", "Sec. III-B", 1, 9, lab_veto_methods, "six methods compared",
                   "Not in the paper. nextfit is what Sec. VIII seems to use; bestfit, pairs, "
                   "local-search and exact are ours."),
    LAB_EXPERIMENT("003-layouts", "Sec. V", 3, 31, lab_veto_layouts,
                   "layouts that the model chooses",
                   "Not in the paper: sizes and hashes that the model chooses for the number of "
                   "members, with distinct positions."),
    LAB_EXPERIMENT("003-weights", "Sec. III-B", 1, 8, lab_veto_weights,
                   "known negatives of unequal weight",
                   "Not in the paper: weights are exponential with mean 1. If they are used, the "
                   "heaviest known negatives come first, and local search and exact count by "
                   "weight."),
    LAB_EXPERIMENT("003-cascade", "Sec. III", 1, 25, lab_veto_cascade,
                   "the size of a cascade without errors",
                   "Not in the paper: filters of filters until no known key is mistaken."),
    {.name = NULL}};
