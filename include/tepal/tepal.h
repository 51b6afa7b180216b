/*
 * tepal: approximate sets whose two errors you choose.
 *
 * This is the umbrella header and the first page of the manual.
 *
 *   tepal/base.h    status codes, the allocator hook, named quantities
 *   tepal/hash.h    a key becomes a 128-bit digest, once
 *   tepal/params.h  what makes two filters compatible: kind, layout, sizes, seed
 *   tepal/filter.h  any kind of filter through one handle; the table of kinds and their promises
 *   tepal/bloom.h   the Bloom filter
 *   tepal/retouched.h  the Bloom filter without the false positives that hurt
 *   tepal/generalized.h  the Bloom filter whose errors are bounded, whoever filled it
 *   tepal/fingerprint.h  keys that can be removed again: a cuckoo filter
 *   tepal/counting.h  counters instead of bits: keys can be removed
 *   tepal/recycling.h  endless streams in fixed memory at a chosen average error
 *   tepal/yesno.h   the Bloom filter that vetoes known negatives
 *   tepal/cascade.h  no error at all on the keys it was built from
 *   tepal/header.h  filters in packets: a header against the masks of many links
 *   tepal/model.h   the formulas: what error a filter will have, what size an error needs
 *   tepal/plan.h    constraints in, ranked plans out: which kind, which size, and why
 *   tepal/file.h    filters as bytes and files: save, load, map
 *   tepal/receive.h filters from strangers: which to take, which to refuse, and why
 *
 * Rules that hold everywhere:
 *   - Calls that can fail return enum tepal_status; on failure nothing has changed.
 *   - The library never aborts, never prints, keeps no mutable globals and draws no randomness for
 *     filters: the seed is yours, and it is stored with the filter.
 *   - Sizes are 64 bits. Handles are opaque and freed by their own _free call.
 *   - Const calls may run concurrently; changes need the object for themselves, unless a call says
 *     that it is atomic.
 */
#ifndef TEPAL_TEPAL_H
#define TEPAL_TEPAL_H

#include <tepal/base.h>
#include <tepal/hash.h>
#include <tepal/params.h>
#include <tepal/filter.h>
#include <tepal/bloom.h>
#include <tepal/retouched.h>
#include <tepal/generalized.h>
#include <tepal/counting.h>
#include <tepal/fingerprint.h>
#include <tepal/recycling.h>
#include <tepal/yesno.h>
#include <tepal/cascade.h>
#include <tepal/header.h>
#include <tepal/model.h>
#include <tepal/plan.h>
#include <tepal/file.h>
#include <tepal/receive.h>

#endif
