/*
 * generalized_line.c: the most keys that a line of a generalized filter passes, whatever its bits,
 * if keys have more than eight cells there.
 *
 * A first round takes one cell of every sector, a second round one more in some; which of them
 * are resets and which sets is drawn for each round. A sector that is asked for two cells has a
 * share x of zeros, and its two cells differ with a chance d. The chance to pass is linear in
 * (x, d) of each sector. Of 64 bits, d is at most 2 x (1 - x) + min(x, 1 - x) / 32: the second
 * cell is any other with a chance of 1/64 each, but the next one with 2/64 (address_other). So
 * (x, d) lies below the parabola d = 2 c x (1 - x) with c = 33/32, and therefore within every
 * polygon around it. What is linear in each of eight points is highest where all are corners:
 *
 *        d |      __2__3__
 *          |    1'        '4         corners where neighbouring tangents meet, those at s and t:
 *          |  /'            '\          x = (s + t) / 2,  d = c (s + t - 2 s t)
 *          |/__________________\
 *          0                   5  x
 *
 * Sectors are alike, so that it only matters how many are at each corner. The result is an upper
 * bound: no line has sectors at the corners 1 to 4, which are a little above the parabola.
 */
#include "model/generalized.h"
#include "model/numeric.h"

#include <string.h>

#define SECTORS  8
#define TANGENTS 5 /* at 0, 1/4, 1/2, 3/4 and 1 */
#define CORNERS  (TANGENTS + 1)
#define STEEPER  (33.0 / 32)

/*
 * So many resets of the first round, resets and sets of the second, and inverted bits: of all ways
 * to have 16 cells or fewer, 9 resets of 16 and 6 tolerated have the most states, 6 * 5 * 5 * 7.
 */
#define STATES 1050

enum role { ROLE_NONE, ROLE_RESET, ROLE_SET };

struct line {
    uint32_t most[3]; /* resets of the first round; resets and sets of the second */
    uint32_t tolerance;
    double chance[CORNERS][3][3][3]; /* by corner and both roles: of 0, 1 and 2 inverted bits */
};

static void set_chances(double x, double d, double chance[3][3][3])
{
    const double ones = 1 - x;
    const double alone[3] = {0, ones, x}; /* that a cell of this role is wrong */
    for (int a = ROLE_RESET; a <= ROLE_SET; a++) {
        for (int b = ROLE_NONE; b <= ROLE_SET; b++) {
            double both = a == b ? alone[a] - d / 2 : d / 2;
            double one = a == b ? d : 1 - d;
            chance[a][b][2] = b == ROLE_NONE ? 0 : both;
            chance[a][b][1] = b == ROLE_NONE ? alone[a] : one;
            chance[a][b][0] = 1 - chance[a][b][1] - chance[a][b][2];
        }
    }
}

static size_t state_of(const struct line *line, uint32_t i, uint32_t j, uint32_t l)
{
    return (((size_t)i * (line->most[1] + 1) + j) * (line->most[2] + 1) + l) *
           (line->tolerance + 1);
}

/* One sector more, with these roles. */
static void add_roles(const struct line *line, int a, int b, const double chance[3],
                      const double *from, double *to)
{
    const uint32_t di = a == ROLE_RESET;
    const uint32_t dj = b == ROLE_RESET;
    const uint32_t dl = b == ROLE_SET;
    for (uint32_t i = di; i <= line->most[0]; i++) {
        for (uint32_t j = dj; j <= line->most[1]; j++) {
            for (uint32_t l = dl; l <= line->most[2]; l++) {
                const double *here = from + state_of(line, i - di, j - dj, l - dl);
                double *there = to + state_of(line, i, j, l);
                for (uint32_t w = 0; w <= line->tolerance; w++) {
                    there[w] += here[w] * chance[0] + (w > 0 ? here[w - 1] * chance[1] : 0) +
                                (w > 1 ? here[w - 2] * chance[2] : 0);
                }
            }
        }
    }
}

/* The most that pass, with `sectors` left, none of them at a corner before this one. */
static double highest(const struct line *line, const double *ways, uint32_t sectors,
                      uint32_t corner)
{
    const size_t last = state_of(line, line->most[0], line->most[1], line->most[2]);
    double next[STATES];
    double best = 0;
    if (sectors == 0) {
        for (uint32_t w = 0; w <= line->tolerance; w++) {
            best += ways[last + w];
        }
        return best;
    }
    for (; corner < CORNERS; corner++) {
        memset(next, 0, sizeof next);
        for (int a = ROLE_RESET; a <= ROLE_SET; a++) {
            for (int b = ROLE_NONE; b <= ROLE_SET; b++) {
                add_roles(line, a, b, line->chance[corner][a][b], ways, next);
            }
        }
        best = fmax(best, highest(line, next, sectors - 1, corner));
    }
    return best;
}

/* In how many ways `some` of n can be chosen. */
static double choices(uint32_t n, uint32_t some)
{
    double ways = 1;
    for (uint32_t i = 0; i < some; i++) {
        ways *= (double)(n - i) / (i + 1);
    }
    return ways;
}

double tepal_model_line_bound(uint32_t k0, uint32_t k1, uint32_t b)
{
    uint32_t first = model_first_resets(k0, k0 + k1);
    struct line line = {.most = {first, k0 - first, k0 + k1 - SECTORS - (k0 - first)},
                        .tolerance = b};
    if (b >= (k0 < k1 ? k0 : k1)) {
        return 1;
    }
    for (uint32_t i = 1; i < TANGENTS; i++) {
        double s = (i - 1.0) / (TANGENTS - 1);
        double t = (double)i / (TANGENTS - 1);
        set_chances((s + t) / 2, STEEPER * (s + t - 2 * s * t), line.chance[i]);
    }
    set_chances(0, 0, line.chance[0]);
    set_chances(1, 0, line.chance[CORNERS - 1]);
    double ways[STATES] = {1};
    double second = choices(SECTORS, line.most[1]) * choices(SECTORS - line.most[1], line.most[2]);
    return at_most_one(highest(&line, ways, SECTORS, 0) / (choices(SECTORS, first) * second));
}
