/* list.c: recycling Bloom filters (Dozier, Salamatian, Rubenstein): the list of experiments. */
#include "paper004/paper004.h"

const struct lab_experiment lab_004[] = {
    LAB_EXPERIMENT("004-fig-3", "Fig. 3", 2, 10, lab_004_fig_3, "one phase: model and simulation",
                   "With all-new messages the model is exact. Simulated as in the paper, with the "
                   "same 1000 messages and the same hash functions throughout, the average is off "
                   "by up to a tenth: the messages that collide are always the same."),
    LAB_EXPERIMENT("004-fig-4", "Fig. 4", 1, 9, lab_004_fig_4, "two phases: model and simulation",
                   NULL),
    LAB_EXPERIMENT("004-fig-5", "Fig. 5", 2, 22, lab_004_fig_5,
                   "lower bounds for filters that count messages", NULL),
    LAB_EXPERIMENT("004-fig-6", "Fig. 6", 1, 1, lab_004_fig_6, "capacity by size", NULL),
    LAB_EXPERIMENT("004-fig-7", "Fig. 7", 1, 1, lab_004_fig_7, "capacity by false-positive rate",
                   "The loss by the worst case is around 30 % near 0.01 and 0.001 only: it is 43 "
                   "% at 0.1 and 18.5 % at one in a million."),
    LAB_EXPERIMENT("004-fig-8", "Fig. 8", 1, 1, lab_004_fig_8, "one phase against two", NULL),
    LAB_EXPERIMENT("004-text", "Sec. I to V", 2, 13, lab_004_text,
                   "equations and numbers in the text",
                   "E[N0] is zero beyond sigma, not from it on: as printed it is short by a third "
                   "of a message. Without retaining every cycle begins with an empty filter, so "
                   "that pi_0 is not 0. Equation (24) leaves the trigger out of the frozen "
                   "filter, Sec. II-C has it there. A loss of a third is a gain of a half: around "
                   "30 % more messages holds near a rate of 0.0001. The capacity by sigma and "
                   "that of the oracle are the same, to a message."),
    LAB_EXPERIMENT("004-negatives", "Sec. I, V-C", 3, 24, lab_004_negatives,
                   "false negatives, which the paper leaves out",
                   "Two phases have fewer false negatives than one of twice the size while a "
                   "phase outlives the typical gap between repeats, and more beyond it."),
    LAB_EXPERIMENT("004-average", "Sec. II, V", 2, 18, lab_004_average,
                   "new messages on streams that repeat, by two rules",
                   "The paper's average is over messages that the phase does not hold. On streams "
                   "that repeat, more of the new messages are found: up to twice the rate, with "
                   "one phase. A filter that keeps its own account (rule average) keeps the rate "
                   "on all of them."),
    LAB_EXPERIMENT(
        "004-chain", "Sec. IV-C, IV-E", 1, 2, lab_004_chain,
        "the chain: transitions, steady state, cost",
        "Equation (10) lets the trigger begin the new cycle like any other message. But a "
        "message that went beyond sigma has few collisions: from 14 bits beyond 16 "
        "with three hashes it has none. The cost is counted in elements of tau and in terms of eq. "
        "(15), as the paper "
        "computes them. The library builds no tau: its sweep has k throws per state."),
    LAB_EXPERIMENT(
        "004-count", "Sec. II-D, III", 2, 12, lab_004_count,
        "filters that count messages, sized for a rate",
        "Not in the paper, which has the rates of given filters. With the best number "
        "of hash functions, sizing by the worst rate takes 1.4 to 1.6 times as many "
        "bits. Eq. (3) is a lower bound: it takes the bits after N messages that set some "
        "for those after any N, and tells 88 % of a rate of 0.1."),
    LAB_EXPERIMENT("004-ways", "Sec. II-E", 2, 15, lab_004_ways,
                   "count-first, count-each and count-instance",
                   "Count-instance is not always the largest: if the messages that come late in a "
                   "cycle, when false positives are frequent, repeat most, count-each is larger. "
                   "The proof is not in the paper."),
    {.name = NULL}};
