/* text.c: the equations and numbers in the text of the paper on recycling filters. */
#include "paper004/paper004.h"

#define TEXT_HASHES 5
#define TEXT_SIGMA  400

/* tau_k(b, b + j) for j = 0 .. k, by eq. (4): agnostic to recycling. */
static void step_chances(double tau[TEXT_HASHES + 1], double b)
{
    for (int j = 0; j <= TEXT_HASHES; j++) {
        tau[j] = j == 0;
    }
    for (int t = 1; t <= TEXT_HASHES; t++) {
        for (int j = t; j >= 0; j--) {
            tau[j] = tau[j] * (b + j) / RBF_MEMORY +
                     (j > 0 ? tau[j - 1] * (RBF_MEMORY - b - j + 1) / RBF_MEMORY : 0);
        }
    }
}

/* E[N0] by eqs. (22) and (23) as they are printed: zero from sigma on. */
static double printed_messages(void)
{
    double messages[TEXT_SIGMA + TEXT_HASHES + 1] = {0};
    for (int b = TEXT_SIGMA - 1; b >= 0; b--) {
        double tau[TEXT_HASHES + 1];
        double sum = 1;
        step_chances(tau, b);
        for (int j = 1; j <= TEXT_HASHES; j++) {
            sum += tau[j] * messages[b + j];
        }
        messages[b] = sum / (1 - tau[0]);
    }
    return messages[0];
}

/* Eq. (19), as printed. */
static double printed_one_hash(uint64_t bits, uint64_t sigma)
{
    double harmonic = 0;
    double sum = 0;
    double m = (double)bits;
    for (uint64_t i = 0; i <= sigma; i++) {
        harmonic += 1 / (m - (double)i);
    }
    for (uint64_t i = 0; i <= sigma; i++) {
        sum += (double)i / (m * (m - (double)i) * harmonic);
    }
    return sum;
}

/* Cycles and the frozen phase, by simulation against what is printed. */
static int text_measured(struct lab *lab)
{
    struct tepal_recycling_setting s = rbf_setting(RBF_MEMORY, TEXT_HASHES, TEXT_SIGMA, 1);
    struct tepal_recycling_rates rates = {0};
    struct lab_share fp = {0};
    struct lab_mean cycle = {0};
    size_t messages = lab_trials(lab, 200000, 2000000);
    int code = rbf_both(lab, &s, 14, messages, &rates, &fp, &cycle);
    struct lab_row row = lab_formula(printed_messages(), rates.messages_from_zero);
    lab_measured(&row, &cycle);
    lab_row(lab, &row, "Eqs. (22), (23): E[N0], zero from sigma on");
    s.phases = 2;
    code = code == EXIT_YES ? rbf_both(lab, &s, 14, 2 * messages, &rates, &fp, NULL) : code;
    row = lab_formula(rates.fp_average, NAN);
    lab_share_row(&row, &fp, 1);
    lab_row(lab, &row, "Eq. (26), the trigger not in the frozen phase, as eq. (24) has it");
    s.keep_trigger = true;
    code = code == EXIT_YES ? rbf_both(lab, &s, 14, 2 * messages, &rates, &fp, NULL) : code;
    row.right = rates.fp_average;
    lab_share_row(&row, &fp, 1);
    lab_row(lab, &row, "Eq. (26), the trigger in the frozen phase, as Sec. II-C has it");
    return code;
}

static double average_of(uint64_t bits, enum tepal_positions positions, bool retain)
{
    struct tepal_recycling_setting s =
        rbf_setting(bits, TEXT_HASHES, bits * TEXT_SIGMA / RBF_MEMORY, 1);
    struct tepal_recycling_rates rates;
    s.positions = positions;
    s.retain = retain;
    return tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates) == TEPAL_OK ? rates.fp_average
                                                                                  : NAN;
}

/* "Unnoticeable", "nearly identical": within 5 %, by the words alone. */
static void same(struct lab *lab, double ratio, const char *words)
{
    lab_row_exact(lab, lab_words(1, 0.05, NAN), ratio, "%s, within 5 %%", words);
}

static void text_models(struct lab *lab)
{
    static double pi[TEXT_SIGMA + 1];
    struct tepal_recycling_setting s = rbf_setting(RBF_MEMORY, 1, TEXT_SIGMA, 1);
    struct tepal_recycling_rates rates = {0};
    s.hashes += lab_sabotaged(lab);
    (void)tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates);
    lab_row_exact(lab, lab_formula(printed_one_hash(RBF_MEMORY, TEXT_SIGMA), NAN), rates.fp_average,
                  "Eq. (19): one hash in closed form");
    s.hashes = TEXT_HASHES;
    s.positions = TEPAL_POSITIONS_DISTINCT;
    (void)tepal_recycling_distribution(&s, pi);
    (void)tepal_recycling_average(&s, TEPAL_RECYCLING_SWEEP, &rates);
    struct lab_row row = lab_formula(0, 1 / rates.messages_from_zero);
    row.leeway = 1e-9;
    lab_exact(&row, pi[0]);
    lab_row(lab, &row, "Sec. IV-C: pi_0, not colliding, not retaining");
    double base = average_of(RBF_MEMORY, TEPAL_POSITIONS_COLLIDING, false);
    same(lab, average_of(RBF_MEMORY, TEPAL_POSITIONS_DISTINCT, false) / base,
         "Sec. II-A: not colliding over colliding, M 1000");
    same(lab,
         average_of(100000, TEPAL_POSITIONS_DISTINCT, false) /
             average_of(100000, TEPAL_POSITIONS_COLLIDING, false),
         "Sec. II-A: not colliding over colliding, M 100000");
    same(lab, average_of(RBF_MEMORY, TEPAL_POSITIONS_COLLIDING, true) / base,
         "Sec. V: retaining over not retaining, M 1000");
    same(lab, average_of(RBF_MEMORY, TEPAL_POSITIONS_DISTINCT, true) / base,
         "Sec. V: not colliding and retaining over neither, M 1000");
    row = lab_formula(10 * log(2), NAN);
    row.rounding = 1;
    lab_row_exact(
        lab, row,
        tepal_bloom_best_hashes(TEPAL_LAYOUT_FLAT, TEPAL_POSITIONS_COLLIDING, 100000, 10000),
        "Sec. II-B: the best k, M/n 10: (M/n) ln 2 to a whole number");
    struct tepal_recycling_counts counts = tepal_recycling_ways(0.01, 3);
    rbf_all_of(lab, counts.first <= counts.each && counts.each <= counts.instance, 1,
               "Sec. II-E: count-instance is the largest rate");
}

/* "Around 30 %", in the abstract, Sec. I and V. */
static int text_capacities(struct lab *lab)
{
    uint64_t ordered = 0;
    double most = 0;
    double right = 0;
    double leeway = 0;
    int code = EXIT_YES;
    for (size_t i = 0; i < RBF_RATES && code == EXIT_YES; i++) {
        struct rbf_capacity c;
        code = rbf_capacity(lab, 1000000, rbf_rates_asked[i], &c);
        /* N_sigma is an expectation, N_o a whole number: they are the same to a message */
        ordered += c.sigma + 1 > c.oracle && c.oracle >= c.actual && c.actual > c.worst;
        double limit = rbf_share_in_limit(rbf_rates_asked[i]);
        struct lab_row row = lab_words(30, 5, 100 * (1 / limit - 1)); /* "around", in tens */
        row.leeway = 100 * RBF_WHOLE_MESSAGES(c.worst) / limit;
        lab_exact(&row, 100 * (c.sigma / c.worst - 1));
        lab_row(lab, &row, "Sec. I: more messages than by the worst case, %%, at %g",
                rbf_rates_asked[i]);
        most = fmax(most, 100 * (1 - c.worst / c.sigma));
        right = fmax(right, 100 * (1 - limit));
        leeway = fmax(leeway, 100 * RBF_WHOLE_MESSAGES(c.worst));
        if (rbf_rates_asked[i] == 0.01) {
            row.right = NAN;
            lab_exact(&row, 100 * (1 - c.worst / c.sigma));
            lab_row(lab, &row, "Abstract: efficiency lost by the worst case, %%, at 0.01");
            rbf_all_of(lab, c.sigma / c.worst >= 1.3, 1,
                       "Sec. I: 30 % or more are gained, at 0.01");
        }
    }
    struct lab_row row = lab_words(30, 5, right);
    row.leeway = leeway;
    lab_exact(&row, most);
    lab_row(lab, &row, "Abstract: efficiency lost by the worst case, up to, %%, from 0.1 to 1e-6");
    rbf_all_of(lab, ordered, RBF_RATES, "Sec. V: N_sigma >= N_o (to a message) >= N_a > N_w");
    return code;
}

static int draw_states(struct lab *lab)
{
    static double pi[TEXT_SIGMA + 1];
    struct tepal_recycling_setting s = rbf_setting(RBF_MEMORY, TEXT_HASHES, TEXT_SIGMA, 1);
    struct svg_point point[TEXT_SIGMA + 1];
    (void)tepal_recycling_distribution(&s, pi);
    for (size_t i = 0; i <= TEXT_SIGMA; i++) {
        point[i] = lab_point((double)i, pi[i]);
    }
    struct svg_series series = {"pi, 1000 bits, k 5, sigma 400", SVG_LINE, point, TEXT_SIGMA + 1};
    return lab_chart(lab, &series, 1, "The steady state", "bits set",
                     "share of the messages that find this many", LAB_LINEAR);
}

int lab_004_text(struct lab *lab)
{
    int code = text_measured(lab);
    text_models(lab);
    code = code == EXIT_YES ? text_capacities(lab) : code;
    return code == EXIT_YES ? draw_states(lab) : code;
}
