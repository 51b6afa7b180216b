/* apps.h: the applications, one a file; apps.c has their table. */
#ifndef APPS_APPS_H
#define APPS_APPS_H

#include "cli/command.h"

int admit_run(const struct args *args);
int stopset_run(const struct args *args);
int route_run(const struct args *args);
int flows_run(const struct args *args);
int digest_run(const struct args *args);
int traceback_run(const struct args *args);

#endif
