/* papers.c: what each paper claims. */
#include "experiment/lab.h"

const struct lab_paper lab_papers[] = {
    {"000", "Retouched Bloom Filters", "Benoit Donnet, Bruno Baynat, Timur Friedman",
     "A Bloom filter whose troublesome false positives are removed by clearing bits, at the price "
     "of a few false negatives. Clearing bits at random removes false positives and members in the "
     "same proportion (chi = 1); choosing the bits removes a larger share of the false positives "
     "than of the members.\n\n"
     "Tables I to IV reproduce, III and IV only if all false positives are counted for the choice "
     "of a bit and not the troublesome ones alone; two totals are misprints. The gain of Improved "
     "Minimum FN does not: 2 and 42 % instead of 66 and 84 %. In the red stop set the printed "
     "rates contradict each other, and their routes are not available; the statements about the "
     "shape of the curves hold on other routes.\n\n"
     "We add that retouching is choosing which members to give up: every bit that only lost "
     "members use can be cleared at no cost. The method `sacrifice` does that, and makes about a "
     "fifth fewer false negatives than the best of the paper.",
     lab_000},
    {"001", "A Generalized Bloom Filter to Secure Distributed Network Applications",
     "Rafael P. Laufer, Pedro B. Velloso, Otto Carlos M. B. Duarte",
     "Some hash functions reset bits, the others set bits. So a filter cannot be saturated: "
     "whatever its bits, a non-member is found with a probability of at most (k0/k)^k0 (k1/k)^k1. "
     "The price is that later keys overwrite the bits of earlier ones, which are then forgotten; "
     "more bits per key make that rarer.\n\n"
     "All of its numbers reproduce except two misprints and one interval. We add that the bound is "
     "exceeded by the factor 1 + k0 (k0 + k1) / m in a small filter, that tolerating a few "
     "inverted bits is worth far more than it costs, and that traceback finds every path whole if "
     "it ignores overwritten bits, as the authors propose: the bound then grows by (1 + w)^k with "
     "the share w that is ignored.",
     lab_001},
    {"002", "False Negative Problem of Counting Bloom Filter",
     "Deke Guo, Yunhao Liu, Xiangyang Li, Panlong Yang",
     "A counting Bloom filter loses members when a key is removed that was never added: the paper "
     "counts how many (potential) and how many show at once (exposed), and lets every key choose "
     "one of c addresses so that fewer show.\n\n"
     "The effect is as the paper says; most of its formulas are not, and the gain is smaller: with "
     "ideal hashing, halving what is exposed takes about five times as many choices as printed. "
     "What the paper did not run is churn: where keys come and go, choices make removal itself "
     "unsafe unless the caller keeps a receipt, and fingerprints do better than any counters.",
     lab_002},
    {"003", "Yes-no Bloom Filter: A Way of Representing Sets with Fewer False Positives",
     "Laura Carrea, Alexei Vernitski, Martin Reed",
     "A filter that knows some of the keys that will be looked up: a smaller yes-filter holds the "
     "members, and small no-filters hold those of the known negatives that the yes-filter lets "
     "through, distributed so that no member is vetoed. On the known negatives it errs far less "
     "than a Bloom filter of the same size: with 30 members and 100 known negatives, 0.05 times "
     "instead of 2 in 256 bits.\n\n"
     "The curves reproduce, except that there is no minimum over q, and that the \"little "
     "influence\" of k' and q is large. The formulas (13) to (24), (30) and (31) do not: one gives "
     "a negative probability.\n\n"
     "We add better ways to distribute: a local search leaves 0.02, which is the optimum, and with "
     "a hash seed for each no-filter, or four seeds to choose from, nothing. Layouts that fit the "
     "number of members keep their lead over the Bloom filter where the paper's loses it, and a "
     "cascade makes no error at all on the known keys.\n\n"
     "The curves do not show two things: keys that are not known in advance are accepted at the "
     "yes-filter's rate, 7.5 % instead of 1.7 %; and the measurements on networks are those of a "
     "weaker rule (next fit) than the one that the paper describes (first fit).",
     lab_003},
    {"004", "Modeling Average False Positive Rates of Recycling Bloom Filters",
     "Kahlil Dozier, Loqman Salamatian, Dan Rubenstein",
     "A filter that is emptied when it is full should be judged by the average of its "
     "false-positive rate, not by the rate of its last message: at an average of 1 % it then holds "
     "1.5 times as many messages. The average is computed exactly, for one phase and for two of "
     "which one is frozen.\n\n"
     "The model is right to the last digit that simulation can resolve, and can be computed in one "
     "sweep, or in closed form. Not right: the limits of a recursion (off by one), one symbol for "
     "two transition probabilities, and \"around 30 %\" for all rates, which is 43 % at 0.1 and 18 "
     "% at one in a million. We add what the paper leaves out: the false negatives of such "
     "filters, from the gaps between repeats.",
     lab_004},
};

const size_t lab_paper_count = sizeof lab_papers / sizeof *lab_papers;
