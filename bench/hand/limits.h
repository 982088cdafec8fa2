/* What the machine allows at best: bench/native.py sets derivatives beside it. */
#ifndef LIMITS_H
#define LIMITS_H

#include "hand.h"

/* Seconds on one thread for a subject's work: the longer of two. One is the time for as many additions and
 * multiplications, exponentials and sines as the work names, at the rates of loops that do nothing else and keep all in
 * registers or the first cache. The other is the time that it takes to read the point once and to write as many
 * results. */
double limit_of(const Subject *);

#endif
