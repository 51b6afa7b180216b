/* explain.c: by the equations of docs/models.md, one function a kind. */
#include "plans/explain.h"

#include <inttypes.h>
#include <math.h>

#include <tepal/papers.h>
#include <tepal/params.h>
#include <tepal/generalized.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>

#include "streams/stream.h"

struct context {
    struct out *out;
    const struct tepal_wish *wish;
    uint64_t n;
    const struct tepal_proposal *plan;
};

/* m bits, n keys, k hashes, and the rate on the layout; cells may be other things than bits. */
static void bloom(const struct context *c, uint64_t m, uint64_t n, uint32_t k, double fp)
{
    const struct tepal_params *p = &c->plan->params;
    const char *fill = p->positions == TEPAL_POSITIONS_DISTINCT ? "(1 - k/m)^n" : "(1 - 1/m)^(k n)";
    double flat = tepal_bloom_fp_approx(m, n, k);
    out_format(c->out, "  m = %" PRIu64 " %s%s, n = %" PRIu64 " key%s, k = %" PRIu32 " hash%s\n", m,
               c->plan->kind == TEPAL_KIND_COUNTING ? "counter" : "bit", SAY_S(m), n, SAY_S(n), k,
               k == 1 ? "" : "es");
    if (p->layout == TEPAL_LAYOUT_FLAT) {
        out_format(c->out, "  fill = 1 - %s = %.6g\n", fill,
                   tepal_bloom_fill(p->layout, p->positions, m, n, k));
        out_format(c->out, "  fp ~ (1 - e^(-k n / m))^k = %.6g; exactly %.6g\n", flat, fp);
    } else {
        out_format(c->out, "  fp would be (1 - e^(-k n / m))^k = %.6g, flat; %s: %.6g\n", flat,
                   tepal_layout_name(p->layout), fp);
    }
    out_format(c->out, "  k = (m / n) ln 2 = %.4g would be the best if it need not be whole\n",
               (double)m / (double)n * log(2));
}

static void plain(const struct context *c)
{
    bloom(c, c->plan->params.cells, c->n, c->plan->params.hashes, c->plan->fp);
}

/* The rate of bits on the plan's layout. */
static double bloom_fp(const struct context *c, uint64_t m, uint64_t n, uint32_t k)
{
    return tepal_bloom_fp(c->plan->params.layout, c->plan->params.positions, m, n, k);
}

static void retouched(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    uint64_t t = c->wish->known_negatives;
    uint64_t lost = (uint64_t)((double)c->n * c->plan->fn * (1 + 1e-12));
    bloom(c, p->cells, c->n, p->hashes, bloom_fp(c, p->cells, c->n, p->hashes));
    out_format(c->out,
               "  F = t fp = %.6g of t = %" PRIu64 " known negatives pass; fn n = %" PRIu64
               " members are given up\n",
               (double)t * c->plan->fp, t, lost);
    out_format(c->out,
               "  lost / c of F go, the heaviest first, c = sum over j of P(a bit of j owners or "
               "more)^k members each: fp known = %.6g\n",
               c->plan->fp_known);
    out_format(c->out,
               "  and at most that of the Bloom filter of the others, with %" PRIu64
               " keys: %.6g\n",
               c->n - lost, bloom_fp(c, p->cells, c->n - lost, p->hashes));
}

static void counting(const struct context *c)
{
    double w = c->wish->wrong_deletes;
    const struct tepal_counting_params *own = &c->plan->params.counting;
    int bits = own->form == TEPAL_FORM_WIDE_COUNTERS ? 8 : 4;
    if (own->choices > 1) {
        const struct tepal_params *p = &c->plan->params;
        out_format(c->out,
                   "  m = %" PRIu64 " counters, k = %" PRIu32 ", c = %" PRIu64
                   " groups to choose from: fp = %.6g (differential equations)\n",
                   p->cells, p->hashes, own->choices, c->plan->fp);
    } else {
        plain(c);
    }
    out_format(c->out, "  bits = %d m = %" PRIu64 ": a counter of %d bits and an extra bit\n",
               bits + 1, c->plan->bits, bits);
    if (w > 0) {
        out_format(c->out,
                   "  fn = w fp Y = %.6g x %.6g x %.4g = %.6g: Y keys lost per wrong removal\n", w,
                   c->plan->fp, c->plan->fn / (w * c->plan->fp), c->plan->fn);
    }
}

static void fingerprint(const struct context *c)
{
    uint64_t f = c->plan->params.fingerprint.bits;
    uint64_t slots = c->plan->params.cells / f;
    double w = c->wish->wrong_deletes;
    out_format(c->out,
               "  f = %" PRIu64 " bits per fingerprint, %" PRIu64 " slots, load = n / slots = "
               "%.4g\n",
               f, slots, (double)c->n / (double)slots);
    if (c->wish->untrusted) {
        out_format(c->out, "  fp <= 9 / 2^f = %.6g, whatever is in the slots\n", c->plan->fp);
    } else {
        out_format(c->out, "  fp ~ 8 load / 2^f = %.6g; exactly %.6g\n",
                   8 * (double)c->n / (double)slots * exp2(-(double)f), c->plan->fp);
    }
    if (w > 0) {
        out_format(c->out, "  fn = w fp = %.6g x %.6g = %.6g\n", w, c->plan->fp, c->plan->fn);
    }
}

static void generalized(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    uint32_t k0 = (uint32_t)p->generalized.reset_hashes;
    uint32_t k1 = p->hashes - k0;
    uint32_t b = (uint32_t)p->generalized.tolerance;
    double touched = -expm1(-(double)(k0 + k1) * (double)c->n / (double)p->cells);
    out_format(c->out,
               "  k0 = %" PRIu32 " resets, k1 = %" PRIu32 " sets, tolerance b = %" PRIu32 "\n", k0,
               k1, b);
    out_format(
        c->out,
        "  fp <= max over p of P(Bin(k0, 1-p) + Bin(k1, p) <= b) = %.6g, at p = %.4g; %s, with "
        "m = %" PRIu64 " bits: %.6g\n",
        tepal_generalized_fp_bound(k0, k1, b), tepal_generalized_worst_zero(k0, k1, b),
        tepal_layout_name(p->layout), p->cells, c->plan->fp);
    out_format(c->out, "  touched = 1 - e^(-(k0 + k1) n / m) = %.6g after n = %" PRIu64 " key%s\n",
               touched, c->n, SAY_S(c->n));
    out_format(
        c->out,
        "  fn <= P(Bin(k0, k1/k touched) + Bin(k1, k0/k touched) > b) = %.6g for the oldest\n",
        c->plan->fn);
}

static void yesno(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    uint64_t t = c->wish->known_negatives;
    struct tepal_yesno_setting y = {.yes_bits = p->cells - p->yesno.no_filters * p->yesno.no_bits,
                                    .hashes = p->hashes,
                                    .no_bits = p->yesno.no_bits,
                                    .no_filters = p->yesno.no_filters,
                                    .no_hashes = (uint32_t)p->yesno.no_hashes,
                                    .own_seeds = p->yesno.own_seeds != 0};
    (void)tepal_yesno_predict(p->layout, p->positions, c->n, t, &y);
    bloom(c, y.yes_bits, c->n, p->hashes, bloom_fp(c, y.yes_bits, c->n, p->hashes));
    out_format(c->out, "  F = t fp = %.6g of t = %" PRIu64 " known negatives pass the yes-filter\n",
               y.positive, t);
    out_format(c->out,
               "  r = %" PRIu64 " no-filter%s of q = %" PRIu64 " bit%s, k' = %" PRIu32
               ": of F, about %.4g are left\n",
               y.no_filters, SAY_S(y.no_filters), y.no_bits, SAY_S(y.no_bits), y.no_hashes, y.left);
    if (c->wish->weights.count > 0) {
        out_format(
            c->out,
            "  x = left / F = %.4g, as if drawn from the lightest x^(1/b) of F, b = 2 + 32 / "
            "k'^2 = %.4g: fp known = %.6g of the weight\n",
            y.left / y.positive, 2 + 32.0 / (y.no_hashes * y.no_hashes), c->plan->fp_known);
    }
    out_format(c->out, "  strangers: fp (1 - veto)^r = %.6g\n", y.fp_unknown);
}

static void cascade(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    uint64_t t = c->wish->known_negatives;
    bloom(c, p->cells, c->n, p->hashes, bloom_fp(c, p->cells, c->n, p->hashes));
    out_format(c->out,
               "  the first level lets t fp = %.6g of %" PRIu64 " known negatives through; further "
               "levels store what the one before lets through: %" PRIu64 " bits more\n",
               (double)t * bloom_fp(c, p->cells, c->n, p->hashes), t, c->plan->bits - p->cells);
}

static void phases_fp(const struct context *c)
{
    struct tepal_recycling_setting s;
    struct tepal_recycling_rates rates;
    if (c->plan->params.recycling.rule == TEPAL_RECYCLING_AVERAGE) {
        out_format(c->out,
                   "  fp = f = %.6g, which the filter keeps by its own account: it recycles when "
                   "the average over all messages reaches f\n",
                   c->plan->fp);
    }
    if (!stream_rates(&c->plan->params, &s, &rates)) {
        return;
    }
    if (s.phases == 1) {
        out_format(c->out, "  fp = f = %.6g on average over a cycle, eq. (18)\n", rates.fp_active);
        return;
    }
    out_format(c->out,
               "  f = %.6g on average of the phase that fills, eq. (18); F = %.6g of a frozen one, "
               "eqs. (24), (25)\n",
               rates.fp_active, rates.fp_frozen);
    out_format(c->out, "  fp = 1 - (1 - f) (1 - F)^(p-1) = %.6g, eq. (26)\n", c->plan->fp);
}

static void recycling(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    const struct tepal_recycling_params *cycle = &p->recycling;
    double messages = floor(c->plan->messages_per_cycle);
    bool by_sigma = cycle->rule == TEPAL_RECYCLING_SIGMA;
    out_format(c->out, "  M = %" PRIu64 " bits per phase, p = %" PRIu32 " phase%s, k = %" PRIu32,
               p->cells, (uint32_t)cycle->phases, SAY_S(cycle->phases), p->hashes);
    if (by_sigma) {
        out_format(c->out, ", sigma = %" PRIu64 " (%.4g M)", cycle->limit,
                   (double)cycle->limit / (double)p->cells);
    }
    out_format(c->out, "\n");
    phases_fp(c);
    out_format(c->out, "  N = %.0f messages per cycle (%.5g M)%s\n", messages,
               messages / (double)p->cells,
               by_sigma || isfinite(c->plan->fn) ? "" : " if all are new");
    out_format(c->out,
               by_sigma ? "  the latest (p-1) (N - 1.5 sqrt N) = %.0f are remembered\n"
                        : "  the latest (p-1) (N' - 1.5 sqrt N') = %.0f are remembered on any "
                          "stream; N': messages at which a phase alone has the rate f / (2 p)\n",
               c->plan->remembers);
    if (isfinite(c->plan->fn)) {
        out_format(c->out,
                   "  fn = (1 - fp)/T times the integral of G from (p-1) T to p T = %.6g; G(x): "
                   "gaps above x, T: lines with N of them new to the phase\n",
                   c->plan->fn);
    }
}

static void growing(const struct context *c)
{
    const struct tepal_growing_params *own = &c->plan->params.growing;
    double slot = (double)(own->tag_bits + own->extension_bits + 1);
    double first = (double)c->plan->params.cells / (4 * slot);
    double doublings = log2((double)c->plan->bits / (double)c->plan->params.cells);
    out_format(c->out,
               "  t = %" PRIu64 " bits per tag, e = %" PRIu64
               " per extension, B = %.0f buckets at first, n = %" PRIu64 " keys in the end\n",
               own->tag_bits, own->extension_bits, first, c->n);
    out_format(c->out,
               "  g = %.4g doublings; bits per key ~ (t + e + 1) / (7/8) = %.4g, and copies\n",
               doublings, slot / 0.875);
    out_format(c->out, "  fp ~ 7 2^-(t + e) (1 + 5 g / 6) = %.6g; by rounds %.6g\n",
               7 * exp2(-(double)(own->tag_bits + own->extension_bits)) * (1 + 5 * doublings / 6),
               c->plan->fp);
}

static void chain(const struct context *c)
{
    const struct tepal_params *p = &c->plan->params;
    double rate = ldexp((double)p->chain.rate, -64);
    double growth = (double)p->chain.growth / TEPAL_CHAIN_UNIT;
    out_format(c->out,
               "  N_0 = %" PRIu64 " keys at first, s = %.4g, J = %" PRIu64
               " parts planned for n = %" PRIu64 " keys\n",
               p->chain.first_keys, growth, p->chain.planned, c->n);
    out_format(c->out,
               "  each may add f = 7/8 F / J = %.6g; together at most F = %.6g at any size\n",
               rate * tepal_chain_share(p, 0), rate);
    out_format(c->out,
               "  bits per key ~ log2(1/f) / ln 2 = %.4g when the last is full, flat; "
               "s times that when it is opened\n",
               -log2(rate * tepal_chain_share(p, 0)) / log(2));
    out_format(c->out, "  fp = 1 - (1 - f_0) (1 - f_1) ... = %.6g\n", c->plan->fp);
}

void explain_plan(struct out *out, const struct tepal_wish *wish, const struct tepal_plans *plans,
                  const struct tepal_proposal *plan)
{
    static void (*const explain[])(const struct context *) = {
        [TEPAL_KIND_BLOOM] = plain,
        [TEPAL_KIND_RETOUCHED] = retouched,
        [TEPAL_KIND_GENERALIZED] = generalized,
        [TEPAL_KIND_COUNTING] = counting,
        [TEPAL_KIND_FINGERPRINT] = fingerprint,
        [TEPAL_KIND_YESNO] = yesno,
        [TEPAL_KIND_CASCADE] = cascade,
        [TEPAL_KIND_RECYCLING] = recycling,
        [TEPAL_KIND_GROWING] = growing,
        [TEPAL_KIND_CHAIN] = chain,
    };
    struct context c = {out, wish, plans->keys, plan};
    explain[plan->kind](&c);
}
