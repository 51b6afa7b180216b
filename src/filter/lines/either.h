/*
 * either.h: loops that are compiled once for each answer to a question which is the same for all
 * keys of a batch, so that no key asks it.
 *
 * Every copy takes room. The plain loops for x86-64 are needed by processors of before 2013 alone,
 * all others have AVX2: there is one copy of these, which asks (LINES_ONE_LOOP).
 */
#ifndef TEPAL_SRC_FILTER_LINES_EITHER_H
#define TEPAL_SRC_FILTER_LINES_EITHER_H

#if defined(__x86_64__) && !defined(__AVX2__)
#define LINES_ONE_LOOP
#endif

/* CALL(question), where CALL is a macro around a function that is always inlined. */
#if defined(LINES_ONE_LOOP)
#define EITHER(question, CALL) (CALL(question))
#else
#define EITHER(question, CALL) ((question) ? (CALL(true)) : (CALL(false)))
#endif

#endif
