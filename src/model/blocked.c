/*
 * blocked.c: the error of filters whose keys stay within lines of 512 bits (Putze et al. 2007).
 *
 * A line is eight sectors of 64 bits, or of 16 counters of four. A key with k = 8 full + r
 * positions sets one random bit in every sector `full` times over, and one more in each of r
 * sectors chosen at random:
 *
 *     sector    0      1      2      3      4      5      6      7
 *     k =  5    .      x      x      .      x      .      x      x
 *     k = 11    x      xx     x      x      xx     x      x      xx
 *
 * Two draws in one sector may coincide (colliding) or not (distinct). The lines are filled
 * unevenly: their loads are binomial (n keys, chance 1/L each), nearly Poisson. Crowded lines err
 * more than sparse lines save, and that is what the layout costs:
 *
 *     rate = sum over j of P(load = j) * a(j),     a(j) = P(all asked bits are set | j members).
 *
 * a(j) has a closed form by inclusion-exclusion, useless below 1e-10: its terms alternate, and add
 * up to as much as 4^8 in size. Instead a chain of positive terms, as in flat.c: of the sectors
 * that the absent key asks, `two` have two asked bits still unset and `one` have one. A member of
 * the line moves
 *
 *     (one, two)  -->  (one', two')     with 2 two + one falling or staying,
 *
 * at most 45 states. a(j) is the chance of (0, 0) after j moves. The sum walks up the loads until
 * what is left cannot matter. The weights are found from their ratios, starting at the likeliest
 * load, and are divided by their sum: no factorials. Every operation adds or multiplies positive
 * numbers, a few per load, so the result is good to about 1e-12 of itself however small it is.
 * Cost: 5 to 10 us for k <= 8 at common loads, 30 to 100 us above.
 *
 * Paired: the first line receives k1 = ceil(k/2) of the positions, the second k2 = floor(k/2).
 * Every line has members of both roles. A key touches a given line with chance t, in one role or
 * the other or (colliding positions only) both, so the load is binomial (n, t), and a member's
 * move is the mixture of the roles. An absent key draws its two lines without looking: in a given
 * filter its rate is the product F1 F2 of the shares of lines that say yes to a first and to a
 * second part. Over all filters E[F1 F2] = E[F1] E[F2] + Cov, and the covariance, left out here, is
 * of the order of 1/L of the rate, for F1 and F2 are averages over L lines. (Distinct positions
 * never draw the same line twice: 1/L again.) That is the only approximation in this file.
 */
#include <tepal/params.h>

#include "model/blocked.h"
#include "model/numeric.h"

#include <math.h>

#define SECTORS 8
#define STATES  45 /* one + two <= 8 */
#define PACKED  (STATES * (STATES + 1) / 2)

/* Keys a line beyond which all its bits are certainly set, in double precision: e^-190 is left. */
#define LOAD_FULL 1e5

/* The moves of one member; row s holds the chances of going from state s to 0..s. */
struct moves {
    double cell[PACKED];
};

static double *row_of(struct moves *moves, unsigned s)
{
    return moves->cell + s * (s + 1) / 2;
}

/*
 * The states that an absent key with k positions in the line can see, in the order of the bits
 * still unset, and its chance to begin in each.
 */
struct space {
    unsigned states;
    unsigned max_two;                         /* sectors in which it asks two bits */
    unsigned sectors;                         /* sectors in which it asks any */
    unsigned index[SECTORS + 1][SECTORS + 1]; /* of (one, two) */
    double start[STATES];
};

/* The number of ways to choose i of n. */
static const double choose[SECTORS + 1][SECTORS + 1] = {
    {1, 0, 0, 0, 0, 0, 0, 0, 0},      {1, 1, 0, 0, 0, 0, 0, 0, 0},
    {1, 2, 1, 0, 0, 0, 0, 0, 0},      {1, 3, 3, 1, 0, 0, 0, 0, 0},
    {1, 4, 6, 4, 1, 0, 0, 0, 0},      {1, 5, 10, 10, 5, 1, 0, 0, 0},
    {1, 6, 15, 20, 15, 6, 1, 0, 0},   {1, 7, 21, 35, 35, 21, 7, 1, 0},
    {1, 8, 28, 56, 70, 56, 28, 8, 1},
};

static void space_make(struct space *space, uint32_t k, struct model_line line)
{
    space->sectors = k < SECTORS ? k : SECTORS;
    space->max_two = k > SECTORS ? k - SECTORS : 0;
    space->states = 0;
    for (unsigned unset = 0; unset <= 2 * SECTORS; unset++) {
        for (unsigned two = 0; two <= space->max_two && 2 * two <= unset; two++) {
            unsigned one = unset - 2 * two;
            if (one + two <= space->sectors) {
                space->start[space->states] = 0;
                space->index[one][two] = space->states++;
            }
        }
    }
    /* Its own two draws in a sector are the same bit with chance 1/64, if they may collide. */
    double same = line.distinct ? 0 : 1.0 / line.sector;
    for (unsigned two = 0; two <= space->max_two; two++) {
        unsigned s = space->index[space->sectors - two][two];
        space->start[s] = choose[space->max_two][two] * pow(1 - same, two) *
                          pow(same, (double)space->max_two - two);
    }
}

/* What a member's draws do to one sector with one, or two, asked bits unset. */
struct sector {
    double one_stays, one_set;
    double two_stay, two_to_one, two_set;
};

static struct sector sector_make(unsigned draws, struct model_line line)
{
    double s = line.sector;
    double pairs = s * (s - 1) / 2;
    switch (draws) {
    case 0:
        return (struct sector){1, 0, 1, 0, 0};
    case 1:
        return (struct sector){(s - 1) / s, 1 / s, (s - 2) / s, 2 / s, 0};
    default:
        /* two draws: of the s^2 pairs, or of the s (s - 1) / 2 pairs of different bits */
        return line.distinct ? (struct sector){(s - 2) / s, 2 / s, (s - 2) * (s - 3) / 2 / pairs,
                                               2 * (s - 2) / pairs, 1 / pairs}
                             : (struct sector){(s - 1) * (s - 1) / (s * s), (2 * s - 1) / (s * s),
                                               (s - 2) * (s - 2) / (s * s), (4 * s - 6) / (s * s),
                                               2 / (s * s)};
    }
}

/*
 * What becomes of the sectors looked at so far: chance[x][one][two], summed over the ways to give
 * the member's extra draw to x of them. Sectors are added one by one; in place, from the top.
 */
struct partial {
    unsigned sectors, twos, extra; /* the largest indices in use */
    double chance[SECTORS + 1][SECTORS + 1][SECTORS + 1];
};

static void partial_add(struct partial *p, const struct sector by_extra[2], bool two)
{
    p->sectors++;
    p->twos += two;
    unsigned x = p->sectors < p->extra ? p->sectors : p->extra;
    for (;; x--) {
        for (unsigned i = p->sectors + 1; i-- > 0;) {
            unsigned most = p->sectors - i < p->twos ? p->sectors - i : p->twos;
            for (unsigned j = most + 1; j-- > 0;) {
                double sum = 0;
                for (unsigned e = 0; e <= 1 && e <= x; e++) {
                    const struct sector *s = &by_extra[e];
                    double set = two ? s->two_set : s->one_set;
                    double to_one = two ? s->two_to_one : s->one_stays;
                    sum += p->chance[x - e][i][j] * set;
                    sum += i > 0 ? p->chance[x - e][i - 1][j] * to_one : 0;
                    sum += two && j > 0 ? p->chance[x - e][i][j - 1] * s->two_stay : 0;
                }
                p->chance[x][i][j] = sum;
            }
        }
        if (x == 0) {
            return;
        }
    }
}

/*
 * The moves of a member with k positions in the line (0 <= k <= 16), added to `moves` with a
 * weight. Of the ways to give r extra draws to 8 sectors, those that give x of them to the
 * one + two sectors that matter are C(8 - one - two, r - x) / C(8, r) each.
 */
static void moves_add(struct moves *moves, const struct space *space, double weight, uint32_t k,
                      struct model_line line)
{
    unsigned full = k / SECTORS;
    unsigned extra = k % SECTORS;
    /* (k = 16 has two draws in every sector and no extra one: the second entry goes unused.) */
    const struct sector by_extra[2] = {sector_make(full, line), sector_make(full + 1, line)};
    struct partial twos = {.extra = extra};
    twos.chance[0][0][0] = 1;
    for (unsigned two = 0; two <= space->max_two; two++) {
        struct partial p = twos;
        for (unsigned one = 0; one + two <= space->sectors; one++) {
            double *row = row_of(moves, space->index[one][two]);
            for (unsigned x = 0; x <= extra; x++) {
                double ways =
                    weight * choose[SECTORS - one - two][extra - x] / choose[SECTORS][extra];
                for (unsigned j = 0; ways > 0 && j <= p.twos; j++) {
                    for (unsigned i = 0; i + j <= p.sectors; i++) {
                        if (p.chance[x][i][j] > 0) {
                            row[space->index[i][j]] += ways * p.chance[x][i][j];
                        }
                    }
                }
            }
            if (one + two < space->sectors) {
                partial_add(&p, by_extra, false);
            }
        }
        if (two < space->max_two) {
            partial_add(&twos, by_extra, true);
        }
    }
}

/* moves <- moves + weight * a * b */
static void moves_add_product(struct moves *moves, unsigned states, double weight, struct moves *a,
                              struct moves *b)
{
    for (unsigned s = 0; s < states; s++) {
        double *row = row_of(moves, s);
        const double *first = row_of(a, s);
        for (unsigned l = 0; l <= s; l++) {
            const double *then = row_of(b, l);
            for (unsigned j = 0; j <= l; j++) {
                row[j] += weight * first[l] * then[j];
            }
        }
    }
}

/* A line as its load grows: where the asked bits stand after `load` members. */
struct line {
    unsigned states;
    struct moves *moves;
    double open; /* the chance that not all asked bits are set; 0 once it is below 1e-18 */
    double at[STATES];
};

static void line_load(struct line *line)
{
    if (line->open <= 0) {
        return;
    }
    /* In place: states go to smaller ones or stay, so each is spread once, the small ones first. */
    for (unsigned s = 0; s < line->states; s++) {
        const double *row = row_of(line->moves, s);
        double here = line->at[s];
        for (unsigned j = 0; j < s; j++) {
            line->at[j] += here * row[j];
        }
        line->at[s] = here * row[s];
    }
    line->open = 0;
    for (unsigned s = 1; s < line->states; s++) {
        line->open += line->at[s];
    }
    if (line->open < 1e-18) {
        line->open = 0;
        line->at[0] = 1;
    }
}

/* Loads by many members at once, by squaring, where that is cheaper than one by one. */
static void line_load_many(struct line *line, uint64_t members)
{
    struct moves *each = line->moves;
    struct moves power = *each;
    for (; members > (uint64_t)2 * line->states && line->open > 0; members >>= 1) {
        struct moves twice = {{0}};
        line->moves = &power;
        if ((members & 1) != 0) {
            line_load(line);
        }
        moves_add_product(&twice, line->states, 1, &power, &power);
        power = twice;
    }
    line->moves = &power;
    for (; members > 0 && line->open > 0; members--) {
        line_load(line);
    }
    line->moves = each;
}

/* yes : no are the chances of "all asked bits are set" and its contrary, up to a factor. */
static double share(double yes, double no)
{
    /* The smaller one says more about the larger one: rates near 1 keep their last digits too. */
    return no < yes ? 1 - no / (yes + no) : yes / (yes + no);
}

/* P(load = j + 1) / P(load = j) for n keys that touch the line with chance t each. */
static double load_ratio(double n, double t, double j, enum model_load load)
{
    if (load == MODEL_LOAD_POISSON) {
        return n * t / (j + 1);
    }
    return n > j ? (n - j) / (j + 1) * (t / (1 - t)) : 0;
}

/* The sum over the loads: P(all bits asked by a key of this space are set). */
static double mixture(const struct space *space, struct moves *moves, double n, double t,
                      enum model_load load)
{
    struct line line = {.states = space->states, .moves = moves, .open = 1};
    for (unsigned s = 0; s < space->states; s++) {
        line.at[s] = space->start[s];
    }
    if (n * t > LOAD_FULL) {
        return 1;
    }
    if (t >= 1 && load == MODEL_LOAD_BINOMIAL) {
        double whole = floor(n); /* all n are here; n in between is a mixture of its neighbours */
        line_load_many(&line, (uint64_t)whole);
        double yes = (whole + 1 - n) * line.at[0];
        double no = (whole + 1 - n) * line.open;
        line_load(&line);
        return share(yes + (n - whole) * line.at[0], no + (n - whole) * line.open);
    }
    /*
     * Down from the likeliest load to where nothing counts (a(j) only falls on the way down), then
     * up again. Upwards the weights fall faster and faster, and a(j) <= 1 bounds what is left.
     */
    double j = floor(n * t);
    double weight = 1;
    while (j > 0 && weight > 1e-40) {
        j--;
        weight /= load_ratio(n, t, j, load);
    }
    line_load_many(&line, (uint64_t)j);
    double yes = 0;
    double no = 0;
    for (;; j++) {
        yes += weight * line.at[0];
        no += weight * line.open;
        double ratio = load_ratio(n, t, j, load);
        if (ratio < 1 && weight * ratio <= 1e-15 * (1 - ratio) * yes) {
            return share(yes, no);
        }
        weight *= ratio;
        line_load(&line);
    }
}

double tepal_model_blocked_rate(uint64_t lines, double n, uint32_t k, struct model_line line,
                                enum model_load load)
{
    struct space space;
    struct moves moves = {{0}};
    if (n <= 0) {
        return 0;
    }
    space_make(&space, k, line);
    moves_add(&moves, &space, 1, k, line);
    return mixture(&space, &moves, n, 1 / (double)lines, load);
}

/* One of the two factors of the paired rate: the line in which the absent key asks `asks` bits. */
static double half_rate(double lines, double n, uint32_t asks, uint32_t k1, uint32_t k2,
                        struct model_line line, enum model_load load)
{
    struct space space;
    struct moves moves = {{0}};
    space_make(&space, asks, line);
    if (line.distinct || load == MODEL_LOAD_POISSON) {
        moves_add(&moves, &space, 0.5, k1, line);
        moves_add(&moves, &space, 0.5, k2, line);
        return mixture(&space, &moves, n, 2 / lines, load);
    }
    /* A key that touches the line: in one role, (1 - 1/L)/L each, or in both, 1/L^2. */
    struct moves role1 = {{0}};
    struct moves role2 = {{0}};
    double touch = (2 - 1 / lines) / lines;
    double one_role = (1 - 1 / lines) / lines / touch;
    moves_add(&role1, &space, 1, k1, line);
    if (k2 == k1) {
        role2 = role1; /* to find the moves is half of the work */
    } else {
        moves_add(&role2, &space, 1, k2, line);
    }
    for (unsigned i = 0; i < PACKED; i++) {
        moves.cell[i] = one_role * (role1.cell[i] + role2.cell[i]);
    }
    moves_add_product(&moves, space.states, 1 / (lines * lines * touch), &role1, &role2);
    return mixture(&space, &moves, n, touch, load);
}

double tepal_model_paired_rate(uint64_t lines, double n, uint32_t k, struct model_line line,
                               enum model_load load, double *first)
{
    uint32_t k1 = (k + 1) / 2;
    uint32_t k2 = k / 2;
    if (k2 == 0) {
        *first = tepal_model_blocked_rate(lines, n, k1, line, load);
        return *first;
    }
    if (n <= 0) {
        *first = 0;
        return 0;
    }
    *first = half_rate((double)lines, n, k1, k1, k2, line, load);
    if (k1 == k2) {
        return *first * *first;
    }
    return *first * half_rate((double)lines, n, k2, k1, k2, line, load);
}

/* The chance that a member with k positions in a line sets a given bit of it. */
static double hit_chance(uint32_t k, struct model_line line)
{
    unsigned full = k / SECTORS;
    double extra = k % SECTORS;
    return (extra * sector_make(full + 1, line).one_set +
            (SECTORS - extra) * sector_make(full, line).one_set) /
           SECTORS;
}

double tepal_model_blocked_fill(uint64_t lines, uint64_t n, uint32_t k, struct model_line line)
{
    return -expm1(log_all_miss(hit_chance(k, line) / (double)lines, (double)n));
}

double tepal_model_paired_fill(uint64_t lines, uint64_t n, uint32_t k, struct model_line line)
{
    double first = hit_chance((k + 1) / 2, line) / (double)lines;
    double second = hit_chance(k / 2, line) / (double)lines;
    if (line.distinct) { /* the two roles exclude each other */
        return -expm1(log_all_miss(first + second, (double)n));
    }
    return -expm1(log_all_miss(first, (double)n) + log_all_miss(second, (double)n));
}

struct model_line_pairs tepal_model_line_pairs(uint32_t k, struct model_line line)
{
    double r = k % SECTORS; /* sectors with one draw more than the others */
    double s = SECTORS - r;
    struct sector few = sector_make(k / SECTORS, line);
    struct sector more = sector_make(k / SECTORS + 1, line);
    double both_stay =
        (r * (r - 1) * more.one_stays * more.one_stays +
         2 * r * s * more.one_stays * few.one_stays + s * (s - 1) * few.one_stays * few.one_stays) /
        (SECTORS * (SECTORS - 1));
    return (struct model_line_pairs){
        hit_chance(k, line), 1 - (r * more.two_stay + s * few.two_stay) / SECTORS, 1 - both_stay};
}
