/*
 * tepal: approximate sets with two error rates that you choose.
 *
 * This is the umbrella header and the first page of the manual. docs/api.md lists every function on
 * one page; examples/ has a small program for each kind of filter.
 *
 *     tepal/filter.h       the handle: create, add, query, remove, combine    examples/bloom.c
 *     tepal/params.h       parameters and the table of kinds
 *     tepal/file.h         filters as bytes and files: save, load, map         examples/load.c
 *     tepal/plan.h         state your limits, get the best filter              examples/plan.c
 *     tepal/model.h        sizes and predicted error rates
 *     tepal/hash.h         keys to digests: hash once, query many filters
 *     tepal/base.h         status codes, errors, the allocator hook, reports
 *
 * What one kind alone can do, on the same handle:
 *     tepal/bloom.h        concurrent additions, folding                  examples/bloom.c
 *     tepal/counting.h     removal with receipts, audits                  examples/counting.c
 *     (tepal/filter.h)     removal in little memory: fingerprints         examples/fingerprint.c
 *     (tepal/params.h)     growth: nobody knows how many keys will come   examples/growing.c
 *                          and a rate that holds at every size            examples/chain.c
 *     tepal/states.h       a state for each key, removed and added anew   examples/states.c
 *     tepal/recycling.h    endless streams: clocks and cycles             examples/recycling.c
 *     tepal/generalized.h  bounded false positives; how old is a key?     examples/generalized.c
 *     tepal/retouched.h    remove the false positives that hurt           examples/retouched.c
 *     tepal/avoid.h        the same one by one, at run time               examples/avoid.c
 *     tepal/yesno.h        veto known negatives                           examples/yesno.c
 *     tepal/cascade.h      no errors on known keys                        examples/cascade.c
 *     tepal/known.h        members and known negatives: input of the last three
 *     tepal/header.h       filters in packet headers                      examples/header.c
 *     tepal/receive.h      accept or refuse untrusted filters             examples/receive.c
 *
 * Not included here: tepal/inline.h, one key inlined into your own loop; tepal/papers.h, the
 * equations of the papers, whose interface is not stable.
 *
 * Rules that hold everywhere:
 *   - Calls that can fail return enum tepal_status; on failure nothing has changed. Calls that can
 *     say more take a struct tepal_error * as their last argument, which may be NULL.
 *   - Inputs come first, outputs last. NULL is allowed where a comment says so.
 *   - The library never aborts, never prints, has no mutable globals and draws no random numbers:
 *     the seed is yours, and it is stored with the filter.
 *   - Sizes are 64 bits. Handles are opaque; every _free call accepts NULL.
 *   - Const calls may run concurrently; calls that change an object need exclusive access to it,
 *     unless they are said to be atomic.
 */
#ifndef TEPAL_TEPAL_H
#define TEPAL_TEPAL_H

#include <tepal/avoid.h>
#include <tepal/base.h>
#include <tepal/bloom.h>
#include <tepal/cascade.h>
#include <tepal/counting.h>
#include <tepal/file.h>
#include <tepal/filter.h>
#include <tepal/generalized.h>
#include <tepal/hash.h>
#include <tepal/header.h>
#include <tepal/known.h>
#include <tepal/model.h>
#include <tepal/params.h>
#include <tepal/plan.h>
#include <tepal/receive.h>
#include <tepal/recycling.h>
#include <tepal/retouched.h>
#include <tepal/states.h>
#include <tepal/yesno.h>

#endif
