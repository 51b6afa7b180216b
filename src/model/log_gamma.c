/* log_gamma.c: lgamma(3) writes a global, signgam: two threads must not. lgamma_r(3) does not. */
#define _DEFAULT_SOURCE
#include "model/numeric.h"

double tepal_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
