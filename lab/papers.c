/* papers.c: what each paper claims. */
#include "papers.h"

const struct lab_paper lab_papers[] = {
    {"000", "Retouched Bloom Filters", "Benoit Donnet, Bruno Baynat, Timur Friedman",
     "A Bloom filter whose troublesome false positives are removed by clearing bits, at the price "
     "of "
     "a few false negatives. Clearing bits at random removes false positives and members in the "
     "same proportion (chi = 1); choosing the bits removes more of the one than it makes of the "
     "other.\n\n"
     "We add that retouching is choosing which members to give up: every bit that only lost "
     "members own can be cleared for nothing. The method `sacrifice` does that, and makes about a "
     "fifth fewer false negatives than the best of the paper.",
     lab_000},
    {"002", "False Negative Problem of Counting Bloom Filter",
     "Deke Guo, Yunhao Liu, Xiangyang Li, Panlong Yang",
     "A counting Bloom filter from which a key is removed that was never added loses members: the "
     "paper counts how many (potential) and how many show at once (exposed), and lets every key "
     "choose one of c addresses so that fewer show.\n\n"
     "The effect is as the paper says; most of its formulas are not, and the gain is smaller: with "
     "ideal hashing, halving what is exposed takes about five times as many choices as printed. "
     "What the paper did not run is churn: where keys come and go, choices make removal itself "
     "unsafe unless the caller keeps a receipt, and fingerprints do better than any counters.",
     lab_002},
};

const size_t lab_paper_count = sizeof lab_papers / sizeof *lab_papers;
