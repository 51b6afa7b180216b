/* list.c: retouched Bloom filters (Donnet, Baynat, Friedman): the list of experiments. */
#include "paper000/paper000.h"

/* What the columns of Tables I to IV stand for. */
#define TABLE_SYMBOLS                                                                              \
    "|B|: the troublesome false positives, all removed. |B'|: other false positives removed with " \
    "them. |A'|: members lost. beta: |B| as a share of all false positives.\n\n"

const struct lab_experiment lab_000[] = {
    LAB_EXPERIMENT("000-table-1", "Table I", 1, 5, lab_000_tables,
                   "random selection: what it removes and what it costs",
                   TABLE_SYMBOLS
                   "The total at 5 % is printed as 2826; its two parts add up to 2866."),
    LAB_EXPERIMENT("000-table-2", "Table II", 1, 5, lab_000_tables, "minimum false negatives",
                   TABLE_SYMBOLS
                   "The total at 25 % is printed as 10045; its two parts add up to 10005."),
    LAB_EXPERIMENT("000-table-3", "Table III", 1, 5, lab_000_tables, "maximum false positives",
                   TABLE_SYMBOLS
                   "The printed numbers follow when false positives are counted over all of them, "
                   "not over the troublesome ones alone, as in the text."),
    LAB_EXPERIMENT("000-table-4", "Table IV", 1, 5, lab_000_tables, "ratio",
                   TABLE_SYMBOLS
                   "Counted over all false positives, as Table III. The total at 2 % cannot vary "
                   "by as much as its +-30.58: its parts vary by 3.25 and 20.05."),
    LAB_EXPERIMENT("000-fig-3", "Fig. 3", 1, 4, lab_000_figure_3,
                   "the Bloom filter's false-positive rate over k, m and n; values named in the "
                   "text",
                   "Two of the three compression ratios in the text are cut off, not rounded: "
                   "4.27 and 2.56."),
    LAB_EXPERIMENT("000-sec-3b", "Sec. III-B", 2, 8, lab_000_section_3b,
                   "bits cleared at random: chi = 1", NULL),
    LAB_EXPERIMENT("000-fig-5", "Fig. 5", 3, 13, lab_000_figure_5,
                   "bits that the four algorithms clear", NULL),
    LAB_EXPERIMENT("000-fig-6", "Fig. 6", 3, 13, lab_000_figure_6,
                   "chi of the four algorithms, and the values that the text names",
                   "The text has chi above 1.4 for random selection and above 1.8 for ratio "
                   "selection. Near beta = 100 % both are lower, 1.36 and 1.79, as the paper's "
                   "own Tables I and IV say."),
    LAB_EXPERIMENT("000-fig-8", "Fig. 8", 2, 8, lab_000_improved,
                   "improved minimum FN selection, and its gain in Sec. V-C",
                   "The gains that the text prints, 66 % at beta 1 % and 84 % at 75 %, do not "
                   "follow from the algorithm as written: it gains 2 % and 42 %. At beta 1 % "
                   "hardly any member is lost twice, so that keeping the counts up to date cannot "
                   "matter much there."),
    LAB_EXPERIMENT("000-fig-9", "Fig. 9", 2, 10, lab_000_improved, "improved maximum FP selection",
                   NULL),
    LAB_EXPERIMENT("000-fig-10", "Fig. 10", 2, 10, lab_000_improved, "improved ratio selection",
                   NULL),
    LAB_EXPERIMENT("000-fig-11", "Fig. 11", 2, 8, lab_000_figure_11,
                   "how full the lists of elements are that the improved algorithms keep",
                   "\"Nearly linearly\" is read as: a straight line explains nine tenths of the "
                   "variance; \"the same\" as: within 5 %; \"one element\" as one when rounded."),
    LAB_EXPERIMENT("000-sacrifice", "beyond the paper", 3, 18, lab_000_sacrifice,
                   "sacrifice and sweep, compared with the paper's algorithms", NULL),
    LAB_EXPERIMENT("000-without-members", "beyond the paper", 1, 5, lab_000_without_members,
                   "retouching without the members: what is expected to be lost, and what is",
                   "Sec. VII-B names receivers of filters who would retouch them, but none of them "
                   "has the members, by which the paper counts what is lost."),
    LAB_EXPERIMENT("000-told", "beyond the paper", 2, 8, lab_000_told,
                   "Algorithms 1 and 2 at run time: filters that are told one by one what to avoid",
                   NULL),
    LAB_EXPERIMENT("000-learn", "beyond the paper", 3, 15, lab_000_learn,
                   "requests for false positives that a budget of members removes, told one by one "
                   "or all at once",
                   "The false positives are requested with weights 1 / rank. Told one by one, the "
                   "filter learns of a key when it is first requested, until its budget is used "
                   "up; all at once, the weights are known."),
    LAB_EXPERIMENT("000-fig-13", "Figs. 13, 15-17", 3, 15, lab_000_figure_13,
                   "the red stop set: success, stopping short, what is missed and collisions by "
                   "the size",
                   "The paper's routes (skitter, January 2006) are not available: ours are "
                   "generated, and measured ones of TEPAL_DATA if it is set. So its numbers are "
                   "shown next to ours without a verdict; only its statements are judged. "
                   "\"Approaches\" the list is read as nine tenths of its success, \"less marked\" "
                   "as less per bit. The paper does not state k: a Bloom filter as poor as its own "
                   "needs about 8 % false positives, which is k = 1; k = 5 is that of Sec. IV. The "
                   "sizes 10^3 and 10^4 of its text mean 10^4 and 10^5, where the figures begin "
                   "and end."),
    LAB_EXPERIMENT(
        "000-table-5", "Table V", 1, 3, lab_000_table_5,
        "the red stop set: positive and negative aspects of list, Bloom filter and RBF",
        "The paper marks the aspects by judgement, and of its own routes. Ours are "
        "comparisons with the list: success is nine tenths of its success or more, "
        "topology is discovered if at most a tenth of its nodes and links is missed, "
        "compression is half of its bits or less, no collision is no more collisions. The "
        "Bloom filter misses little of the topology there, unlike the paper's."),
    LAB_EXPERIMENT("000-fig-14", "Fig. 14", 1, 1, lab_000_figure_14,
                   "the red stop set: how troublesome false positives are",
                   "The paper's numbers come from its own routes, so they have no verdict. Nine of "
                   "its false positives are on all 10000 routes of a monitor; ours have one or "
                   "two; the measured routes are fewer and have none."),
    LAB_EXPERIMENT("000-fig-18", "Fig. 18", 1, 4, lab_000_figure_18,
                   "the red stop set: how many of the false positives to remove",
                   "The paper's numbers come from its own routes, so they are shown without a "
                   "verdict. But they contradict each other, which is judged. Success, stopping "
                   "short and collision must add up to 1; at beta 10 % and 30 % they add up to "
                   "1.04, and a Bloom filter's 0.2446 and 0.7668 to 1.01. A peak of 0.642 is below "
                   "what it prints for other beta, and a Bloom filter that succeeds at 0.2446 at "
                   "best has 0.3077 at beta 0."),
    /* no number is printed; both sentences of the text hold */
    LAB_EXPERIMENT("000-fig-19", "Fig. 19", 1, 2, lab_000_figure_19,
                   "the red stop set: how it ages", NULL),
    LAB_EXPERIMENT("000-fig-20", "Figs. 20-22", 3, 12, lab_000_figure_20,
                   "the red stop set: ratio, improved ratio and sacrifice",
                   "The paper's k is unknown; we use k = 5. sacrifice is ours. What the text says "
                   "of single sizes depends on its own routes and has no verdict."),
    LAB_EXPERIMENT("000-fresh", "beyond the paper", 3, 12, lab_000_fresh,
                   "the red stop set, kept fresh by a share of routes traced in full",
                   "Nodes are in the set if at least half of the routes through them end there."),
    {.name = NULL}};
