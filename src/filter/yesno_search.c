/* yesno_search.c: pairs, local-search and exact. */
#include "filter/yesno.h"

enum tepal_status tepal_yesno_pairs(struct yesno_run *run)
{
    tepal_yesno_first_fit(run, NULL);
    return TEPAL_OK;
}

enum tepal_status tepal_yesno_local_search(struct yesno_run *run)
{
    tepal_yesno_first_fit(run, NULL);
    return TEPAL_OK;
}

enum tepal_status tepal_yesno_exact(struct yesno_run *run)
{
    tepal_yesno_first_fit(run, NULL);
    return TEPAL_OK;
}
